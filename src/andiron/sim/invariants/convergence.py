"""When the weather has cleared and all is at rest, every replica is in sync, and all logs are the same.

* every node has read all of the metadata
* each partition has a leader, and all its replicas are in sync
* each replica's log ends where its leader's does, all of it is committed, and it starts nowhere beyond that, nor
  before its leader's
* what both have is the same, record by record; and without compaction both have all of it
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.sim.host import Host
from andiron.sim.leaders import leading
from andiron.sim.mirror import Mirrors
from andiron.sim.watcher import Violation, Watcher

IN_SYNC = "all replicas come to be in sync"
EQUAL = "all logs come to be equal"


class ReplicasConverge(Watcher):
    """Waits for it, and looks when nothing moves any more."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors

    def is_restless(self, host: Host) -> bool:
        return self._behind(host) is not None

    def rested(self, host: Host) -> None:
        behind = self._behind(host)
        if behind is not None:
            raise Violation(IN_SYNC, f"{host.name}: {behind}")
        assert host.node is not None
        for partition in host.node.broker.replica_manager:
            self._compare(host, partition)

    def _behind(self, host: Host) -> str | None:
        """What is missing before this node is in sync with all others."""
        if host.node is None:
            return "it is down"
        applied = [each.node.broker.metadata.applied for each in host.world.hosts.values() if each.node]
        if host.node.broker.metadata.applied < max(applied):
            return f"it knows the metadata up to {host.node.broker.metadata.applied} of {max(applied)}"
        image = host.node.broker.image
        for topic in image.topics.values():
            for index, told in topic.partitions.items():
                if sorted(told.isr) != sorted(told.replicas):
                    return f"{topic.name}-{index}: {list(told.isr)} of {list(told.replicas)} are in sync"
        for partition in host.node.broker.replica_manager:
            behind = _lags(host, partition)
            if behind is not None:
                return behind
        return None

    def _compare(self, host: Host, partition: Partition) -> None:
        leader = leading(host.world, partition.name)
        if leader is None or leader.host is host:
            return
        ours, theirs = self._mirrors.of(host, partition), self._mirrors.of(*leader)
        start = max(partition.log.start, leader.partition.log.start)
        is_whole = not ours.was_compacted and not theirs.was_compacted
        for offset in range(start, partition.log.end):
            mine, other = ours.records.get(offset), theirs.records.get(offset)
            if mine != other and (is_whole or (mine is not None and other is not None)):
                raise Violation(EQUAL, f"{partition.name} at {offset}: {host.name} and {leader.host.name}")


def _lags(host: Host, partition: Partition) -> str | None:
    leader = leading(host.world, partition.name)
    if leader is None:
        return f"nobody leads {partition.name}"
    mine, theirs = partition, leader.partition
    here, there = (mine.log.end, mine.watermark, mine.epoch), (theirs.log.end, theirs.watermark, theirs.epoch)
    if here != there or mine.watermark < mine.log.end or mine.log.start > theirs.watermark:
        return f"{partition.name} is at {here}, and its leader at {there}"
    if mine.log.start < theirs.log.start:
        return f"{partition.name} starts at {mine.log.start}, and its leader's log at {theirs.log.start}"
    return None
