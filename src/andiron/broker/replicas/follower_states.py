"""What the followers of the partitions that are led here have shown of themselves.

    Fetch(replica 2, orders-3 from 1042) ─▶ fetched ─▶ its progress ─▶ the watermark moves ─▶ acks=all is answered
                                                     └▶ it has caught up ─▶ alter_partition_manager proposes it

Of a partition where nothing happens a follower says nothing; that it fetches at all shows that it is there (`heard`).

Read next: replication/leader.py, alter_partition_manager.py; handlers/fetch.py above.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.broker.metadata.metadata import Metadata
from andiron.broker.node.step import Step
from andiron.broker.replicas.alter_partition_manager import AlterPartitionManager
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.model.ids import Millis, NodeId, Offset


class FollowerFetch(NamedTuple):
    """What a follower asked for, and thereby says that it holds."""

    node: NodeId
    broker_epoch: int
    offset: Offset
    start: Offset
    conn: int


class FollowerStates:
    """Takes note of what followers fetch."""

    def __init__(
        self,
        metadata: Metadata,
        alter_partition_manager: AlterPartitionManager,
        quota: ReplicationQuota,
        step: Step,
    ) -> None:
        self._metadata, self.alter_partition_manager, self._step = metadata, alter_partition_manager, step
        self.quota = quota  # of what they are sent, where that is throttled
        self.heard: dict[NodeId, Millis] = {}  # when each last fetched from here
        self.connections: dict[int, None] = {}  # on which they fetch

    def heard_of(self, node: NodeId, conn: int, now: Millis) -> None:
        """A follower fetches, of whatever."""
        self.heard[node] = now
        self.connections[conn] = None

    def disconnected(self, conn: int) -> None:
        """A connection is gone: a follower's, perhaps."""
        self.connections.pop(conn, None)

    def fetched(self, partition: Partition, seen: FollowerFetch, now: Millis) -> None:
        """A follower has shown how far its log goes; it is not to be asked whether that is this one's log."""
        watermark = partition.watermark
        if partition is self._metadata.partition:
            self._metadata.fetched_by(seen.node, seen.offset, seen.conn, now)
        else:
            leader = partition.leader()
            if leader.start_of(seen.node) != seen.start:
                self._step.moved(partition)
            leader.fetched(seen.node, seen.offset, now, start=seen.start, broker_epoch=seen.broker_epoch)
            self.alter_partition_manager.fetched(partition, seen.node, now)
        if partition.watermark != watermark:
            self._step.committed(partition)
