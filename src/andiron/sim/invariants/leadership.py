"""One leader in each epoch: of a partition, and of the metadata quorum.

A partition's leader is named by the metadata, so two in one epoch mean that two nodes have read different metadata,
or that one leads longer than it may. The quorum elects its own leader: two in one epoch mean that somebody voted twice
(votes.py), and everything else would follow from that.
"""

from __future__ import annotations

from andiron.sim.host import Host
from andiron.sim.mirror import Key, key_of
from andiron.sim.watcher import End, Violation, Watcher

ONE = "an epoch has one leader"
FORWARD = "leader epochs go forward"

Reign = tuple[bytes, int, int]  # topic id, partition, epoch


class EpochsHaveOneLeader(Watcher):
    """Notes who leads what, whenever that changes."""

    def __init__(self) -> None:
        self._leaders: dict[Reign, int] = {}
        self._seen: dict[Key, int] = {}  # the epoch in which a replica was last seen

    def went_down(self, host: Host, end: End) -> None:
        self._seen = {key: epoch for key, epoch in self._seen.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        broker = host.node.broker
        for partition in (broker.raft.partition, *broker.replica_manager):
            if not partition.leads or not (host.is_open or partition is broker.raft.partition):
                continue  # or nobody can ask it yet
            key, epoch = key_of(host, partition), partition.epoch
            seen = self._seen.get(key, -1)
            if seen == epoch:
                continue
            if epoch < seen:
                raise Violation(FORWARD, f"{partition.name} on {host.name}: {seen}, then {epoch}")
            self._seen[key] = epoch
            leader = self._leaders.setdefault(
                (partition.topic_id, partition.name.partition, epoch), host.number
            )
            if leader != host.number:
                how = f"{partition.name}: node-{leader} and {host.name} lead in epoch {epoch}"
                raise Violation(ONE, how)
