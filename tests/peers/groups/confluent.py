"""Groups through confluent-kafka, which is librdkafka."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from peers.clients.base import PATIENCE_S, Refused
from peers.groups.base import Committed, Described, Groups, Listed, Place

NONE = -1001  # librdkafka's way to say that nothing was committed


class ConfluentGroups(Groups):
    """Its consumer and its admin client, which cannot delete offsets.

    librdkafka (2.16) reads metadata beyond its end when it sends it, and the binding does when it hands it
    over: now and then there is rubbish behind it. So none is sent, and what comes is not looked at.
    """

    tells_metadata = False

    def commit(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        with self._consumer(group) as consumer:
            for place in consumer.commit(offsets=_places(offsets), asynchronous=False):
                if place.error is not None:
                    raise KafkaException(place.error)

    def committed(self, group: str, places: Collection[Place]) -> dict[Place, Committed]:
        with self._consumer(group) as consumer:
            return _found(consumer.committed([TopicPartition(*place) for place in places], PATIENCE_S))

    def list_offsets(self, group: str) -> dict[Place, Committed]:
        asked = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        return _found(_result(asked[group]).topic_partitions)

    def alter_offsets(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        wanted = ConsumerGroupTopicPartitions(group, _places(offsets))
        for place in _result(self._admin.alter_consumer_group_offsets([wanted])[group]).topic_partitions:
            if place.error is not None:
                raise Refused(place.error.code(), place.error.str())

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> dict[str, Listed]:
        asked: dict[str, Any] = {}
        if states:
            asked["states"] = {_state(state) for state in states}
        if types:
            asked["types"] = {ConsumerGroupType[each.upper()] for each in types}
        found = _result(self._admin.list_consumer_groups(**asked))
        if found.errors:
            raise Refused(found.errors[0].args[0].code(), found.errors[0].args[0].str())
        return {each.group_id: Listed(_words(each.state), _words(each.type)) for each in found.valid}

    def describe_group(self, group: str) -> Described:
        found = _result(self._admin.describe_consumer_groups([group])[group])
        members = (member.assignment.topic_partitions for member in found.members)
        owned = tuple(frozenset((each.topic, each.partition) for each in places) for places in members)
        return Described(_words(found.state), found.partition_assignor, owned)

    def delete_group(self, group: str) -> None:
        _result(self._admin.delete_consumer_groups([group])[group])

    @cached_property
    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})

    @contextmanager
    def _consumer(self, group: str) -> Iterator[Consumer]:
        settings = {"bootstrap.servers": self.bootstrap, "group.id": group, "enable.auto.commit": False}
        consumer = Consumer(settings | {"log_level": 0})
        try:
            yield consumer
        except KafkaException as error:
            raise Refused(error.args[0].code(), error.args[0].str()) from error
        finally:
            consumer.close()


def _places(offsets: Mapping[Place, Committed]) -> list[TopicPartition]:
    return [
        TopicPartition(*place, each.offset, leader_epoch=-1 if each.epoch is None else each.epoch)
        for place, each in offsets.items()
    ]


def _found(places: Iterable[TopicPartition]) -> dict[Place, Committed]:
    found = {}
    for place in places:
        if place.error is not None:
            raise Refused(place.error.code(), place.error.str())
        if place.offset != NONE:
            found[place.topic, place.partition] = Committed(place.offset, epoch=place.leader_epoch)
    return found


def _state(name: str) -> ConsumerGroupState:
    return next(state for state in ConsumerGroupState if _words(state) == name)


def _words(value: Any) -> str:
    """Kafka's words for an enum of this library: PREPARING_REBALANCING is PreparingRebalance."""
    joined = "".join(part.capitalize() for part in value.name.split("_"))
    return joined.removesuffix("ing") if joined.endswith("Rebalancing") else joined


def _result(future: Future[Any]) -> Any:
    try:
        return future.result(PATIENCE_S)
    except KafkaException as error:
        raise Refused(error.args[0].code(), error.args[0].str()) from error
