"""What committed metadata does to this node.

    committed records ─▶ image + delta ─┬─ partitions     opened, led, followed, given up
                                        ├─ coordinators   loaded and dropped with the partitions they live in
                                        ├─ groups         told of topics that came and went
                                        ├─ lifecycle      told of brokers: of this one, above all
                                        ├─ acquaintances  told of them too, for clients
                                        └─ settings       those that change while the node runs

Nothing else opens a partition or gives it a role. What the node says and does between two steps is as of one place in
the metadata log: all of a delta takes effect, or none of it.

The law easy to break: nothing takes effect before this broker has read its own registration. Up to there the metadata
speaks of its last life. If it led then, and lost power, it would go on writing in an epoch in which others may hold
what it has lost; its registration ends that epoch.

Once everything that it leads and follows is in place the node is settled: folders that are nobody's can be told, and
housekeeping begins. Not before: a checkpoint without the partitions would forget them.

Read next: metadata.py, where the delta comes from; partitions.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable

from andiron.broker.coordinators.group_coordinator import GroupCoordinator
from andiron.broker.coordinators.transaction_coordinator import TransactionCoordinator
from andiron.broker.metadata.broker_lifecycle import Lifecycle
from andiron.broker.metadata.known_brokers import Acquaintances
from andiron.broker.metadata.metadata import Metadata
from andiron.broker.replicas.flushing import Flushing
from andiron.broker.replicas.housekeeping import Housekeeping
from andiron.broker.replicas.isr import InSync
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.partitions import Partitions
from andiron.controller.image import Delta
from andiron.model.ids import Millis

log = logging.getLogger(__name__)


class Following:
    """Lets what is committed take effect here."""

    def __init__(
        self, metadata: Metadata, partitions: Partitions, lifecycle: Lifecycle, in_sync: InSync,
        flushing: Flushing, housekeeping: Housekeeping, groups: GroupCoordinator, transactions: TransactionCoordinator,
        touch: Callable[[Hashable], None], acquaintances: Acquaintances, *, is_broker: bool,
    ) -> None:  # fmt: skip
        self._metadata, self._partitions, self._lifecycle, self._in_sync = (
            metadata, partitions, lifecycle, in_sync,
        )  # fmt: skip
        self._flushing, self._housekeeping = flushing, housekeeping
        self._groups, self._transactions, self._touch = groups, transactions, touch
        self._is_broker, self._entered = is_broker, False
        self.acquaintances = acquaintances
        self.settled = False  # the partitions are those of the metadata, and nothing else lies about

    def follow(self, now: Millis) -> Delta:
        """Let newly committed metadata take effect; returns what it changed."""
        self._metadata.apply()
        self._entered = self._entered or self._may_enter()
        if not self._entered:
            return Delta()
        delta = self._metadata.take_delta()
        for partition in self._partitions.apply(delta, self._metadata.image, now):
            self._changed(partition, now)
        if delta.partitions or delta.removed_topics:
            self._groups.topics_changed([topic.name for topic in delta.removed_topics], now)
        if delta.brokers:
            self.acquaintances.moved(self._metadata.image, now)
            self._lifecycle.metadata_moved(now)
            self._in_sync.check_soon(now)
        self._touch(self._metadata.partition)
        return delta

    @property
    def is_due(self) -> bool:
        """Whether there is something that has not taken effect and could."""
        return self._metadata.has_news() or (not self._entered and self._may_enter())

    def _may_enter(self) -> bool:
        """Whether the metadata has come to this life of this broker; a controller alone has nothing to wait for."""
        return not self._is_broker or self._lifecycle.image is not None

    def open_more(self, now: Millis) -> None:
        """Open the next few logs that the metadata speaks of; when all are open, the broker can be let in."""
        for partition in self._partitions.open_more(self._metadata.image, now):
            self._changed(partition, now)
        if not self._partitions.is_behind:
            self._lifecycle.opened(now)

    def settle(self, lag_ms_max: int, now: Millis) -> None:
        """The node is ready for the first time: everything is in its place."""
        self.settled = True
        self._partitions.set_aside_strays()
        self._housekeeping.start(now)
        self._in_sync.check((), lag_ms_max, now)
        if told := self._metadata.image.kept.told():
            log.warning("kept for Kafka, and not enforced here: %s", told)

    def _changed(self, partition: Partition, now: Millis) -> None:
        """A partition is here, has another role or other settings, or is gone."""
        self._touch(partition)
        for coordinator in (self._groups.shards, self._transactions.shards):
            if partition.name.topic == coordinator.topic:
                coordinator.follow(partition, now)
        if partition.retired:
            self._flushing.forget(partition)
            self._housekeeping.forget(partition)
        elif partition.needs_flush:
            self._flushing.want(partition)
