"""Groups through kafka-python."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka import errors as known
from kafka.errors import BrokerResponseError, KafkaError

from peers.clients.base import Refused
from peers.groups.base import Committed, Described, Groups, Listed, Place


class KafkaPythonGroups(Groups):
    """Its consumer and its admin client."""

    def commit(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        with self._consumer(group) as consumer:
            consumer.assign([TopicPartition(*place) for place in offsets])
            consumer.commit(_offsets(offsets))

    def committed(self, group: str, places: Collection[Place]) -> dict[Place, Committed]:
        with self._consumer(group) as consumer:
            found = {place: consumer.committed(TopicPartition(*place), metadata=True) for place in places}
        return {place: _committed(each) for place, each in found.items() if each is not None}

    def list_offsets(self, group: str) -> dict[Place, Committed]:
        with self._admin() as admin:
            found = admin.list_group_offsets(group)[group]
        return {tuple(place): _committed(each) for place, each in found.items() if each.offset >= 0}

    def alter_offsets(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        with self._admin() as admin:
            _refuse(admin.alter_group_offsets(group, _offsets(offsets)))

    def delete_offsets(self, group: str, places: Collection[Place]) -> None:
        with self._admin() as admin:
            _refuse(admin.delete_group_offsets(group, [TopicPartition(*place) for place in places]))

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> dict[str, Listed]:
        with self._admin() as admin:
            found = admin.list_groups(states_filter=list(states), types_filter=list(types))
        return {
            each["group_id"]: Listed(each["group_state"], each["group_type"].capitalize()) for each in found
        }

    def describe_group(self, group: str) -> Described:
        with self._admin() as admin:
            found = admin.describe_groups([group])[group]
        if found["error"]:
            raise Refused(_number(found["error"]), found["error"])
        members = tuple(
            frozenset(
                (row["topic"], number)
                for row in (member["member_assignment"] or {}).get("assigned_partitions", [])
                for number in row["partitions"]
            )
            for member in found["members"]
        )
        return Described(found["group_state"], found["protocol_data"], members)

    def delete_group(self, group: str) -> None:
        with self._admin() as admin:
            result = admin.delete_groups([group])[group]
        if result != "OK":
            raise Refused(getattr(known, result).errno, result)

    @contextmanager
    def _consumer(self, group: str) -> Iterator[KafkaConsumer]:
        with _telling():
            consumer = KafkaConsumer(
                bootstrap_servers=self.bootstrap, group_id=group, enable_auto_commit=False
            )
            try:
                yield consumer
            finally:
                consumer.close()

    @contextmanager
    def _admin(self) -> Iterator[KafkaAdminClient]:
        with _telling():
            admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
            try:
                yield admin
            finally:
                admin.close()


def _offsets(offsets: Mapping[Place, Committed]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        TopicPartition(*place): OffsetAndMetadata(
            each.offset, each.metadata, -1 if each.epoch is None else each.epoch
        )
        for place, each in offsets.items()
    }


def _committed(found: OffsetAndMetadata) -> Committed:
    return Committed(found.offset, found.metadata, found.leader_epoch if found.leader_epoch >= 0 else None)


def _refuse(results: Mapping[TopicPartition, Any]) -> None:
    for place, error in results.items():
        if error is not known.NoError:
            raise Refused(error.errno, f"{place}: {error.__name__}")


def _number(said: str) -> int:
    """It tells the error of a description in words: "[Error 69] GroupIdNotFoundError"."""
    return int(said.split("]", maxsplit=1)[0].rpartition(" ")[2])


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except BrokerResponseError as error:
        raise Refused(error.errno, str(error)) from error
    except KafkaError as error:
        raise Refused(-1, f"{type(error).__name__}: {error}") from error
