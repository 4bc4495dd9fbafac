"""An operator of disks: moves replicas from one log directory of their broker to another, and changes its mind.

One request at a time, to any broker and about any partition, where brokers have several directories. The moves go on
through whatever befalls the node: that nothing is lost by them is for all the watchers to say.
"""

from __future__ import annotations

from andiron.sim.clients.client import Client, Gone, Script
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from andiron.wire.messages.describe_log_dirs import DescribeLogDirsRequest


class Mover(Client):
    """One who moves replicas between disks."""

    def __init__(
        self,
        world: World,
        network: Network,
        name: str,
        topics: list[str],
        directories: list[str],
        pace_ms: int,
    ) -> None:
        super().__init__(world, network, name)
        self._topics, self._directories, self._pace_ms = topics, directories, pace_ms

    def live(self) -> Script:
        while not self.is_closing:
            try:
                yield from self.connected()
                topics = yield from self.find_topics([self.chance.choice(self._topics)])
                if topics:
                    index = self.chance.randrange(topics[0].partitions)
                    wanted = [AlterReplicaLogDirTopic(topics[0].name, [index])]
                    where = AlterReplicaLogDir(self.chance.choice(self._directories), wanted)
                    yield self.ask(AlterReplicaLogDirsRequest([where]))
                    yield self.ask(DescribeLogDirsRequest(None))
            except Gone:
                pass
            yield self.chance.randint(1, self._pace_ms)
