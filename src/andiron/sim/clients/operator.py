"""An operator of a cluster: moves partitions, gives them back to their first replica, changes who votes.

    moves      a partition to two or three brokers, whichever they are; now and then takes back a move under way
    elects     the first replica of a partition, or of all, wherever it is in sync
    voters     where these are not fixed by the settings (clustered.py): a controller more, or one less

One request at a time, to any broker, and most of them at a bad time. Whether what was acknowledged comes to pass is for
the watchers to say (invariants/moves.py), and that nothing is lost on the way for all of them.
"""

from __future__ import annotations

import base64
from typing import Any

from andiron.sim.clients.client import Client, Gone, Script, Topic
from andiron.sim.host import Host
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from andiron.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterRequest

PREFERRED = 0


class Operator(Client):
    """One who moves things."""

    def __init__(
        self,
        world: World,
        network: Network,
        name: str,
        topics: list[str],
        pace_ms: int,
        *,
        changes_voters: bool,
    ) -> None:
        super().__init__(world, network, name)
        self._topics, self._pace_ms, self._changes_voters = topics, pace_ms, changes_voters

    def live(self) -> Script:
        while not self.is_closing:
            try:
                yield from self.connected()
                if self._changes_voters and self.chance.random() < 0.4:
                    yield self.ask(self._other_voters())
                else:
                    yield from self._change_something()
            except Gone:
                pass
            yield self.chance.randint(1, self._pace_ms)

    def _change_something(self) -> Script:
        topics = yield from self.find_topics([self.chance.choice(self._topics)])
        if topics:
            asks = self.chance.choice([self._move, self._move, self._move, self._cancel, self._elect])
            yield self.ask(asks(topics[0]))
        elif self.chance.random() < 0.1:
            yield self.ask(ListPartitionReassignmentsRequest())

    # ── partitions ───────────────────────────────────────────────────────────────────

    def _move(self, topic: Topic) -> Any:
        brokers = [host.number for host in self.signposts.brokers]
        wanted = self.chance.sample(brokers, min(len(brokers), self.chance.choice([2, 3])))
        return _reassignment(topic, self.chance.randrange(topic.partitions), wanted)

    def _cancel(self, topic: Topic) -> Any:
        return _reassignment(topic, self.chance.randrange(topic.partitions), None)

    def _elect(self, topic: Topic) -> Any:
        index = self.chance.randrange(topic.partitions)
        some = None if self.chance.random() < 0.3 else [TopicPartitions(topic.name, [index])]
        return ElectLeadersRequest(PREFERRED, some, timeout_ms=5_000)

    # ── voters ───────────────────────────────────────────────────────────────────────

    def _other_voters(self) -> Any:
        """One more rather than one less: a quorum of one proves little."""
        controllers = [host for host in self.world.hosts.values() if "controller" in host.settings.roles]
        host = self.chance.choice(controllers)
        if self.chance.random() < 0.3:
            return RemoveRaftVoterRequest(None, host.number, _directory(host))
        name = host.settings.controller_listeners[0]
        listener = next(each for each in host.settings.listeners if each.name == name)
        where = [Listener(name, listener.host, listener.port)]
        timeout_ms = self.chance.choice([500, 5_000])
        return AddRaftVoterRequest(None, timeout_ms, host.number, _directory(host), where)


def _reassignment(topic: Topic, index: int, replicas: list[int] | None) -> AlterPartitionReassignmentsRequest:
    moved = ReassignableTopic(topic.name, [ReassignablePartition(index, replicas)])
    return AlterPartitionReassignmentsRequest(timeout_ms=5_000, topics=[moved])


def _directory(host: Host) -> bytes:
    return base64.urlsafe_b64decode(host.directory_id(0) + "==")
