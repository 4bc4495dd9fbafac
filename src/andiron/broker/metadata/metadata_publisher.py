"""What committed metadata does to this node.

    committed records ─▶ image + delta ─┬─ partitions     opened, led, followed, given up
                                        ├─ coordinators   loaded and dropped with the partitions they live in
                                        ├─ groups         told of topics that came and went
                                        ├─ lifecycle      told of brokers: of this one, above all
                                        ├─ known_brokers  told of them too, for clients
                                        ├─ settings       those that change while the node runs
                                        └─ news           told in the log of the active controller

Nothing else opens a partition or gives it a role. What the node says and does between two steps is as of one place in
the metadata log: all of a delta takes effect, or none of it.

The law easy to break: nothing takes effect before this broker has read its own registration. Up to there the metadata
speaks of its last incarnation. If it led then, and lost power, it would go on writing in an epoch in which others may
hold what it has lost; its registration ends that epoch.

Once everything that it leads and follows is in place the node is settled: folders that are nobody's can be told, and
housekeeping begins. Not before: a checkpoint without the partitions would forget them.

Read next: metadata_loader.py, where the delta comes from; replicas/replica_manager.py.
"""

from __future__ import annotations

import logging

from andiron.broker.coordinators.coordinators import Coordinators
from andiron.broker.metadata.broker_lifecycle import BrokerLifecycle
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.metadata.news import News
from andiron.broker.node.step import Step
from andiron.broker.replicas.housekeeping import Housekeeping
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replica_manager import ReplicaManager
from andiron.controller.image import Delta
from andiron.model.ids import Millis
from andiron.model.line import Line

log = logging.getLogger(__name__)


class MetadataPublisher:
    """Lets what is committed take effect here."""

    def __init__(
        self, metadata: MetadataLoader, lifecycle: BrokerLifecycle, replica_manager: ReplicaManager,
        housekeeping: Housekeeping, coordinators: Coordinators, step: Step,
    ) -> None:  # fmt: skip
        self._metadata, self._lifecycle, self._replica_manager = metadata, lifecycle, replica_manager
        self._housekeeping, self._coordinators, self._step = housekeeping, coordinators, step
        self._news = News()
        self._entered = False
        self.settled = False  # the partitions are those of the metadata, and nothing else lies about

    def follow(self, now: Millis) -> Delta:
        """Let newly committed metadata take effect; returns what it changed."""
        is_decided_here = self._metadata.is_decided_here
        self._metadata.apply()
        self._entered = self._entered or self._may_enter()
        if not self._entered:
            return Delta()
        delta = self._metadata.take_delta()
        changed = self._replica_manager.apply(delta, self._metadata.image, now)
        self._lifecycle.logs_left(self._replica_manager.is_behind)
        for partition in changed:
            self._changed(partition, now)
        if delta.partitions or delta.removed_topics:
            self._coordinators.groups.topics_changed([topic.name for topic in delta.removed_topics], now)
        if delta.brokers:
            self._metadata.known_brokers.moved(self._metadata.image, now)
            self._lifecycle.metadata_moved(now)
            self._replica_manager.brokers_moved(now)
        self._news.tell(delta, self._metadata.image, aloud=self.settled and is_decided_here)
        self._step.moved(self._metadata.partition)
        return delta

    @property
    def is_due(self) -> bool:
        """Whether there is something that has not taken effect and could."""
        return self._metadata.has_news() or (not self._entered and self._may_enter())

    def _may_enter(self) -> bool:
        """Whether the metadata has come to this broker's incarnation; a controller alone has nothing to wait for."""
        return not self._lifecycle.is_broker or self._lifecycle.image is not None

    def open_more(self, now: Millis) -> None:
        """Open the next few logs that the metadata speaks of; when all are open, the broker can be let in."""
        changed = self._replica_manager.open_more(self._metadata.image, now)
        self._lifecycle.logs_left(self._replica_manager.is_behind)
        for partition in changed:
            self._changed(partition, now)
        if not self._replica_manager.is_behind:
            self._lifecycle.opened(now)

    def settle(self, now: Millis) -> None:
        """The node is ready for the first time: everything is in its place."""
        self.settled = True
        self._replica_manager.set_aside_strays()
        self._housekeeping.start(now)
        self._replica_manager.watch_isrs(now)
        if told := self._metadata.image.unserved.told():
            log.warning(Line("Metadata that only Kafka acts on is kept and not enforced here", kept=told))

    def _changed(self, partition: Partition, now: Millis) -> None:
        """A partition is here, has another role or other settings, or is gone."""
        self._step.moved(partition)
        self._coordinators.follow(partition, now)
        if partition.retired:
            self._housekeeping.forget(partition)
        elif partition.needs_flush:
            self._step.flush(partition)
