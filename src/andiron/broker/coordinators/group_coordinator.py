"""The group coordinator of this broker: groups, and the offsets they have committed.

    handlers ──▶ GroupCoordinator.run(group id, request) ──▶ the shard of its partition of __consumer_offsets

It gives groups their view of the topics, tells them of topics that are gone, and of transactions
that have ended: the marker of a transaction in which offsets were committed stands in the same
partition as the offsets.

Read next: coordinator.py, groups/shard.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from andiron.broker.coordinators.coordinator import Coordinator, Plan, partition_of
from andiron.broker.coordinators.shard import readable, understood
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.request import Request
from andiron.broker.node.slices import InSlices
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.controller.image import GROUP, TopicImage
from andiron.groups.records import NO_PRODUCER, Replayed, TransactionEnded, decode_record, encode_record
from andiron.groups.settings import GroupSettings
from andiron.groups.shard import GroupShard, TopicsDeleted
from andiron.groups.topics import Topic
from andiron.model.chance import Chance
from andiron.model.ids import Millis, Offset
from andiron.model.machine import CoordinatorRequest
from andiron.records.batch import Batch
from andiron.records.control import end_marker_of

TOPIC = "__consumer_offsets"


class GroupCoordinator:
    """The groups whose partitions are led here."""

    def __init__(self, settings: GroupSettings, metadata: MetadataLoader, chance: Chance, step: Step) -> None:
        self._settings, self._metadata, self._chance = settings, metadata, chance
        self._topics = _Topics(metadata)
        self.shards = Coordinator(TOPIC, Plan(self._machine, encode_record, _records), step)

    def partition_of(self, group_id: str) -> int:
        """The number of the partition that a group is kept in."""
        topic = self._metadata.image.topics.get(TOPIC)
        count = len(topic.partitions) if topic else self._settings.offsets_topic_num_partitions
        return partition_of(group_id, count)

    def run(self, group_id: str, request: Request[Any], body: Any = None) -> Wait:
        """Let a group's shard decide a request, or `body` as the part of it that is this group's."""
        asked = _asked(request, request.body if body is None else body)
        timeout_ms = self._settings.offsets_commit_timeout_ms
        return self.shards.run(self.partition_of(group_id), asked, request.now, timeout_ms)

    def run_on_all(self, request: Request[Any]) -> InSlices[Wait]:
        """Let every shard decide a request; the Wait gives all their responses."""
        asked, timeout_ms = _asked(request, request.body), self._settings.offsets_commit_timeout_ms
        return (yield from self.shards.run_on_all(asked, request.now, timeout_ms))

    def topics_changed(self, removed: list[str], now: Millis) -> None:
        """Topics have come, grown or gone; of those that are gone, nobody needs the offsets."""
        self._topics.version = self._metadata.applied
        if removed:
            for shard in self.shards:
                self.shards.run(shard.partition.name.partition, TopicsDeleted(removed), now, 0)

    def transaction_ended(self, partition: Partition, offset: Offset, ended: TransactionEnded) -> None:
        """The marker of a transaction has been written to a partition of the offsets topic."""
        shard = self.shards.serving(partition)
        if shard is not None:
            shard.machine.replay(ended, offset)

    def _machine(self, partition: Partition) -> GroupShard:
        chance = Chance(int.from_bytes(self._chance.token(16), "big"))
        return GroupShard(
            self._settings,
            self._topics,
            chance,
            self._configs_of,
            lambda: partition.log.settings.max_message_bytes,
            lambda: sum(shard.machine.bytes_held for shard in self.shards),
        )

    def _configs_of(self, group_id: str) -> Mapping[str, str]:
        return self._metadata.image.configs_of(GROUP, group_id)


def _asked(request: Request[Any], body: Any) -> CoordinatorRequest:
    """Hosts are written with a slash before them, as Java has them; tools take it off."""
    return CoordinatorRequest(body, request.version, request.client_id or "", f"/{request.host}")


class _Topics:
    """The committed topics, as groups see them."""

    def __init__(self, metadata: MetadataLoader) -> None:
        self._metadata = metadata
        self.version = 0  # the offset in the metadata log up to which they were as they are

    def named(self, name: str) -> Topic | None:
        return _topic(self._metadata.image.topics.get(name))

    def identified(self, id: bytes) -> Topic | None:
        return _topic(self._metadata.image.topics_by_id.get(id))

    def names(self) -> Iterable[str]:
        return self._metadata.image.topics


def _topic(image: TopicImage | None) -> Topic | None:
    return None if image is None else Topic(image.name, image.id, len(image.partitions))


def _records(batch: Batch) -> Iterator[tuple[int, Replayed]]:
    """What a batch of the offsets topic says. What cannot be understood is reported and passed over."""
    if batch.is_control:
        marker = understood(TOPIC, batch.base_offset, end_marker_of, batch)
        if marker is not None:
            yield batch.base_offset, TransactionEnded(batch.producer_id, marker.committed)
        return
    producer_id = batch.producer_id if batch.is_transactional else NO_PRODUCER
    for record in readable(batch, TOPIC):
        decoded = understood(TOPIC, record.offset, decode_record, record.key, record.value, producer_id)
        if decoded is not None:
            yield record.offset, decoded
