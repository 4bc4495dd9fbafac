"""A member in aiokafka: the classic protocol with its three assignors, all of them eager."""

from __future__ import annotations

import asyncio
import os
import queue
from collections.abc import Collection
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from peers.members.member import POLL_S, Command, Journal, commands

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


class AioKafka:
    """Rebalances are a task beside the loop that reads; records are processed without a pause between them."""

    def __init__(self, spec: Command) -> None:
        self.spec = spec
        self.journal = Journal(spec["member"])
        self.consumer = AIOKafkaConsumer(**settings(spec))
        where = {"topics": spec["topics"]} if spec["topics"] else {"pattern": spec["pattern"]}
        self.consumer.subscribe(**where, listener=_Listener(self))
        self._committing = asyncio.Lock()  # who is asked for a partition waits for the commit under way

    async def run(self, told: queue.SimpleQueue[Command]) -> None:
        await self.consumer.start()
        leaving = False
        while not (await self.commit_processed() and leaving):
            leaving = leaving or await self._told_to_leave(told)
            await self._poll()
        self.journal.gone("revoked", set(self.journal.owned))
        await self.consumer.stop()
        self.journal.tell("left")

    async def _told_to_leave(self, told: queue.SimpleQueue[Command]) -> bool:
        """Take a command, if there is one."""
        if told.empty():
            return False
        command = told.get()["do"]
        if command == "pause":
            while told.empty():
                await asyncio.sleep(POLL_S)
            assert told.get()["do"] == "resume"
        return bool(command == "leave")

    async def _poll(self) -> None:
        try:
            found = await self.consumer.getmany(timeout_ms=int(POLL_S * 1000))
        except KafkaError as error:
            self._tell(error)
            return
        for place, records in found.items():
            for record in records:
                self.journal.record(tuple(place), record.offset, record.value)

    async def commit_processed(self) -> bool:
        """Return whether nothing is left to commit."""
        async with self._committing:
            offsets = self.journal.take_processed()
            try:
                if offsets and not self.spec.get("auto_commit"):
                    await self.consumer.commit({TopicPartition(*place): at for place, at in offsets.items()})
                    self.journal.committed(offsets)
                return True
            except KafkaError as error:
                self.journal.keep(offsets)
                self._tell(error)
                return False

    def _tell(self, error: KafkaError) -> None:
        self.journal.error(getattr(error, "errno", -1), f"{type(error).__name__}: {error}")


class _Listener(ConsumerRebalanceListener):
    def __init__(self, member: AioKafka) -> None:
        self._member = member

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        await self._member.commit_processed()
        self._member.journal.gone("revoked", map(tuple, revoked))

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._member.journal.assigned(map(tuple, assigned))


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
        "rebalance_timeout_ms": 60_000,
        "heartbeat_interval_ms": spec["heartbeat_ms"],
        "partition_assignment_strategy": [ASSIGNORS[name] for name in spec["assignor"].split(",")],
        "group_instance_id": spec.get("instance"),
    }
    return chosen | ({"max_poll_interval_ms": spec["poll_ms"]} if spec.get("poll_ms") else {})


async def main() -> None:
    told = commands()
    await AioKafka(told.get()).run(told)


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
