"""Committed offsets of each group: those that count, and those pending until their transaction ends.

    group ─▶ topic ─▶ partition ─▶ Committed           what OffsetFetch answers
    producer ─▶ (group, topic, partition) ─▶ Committed   inside its open transaction

An offset that was committed inside a transaction is pending until the marker of its producer comes. If the
transaction is committed it counts from then on, unless something newer stands in its place: a plain commit whose
record came later in the log. The law is therefore: of two offsets, the one whose record is later wins, whenever
it began to count.

Several producers may have offsets pending for one partition. A record without a value removes what is committed
and what is pending alike.

All of this changes by `replay` alone.

Read next: commits.py and fetches.py, which decide by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from andiron.groups.offsets.records import NO_EXPIRY, OffsetCommitKey
from andiron.groups.records import NO_PRODUCER, GroupRecord, TransactionEnded
from andiron.model.ids import Millis, Offset, TopicPartition


class Committed(NamedTuple):
    """An offset as it was committed."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at: Millis
    expires_at: Millis  # NO_EXPIRY: when the group's retention says so
    topic_id: bytes  # zeros: not known
    record_offset: Offset  # where its record stands in the log

    def expired(self, now: Millis, idle_since: Millis, retention_ms: int) -> bool:
        """Whether the offset has expired by `now`, if its retention runs from `idle_since` on."""
        if self.expires_at != NO_EXPIRY:
            return now >= self.expires_at
        return now - idle_since >= retention_ms


class GroupOffsets:
    """The offsets of one group."""

    __slots__ = ("committed", "open")

    def __init__(self) -> None:
        self.committed: dict[str, dict[int, Committed]] = {}  # by topic and partition
        self.open: dict[TopicPartition, dict[int, None]] = {}  # which producers have one pending there

    def get(self, topic: str, partition: int) -> Committed | None:
        """The committed offset of a partition, without pending ones."""
        partitions = self.committed.get(topic)
        return None if partitions is None else partitions.get(partition)

    def partitions(self) -> Iterator[TopicPartition]:
        """The partitions with a committed or a pending offset."""
        for topic, partitions in self.committed.items():
            for partition in partitions:
                yield TopicPartition(topic, partition)
        for place in self.open:
            if self.get(*place) is None:
                yield place

    def forget(self, topic: str, partition: int) -> None:
        """Remove the committed offset of a partition."""
        partitions = self.committed.get(topic)
        if partitions is not None:
            partitions.pop(partition, None)
            if not partitions:
                del self.committed[topic]


class Offsets:
    """The offsets of all groups of a shard."""

    def __init__(self) -> None:
        self._groups: dict[str, GroupOffsets] = {}
        self._pending: dict[int, dict[tuple[str, str, int], Committed]] = {}  # by producer

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def __iter__(self) -> Iterator[str]:
        """The ids of the groups that have offsets."""
        return iter(self._groups)

    def of(self, group_id: str) -> GroupOffsets | None:
        """The offsets of a group, if it has any."""
        return self._groups.get(group_id)

    def topic_ids(self, group_id: str, topic: str) -> Iterator[tuple[int, list[bytes]]]:
        """The partitions of a topic that a group has offsets of, each with the ids they were committed to."""
        group = self._groups[group_id]
        for partition, committed in group.committed.get(topic, {}).items():
            yield partition, [committed.topic_id, *self._pending_ids(group_id, topic, partition)]
        for place in group.open:
            if place.topic == topic and group.get(*place) is None:
                yield place.partition, self._pending_ids(group_id, *place)

    def replay(self, record: GroupRecord, offset: Offset) -> None:
        """Replay an OffsetCommit record that stands in the log at `offset`."""
        key, value = record.key, record.value
        group_id, topic, partition = key.group, key.topic, key.partition
        if value is None:
            self._remove(group_id, topic, partition)
            return
        committed = Committed(
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            self._as_held(group_id, topic, value.topic_id),
            offset,
        )
        if record.producer_id == NO_PRODUCER:
            self._put(group_id, topic, partition, committed)
        else:
            self._put_pending(record.producer_id, group_id, topic, partition, committed)

    def transaction_ended(self, ended: TransactionEnded) -> None:
        """A transaction marker: the producer's pending offsets are committed, or dropped."""
        pending = self._pending.pop(ended.producer_id, {})
        for (group_id, topic, partition), committed in pending.items():
            self._close(group_id, topic, partition, ended.producer_id)
            if ended.committed:
                self._put_if_newer(group_id, topic, partition, committed)
            self._drop_if_empty(group_id)

    def _as_held(self, group_id: str, topic: str, topic_id: bytes) -> bytes:
        """The id of a topic as the one object that a group's offsets of it have, however many they are."""
        group = self._groups.get(group_id)
        partitions = None if group is None else group.committed.get(topic)
        if partitions:
            held = next(iter(partitions.values())).topic_id
            return held if held == topic_id else topic_id
        return topic_id

    def _put(self, group_id: str, topic: str, partition: int, committed: Committed) -> None:
        topics = self._group(group_id).committed
        partitions = topics.get(topic)
        if partitions is None:
            topics[topic] = {partition: committed}
        else:
            partitions[partition] = committed

    def _put_if_newer(self, group_id: str, topic: str, partition: int, committed: Committed) -> None:
        present = self._group(group_id).get(topic, partition)
        if present is None or committed.record_offset > present.record_offset:
            self._put(group_id, topic, partition, committed)

    def _put_pending(
        self, producer_id: int, group_id: str, topic: str, partition: int, committed: Committed
    ) -> None:
        self._pending.setdefault(producer_id, {})[group_id, topic, partition] = committed
        producers = self._group(group_id).open.setdefault(TopicPartition(topic, partition), {})
        producers[producer_id] = None

    def _close(self, group_id: str, topic: str, partition: int, producer_id: int) -> None:
        opened = self._groups[group_id].open
        producers = opened[TopicPartition(topic, partition)]
        del producers[producer_id]
        if not producers:
            del opened[TopicPartition(topic, partition)]

    def _pending_ids(self, group_id: str, topic: str, partition: int) -> list[bytes]:
        producers = self._groups[group_id].open.get(TopicPartition(topic, partition), {})
        return [self._pending[producer_id][group_id, topic, partition].topic_id for producer_id in producers]

    def _remove(self, group_id: str, topic: str, partition: int) -> None:
        group = self._groups.get(group_id)
        if group is None:
            return
        group.forget(topic, partition)
        for producer_id in group.open.pop(TopicPartition(topic, partition), {}):
            del self._pending[producer_id][group_id, topic, partition]
        self._drop_if_empty(group_id)

    def _group(self, group_id: str) -> GroupOffsets:
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = GroupOffsets()
        return group

    def _drop_if_empty(self, group_id: str) -> None:
        group = self._groups.get(group_id)
        if group is not None and not group.committed and not group.open:
            del self._groups[group_id]


def tombstone(group_id: str, place: TopicPartition) -> GroupRecord:
    """The record that removes an offset."""
    return GroupRecord(OffsetCommitKey(group_id, place.topic, place.partition), None)
