"""The table of partitions of which this node holds a replica, by name.

    replica_manager.py ── opens, gives up ──▶ HostedPartitions ◀── reads ── checkpoints.py

Only replica_manager.py changes it. It stands by itself because others have to know which logs there are before there is
anybody who gives them roles: a follower writes down where its logs start before it tells its leader.
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.model.ids import TopicPartition


class HostedPartitions(dict[tuple[str, int], Partition]):
    """The partitions whose logs are open, and beside them those whose logs will not open."""

    def __init__(self) -> None:
        self.unopened: dict[TopicPartition, str] = {}  # and why; the one that was tried longest ago first
