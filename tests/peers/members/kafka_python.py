"""A member in kafka-python: the classic protocol with all four of its assignors."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import KafkaError

from peers.members.member import Command, Member, Place, main

# Longer than a rebalance takes: if this time ends just when the leader has computed the assignment, version
# 3.0.12 does not notice that it has joined, and the group waits for it until its session ends.
POLL_MS = 2000
ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


class KafkaPython(Member):
    """Its callbacks run in another thread while poll() waits."""

    errors = KafkaError

    def open(self) -> None:
        self._consumer = KafkaConsumer(**settings(self.spec))
        where = {"topics": self.spec["topics"]} if self.spec["topics"] else {"pattern": self.spec["pattern"]}
        self._consumer.subscribe(**where, listener=_Listener(self))
        self._consumer.topics()  # one that joins before it knows the topics will join again when it does

    def poll(self) -> bool:
        found = self._consumer.poll(POLL_MS)
        for place, records in found.items():
            for record in records:
                self.journal.record(tuple(place), record.offset, record.value)
        self.commit_processed()
        return bool(found)

    def commit(self, offsets: dict[Place, int]) -> None:
        self._consumer.commit(_offsets(offsets))

    async def commit_before_giving_back(self) -> None:
        """What a failed commit left over; the thread of the callbacks must not wait for itself."""
        offsets = self.journal.take_processed()
        if offsets and not self.auto_commit:
            try:
                await self._consumer.commit_async(_offsets(offsets))
                self.journal.committed(offsets)
            except KafkaError as error:
                self.journal.error(*self.told(error))

    def close(self) -> None:
        self._consumer.close()

    def told(self, error: KafkaError) -> tuple[int, str]:
        return getattr(error, "errno", -1), f"{type(error).__name__}: {error}"


class _Listener(AsyncConsumerRebalanceListener):
    def __init__(self, member: KafkaPython) -> None:
        self._member = member
        self._journal = member.journal

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._journal.assigned(map(tuple, assigned))

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        if self._journal.owned:  # when closing, all of it was given back before
            await self._member.commit_before_giving_back()
            self._journal.gone("revoked", map(tuple, revoked))

    async def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        self._journal.gone("lost", map(tuple, lost))


def _offsets(offsets: dict[Place, int]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {TopicPartition(*place): OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()}


def settings(spec: Command) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "bootstrap_servers": spec["bootstrap"],
        "group_id": spec["group"],
        "auto_offset_reset": spec["reset"],
        "enable_auto_commit": bool(spec.get("auto_commit")),
        "auto_commit_interval_ms": 200,
        "fetch_max_wait_ms": 100,
        "metadata_max_age_ms": 2000,
        "session_timeout_ms": spec["session_ms"],
        "heartbeat_interval_ms": spec["heartbeat_ms"],
        "partition_assignment_strategy": [ASSIGNORS[name] for name in spec["assignor"].split(",")],
        "group_instance_id": spec.get("instance"),
    }
    return chosen | ({"max_poll_interval_ms": spec["poll_ms"]} if spec.get("poll_ms") else {})


if __name__ == "__main__":
    main(KafkaPython)
