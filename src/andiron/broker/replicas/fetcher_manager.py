"""The fetchers of a node, one for each node that leads something it follows.

    metadata: orders-3 is led by node 2 ─▶ follow(orders-3, 2) ─▶ the fetcher of node 2

Who follows whom is for the metadata to say; replica_manager.py brings it here.

Read next: replica_fetcher.py.
"""

from __future__ import annotations

from andiron.broker.metadata.broker_channel import BrokerChannel
from andiron.broker.node.step import Step
from andiron.broker.replicas.checkpoints import Checkpoints
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replica_fetcher import ReplicaFetcher
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.model.ids import NEVER, Millis, NodeId
from andiron.replication.settings import ReplicationSettings


class FetcherManager:
    """The replica fetchers of a node: which partition is fetched from which leader."""

    def __init__(
        self, settings: ReplicationSettings, channel: BrokerChannel, quota: ReplicationQuota,
        checkpoints: Checkpoints, step: Step,
    ) -> None:  # fmt: skip
        self._settings, self._channel, self._quota = settings, channel, quota
        self._checkpoints, self._step = checkpoints, step
        self._fetchers: dict[NodeId, ReplicaFetcher] = {}
        self._of: dict[Partition, ReplicaFetcher] = {}
        self._turn = 0  # of those that take in what has come

    def follow(self, partition: Partition, leader: NodeId, now: Millis) -> None:
        """Fetch a partition from `leader` from now on."""
        held = self._of.get(partition)
        if held is not None and held.leader != leader:
            self.leave(partition)
        fetcher = self._fetchers.get(leader)
        if fetcher is None:
            fetcher = self._fetchers[leader] = ReplicaFetcher(
                leader, self._settings, self._channel, self._quota, self._checkpoints, self._step
            )
        self._of[partition] = fetcher
        fetcher.add(partition, now)

    def leave(self, partition: Partition) -> None:
        """Fetch a partition no more: it is led here, or gone."""
        fetcher = self._of.pop(partition, None)
        if fetcher is not None:
            fetcher.remove(partition)

    def flushed(self, partition: Partition, now: Millis) -> None:
        """Something got to the disk that the next fetch may have waited for."""
        fetcher = self._of.get(partition)
        if fetcher is not None:
            fetcher.fetch(now)

    def next_deadline(self) -> Millis:
        return min((fetcher.next_deadline() for fetcher in self._fetchers.values()), default=NEVER)

    def tick(self, now: Millis) -> None:
        """Fetch where a pause is over; and let one of those that have more to take in do so, each in its turn."""
        taking_in = [each for each in self._fetchers.values() if each.is_taking_in]
        for fetcher in self._fetchers.values():
            if not fetcher.is_taking_in:
                fetcher.tick(now)
        if taking_in:
            self._turn += 1
            taking_in[self._turn % len(taking_in)].tick(now)
