"""Both coordinators of a broker: what comes to them with the metadata comes to both.

    partition of __consumer_offsets  led here, or no more ─▶ GroupCoordinator
    partition of __transaction_state led here, or no more ─▶ TransactionCoordinator

Read next: coordinator.py.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.broker.coordinators.group_coordinator import GroupCoordinator
from andiron.broker.coordinators.transaction_coordinator import TransactionCoordinator
from andiron.broker.replicas.partition import Partition
from andiron.model.ids import Millis


class Coordinators(NamedTuple):
    """The group coordinator and the transaction coordinator."""

    groups: GroupCoordinator
    transactions: TransactionCoordinator

    def follow(self, partition: Partition, now: Millis) -> None:
        """A partition has come, has changed or has gone: a coordinator's own, perhaps."""
        for shards in (self.groups.shards, self.transactions.shards):
            if partition.name.topic == shards.topic:
                shards.follow(partition, now)
