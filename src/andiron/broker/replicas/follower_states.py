"""What the followers of the partitions that are led here have shown of themselves.

    Fetch(replica 2, orders-3 from 1042) ─▶ fetched ─▶ its progress ─▶ the watermark moves ─▶ acks=all is answered
                                                     └▶ it has caught up ─▶ alter_partition_manager proposes it

Of a partition where nothing happens a follower says nothing; that it fetches at all shows that it is there (`heard`).

Read next: replication/leader.py, alter_partition_manager.py; handlers/fetch.py above.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.broker.node.step import Step
from andiron.broker.replicas.alter_partition_manager import AlterPartitionManager
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.model.ids import Millis, NodeId, Offset


class FollowerFetch(NamedTuple):
    """The position that a follower fetches from: its log holds everything below `offset`, from `start` on."""

    node: NodeId
    broker_epoch: int
    offset: Offset
    start: Offset
    conn: int


class FollowerStates:
    """What the leaders on this node know of their followers, from the fetches of these."""

    def __init__(
        self,
        alter_partition_manager: AlterPartitionManager,
        quota: ReplicationQuota,
        step: Step,
    ) -> None:
        self.alter_partition_manager, self._step = alter_partition_manager, step
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

    def fetched(self, partition: Partition, fetch: FollowerFetch, now: Millis) -> None:
        """A follower of a data partition has shown how far its log goes; that it is this one's log is known."""
        watermark, leader = partition.watermark, partition.leader()
        if leader.start_of(fetch.node) != fetch.start:
            self._step.moved(partition)
        leader.fetched(fetch.node, fetch.offset, now, start=fetch.start, broker_epoch=fetch.broker_epoch)
        self.alter_partition_manager.fetched(partition, fetch.node, now)
        if partition.watermark != watermark:
            self._step.committed(partition)
