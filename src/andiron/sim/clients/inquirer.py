"""One who asks where things are: offsets by time and by name, and where leader epochs ended.

Its questions change nothing; whether the answers are right is for the watchers to say
(invariants/lookups.py).
"""

from __future__ import annotations

from typing import Any

from andiron.model.ids import TopicPartition
from andiron.sim.clients.client import Client, Gone, Script
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from andiron.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3
MAX_TIMESTAMP_SINCE = 7


class Inquirer(Client):
    """One who asks."""

    def __init__(self, world: World, network: Network, name: str, topics: list[str], pace_ms: int) -> None:
        super().__init__(world, network, name)
        self._topics, self._pace_ms = topics, pace_ms

    def live(self) -> Script:
        while not self.is_closing:
            try:
                yield from self.connected()
                topics = yield from self.find_topics(self._topics)
                names = [name for topic in topics for name in topic.names()]
                for _ in range(4 if names else 0):
                    name = self.chance.choice(names)
                    by_time = self.chance.random() < 0.8
                    leader = yield from self.at_leader(name)
                    yield self.ask(self._by_time(name) if by_time else self._by_epoch(name), via=leader)
            except Gone:
                pass
            yield self.chance.randint(1, self._pace_ms)

    def _by_time(self, name: TopicPartition) -> Any:
        past = self.world.now - self.chance.choice([0, 1_000, 10_000, 60_000])
        times = [EARLIEST, LATEST, past, past - self.chance.randint(0, 5_000)]
        if self.version_of(2) >= MAX_TIMESTAMP_SINCE:
            times.append(MAX_TIMESTAMP)
        wanted = ListOffsetsPartition(partition_index=name.partition, timestamp=self.chance.choice(times))
        return ListOffsetsRequest(
            replica_id=-1, isolation_level=self.chance.randrange(2),
            topics=[ListOffsetsTopic(name.topic, [wanted])],
        )  # fmt: skip

    def _by_epoch(self, name: TopicPartition) -> Any:
        wanted = OffsetForLeaderPartition(partition=name.partition, leader_epoch=self.chance.randint(0, 4))
        return OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(name.topic, [wanted])])
