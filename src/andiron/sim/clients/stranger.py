"""One who has no business with the controllers, and speaks to them as one of them.

It asks for votes, and says that it leads, in its own name or that of a node, in epochs that no election could have come
to. Nothing may come of it: who leads goes on leading, and elections go on being possible (quorum/trust.py).
"""

from __future__ import annotations

from typing import Any

from andiron.broker.metadata.raft_requests import METADATA
from andiron.quorum.election_state import EPOCH_MAX
from andiron.sim.clients.client import Client, Gone, Script
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochRequestPartition,
    BeginQuorumEpochRequestTopic,
)
from andiron.wire.messages.vote import VoteRequest, VoteRequestPartition, VoteRequestTopic

ITSELF = 66


class Stranger(Client):
    """One who speaks out of turn."""

    def __init__(self, world: World, network: Network, name: str, pace_ms: int) -> None:
        super().__init__(world, network, name)
        self._pace_ms = pace_ms

    def live(self) -> Script:
        controllers = [host for host in self.world.hosts.values() if "controller" in host.settings.roles]
        while not self.is_closing:
            host = self.chance.choice(controllers)
            link = self.network.connect(self, host, host.settings.controller_listeners[0])
            if link is not None:
                try:
                    yield self.ask(self._claim([each.number for each in controllers]), via=link)
                    self.hang_up(link)
                except Gone:
                    pass
            yield self.chance.randint(1, self._pace_ms)

    def _claim(self, nodes: list[int]) -> Any:
        who, epoch = (
            self.chance.choice([ITSELF, *nodes]),
            self.chance.choice([EPOCH_MAX, EPOCH_MAX - 1, 1 << 30]),
        )
        if self.chance.random() < 0.5:
            vote = VoteRequestPartition(0, epoch, who, last_offset_epoch=epoch - 1, last_offset=1 << 40)
            return VoteRequest(topics=[VoteRequestTopic(METADATA.topic, [vote])])
        lead = BeginQuorumEpochRequestPartition(0, leader_id=who, leader_epoch=epoch)
        return BeginQuorumEpochRequest(topics=[BeginQuorumEpochRequestTopic(METADATA.topic, [lead])])
