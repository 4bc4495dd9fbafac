"""What handlers work on: the partitions, the metadata, the sessions, and what they set in motion.

    handlers ──▶ Broker ──┬─ metadata      the cluster's state and the log it is replayed from
                          ├─ partitions    the logs hosted here
                          ├─ sessions      incremental fetches
                          ├─ groups        consumer groups and their offsets
                          ├─ transactions  transactional ids, and the markers they owe
                          ├─ waiting       requests that cannot be answered yet
                          ├─ flushing      fsyncs wanted and under way
                          └─ housekeeping  retention, compaction, checkpoints: what time brings

A handler changes things through here and the broker notes what it touched; node.py asks
for that at the end of the step. Committed metadata takes effect there too: partitions are
made, reconfigured and removed as the metadata log says, and nothing else says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from andiron.broker.fetch_sessions import FetchSessions
from andiron.broker.flushing import Flushing
from andiron.broker.group_coordinator import GroupCoordinator
from andiron.broker.housekeeping import Housekeeping
from andiron.broker.internal_topics import internal_topic
from andiron.broker.log_directories import LogDirectories
from andiron.broker.marker_writer import MarkerWriter
from andiron.broker.metadata import Metadata
from andiron.broker.node_settings import NodeSettings, broker_settings
from andiron.broker.partition import Partition, Written
from andiron.broker.partitions import Partitions
from andiron.broker.producer_ids import ProducerIds
from andiron.broker.settings import BrokerSettings
from andiron.broker.transaction_coordinator import TransactionCoordinator
from andiron.broker.waiting import NOBODY, Wait, WaitingRoom
from andiron.controller.image import BROKER, Image
from andiron.controller.producer_ids import AllocateProducerIds
from andiron.log.disk import Disk
from andiron.model.chance import Chance
from andiron.model.effects import Effect, Finished, Flushed, Reconfigure
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, NodeId
from andiron.model.layers import Layers
from andiron.transactions.requests import EndTransaction, InitProducer
from andiron.wire.messages.create_topics import CreateTopicsRequest

log = logging.getLogger(__name__)

DECISION_MS = 30_000  # for requests that bring no timeout of their own

T = TypeVar("T")


class Broker:
    """One broker's state, and the only things that may be done to it."""

    def __init__(
        self, settings: NodeSettings, disk: Disk, seed: int, advertised: Mapping[int, tuple[int, int]]
    ) -> None:
        self.settings, self.advertised = settings, advertised
        chance = Chance(seed)
        self.directories = LogDirectories(disk, chance)
        self.partitions = Partitions(settings, self.directories)
        self.metadata = Metadata(settings, disk, chance, self.appended)
        self.sessions = FetchSessions(settings.broker.max_incremental_fetch_session_cache_slots, chance)
        self.flushing = Flushing()
        self.housekeeping = Housekeeping(
            self.live_settings, disk, self.directories, self.partitions, self.flushing
        )
        self.groups = GroupCoordinator(settings.groups, self.metadata, chance, self.appended, self.touch)
        self.markers = MarkerWriter(self.partition_by_name, self.groups, self.appended)
        self.transactions = TransactionCoordinator(
            settings.transactions, self.metadata, self.appended, self.touch, self.markers.write, self.later
        )
        self._live: BrokerSettings | None = None  # until they change
        self._producer_ids = ProducerIds()
        self.waiting = WaitingRoom()
        self.changed = False  # in this step, in a way that its end must look at
        self._settled = False  # the partitions are those of the metadata, and nothing else lies about
        self._touched: dict[Hashable, None] = {}
        self._effects: list[Effect] = []

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, now: Millis) -> None:
        """Open the metadata log and stand for election; partitions come with the committed metadata."""
        settings = self.settings
        self.directories.open(settings.log_dirs, settings.metadata_log_dir, settings.node_id)
        self.metadata.start(self.directories.ids, self.directories.clean, now)
        self._want_flush(self.metadata.partition)

    @property
    def ready(self) -> bool:
        return self.metadata.ready

    def stop(self, now: Millis) -> bool:
        """Bring everything to the disk and mark the shutdown as a clean one, if all of it got there."""
        clean = not self.partitions.unopened
        for partition in (self.metadata.partition, *self.partitions):
            clean &= _closed(partition)
        try:
            self.housekeeping.save_checkpoints()
            if clean:
                self.directories.leave_clean_mark(self.metadata.broker_epoch)
        except OSError as error:
            log.error("the next start will have to look through the logs: %s", error)
            return False
        return clean

    @property
    def cluster_id(self) -> str:
        return self.directories.cluster_id

    # ── finding ──────────────────────────────────────────────────────────────────────

    @property
    def image(self) -> Image:
        """The cluster as committed: what clients are told."""
        return self.metadata.image

    def partition(self, topic: str, topic_id: bytes, index: int) -> Partition:
        """A partition by topic name, where the request names one, or else by topic id."""
        if topic:
            return self.partition_by_name(topic, index)
        found = self.image.topics_by_id.get(topic_id)
        if found is None:
            raise ErrorCode.UNKNOWN_TOPIC_ID.error(f"no topic has the id {topic_id.hex()}")
        return self.partition_by_name(found.name, index)

    def partition_by_name(self, topic: str, index: int) -> Partition:
        """A partition hosted here, or the error that says where else to ask."""
        partition = self.partitions.get((topic, index))
        if partition is None:
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"{topic}-{index} is not here")
        return partition

    def layers(self) -> Layers:
        """Where this broker's settings come from at the moment."""
        image, me = self.image, str(self.settings.node_id)
        return self.settings.layers(image.configs_of(BROKER, ""), image.configs_of(BROKER, me))

    def live_settings(self) -> BrokerSettings:
        """This broker's settings, with what was set while it ran."""
        if self._live is None:
            image, me = self.image, str(self.settings.node_id)
            everywhere, here = image.configs_of(BROKER, ""), image.configs_of(BROKER, me)
            self._live = broker_settings(here, everywhere, self.settings)
        return self._live

    # ── changing ─────────────────────────────────────────────────────────────────────

    def appended(self, partition: Partition, written: Written, now: Millis) -> None:
        """A batch has been written: wake who waits for it, and sync it if that is asked for."""
        self.touch(partition)
        if partition.syncs_by_roll_only and written.base_offset != partition.log.segments.active.base:
            return  # the usual case: no flush policy, and no segment was sealed
        if written.to_disk or partition.log.flush_due(now):
            self._want_flush(partition)
        else:
            self.housekeeping.written(partition)

    def decide(self, request: object, now: Millis, timeout_ms: int = DECISION_MS) -> Wait:
        """Let the controller decide; the Wait gives its response once that is committed and in effect.
        What keeps it from being so is raised when the response is asked for: see Wait.or_else."""
        try:
            return self.metadata.shard.run(request, now, timeout_ms)
        except ProtocolError as error:
            return Wait.failed(error)

    def next_producer_id(self, now: Millis, respond: Callable[[int], T]) -> T | Wait:
        """What `respond` makes of an id that no producer had before."""
        id = self._producer_ids.take()
        if id is not None:
            return respond(id)
        allocated = self.decide(AllocateProducerIds(NodeId(self.settings.node_id)), now)
        return allocated.and_then(
            lambda block: respond(self._producer_ids.take_from(block.start, block.count))
        )

    def in_transactions(self, request: InitProducer | EndTransaction, now: Millis) -> Wait:
        """Let the coordinator of a transactional id decide what may need a producer id that nobody had."""
        id = request.transactional_id
        if not self.transactions.machine_of(id).needs_fresh_id(request):
            return self.transactions.run(id, request, now)
        return self.next_producer_id(
            now, lambda fresh: self.transactions.run(id, request._replace(fresh_id=fresh), now)
        )

    def touch(self, key: Hashable) -> None:
        """Something happened to this partition (shard, promise): whoever waits for it looks again at the end of
        the step."""
        if self.waiting.watched(key):
            self._touched[key] = None
            self.changed = True

    def later(self, wait: Wait, then: Callable[[Any], None]) -> None:
        """Go on with `then` once a wait of this node's own is over. If it comes to nothing, that is logged."""

        def answer(respond: Callable[[], Any]) -> list[Effect]:
            try:
                response = respond()
            except ProtocolError as error:
                log.warning("left undone: %s", error)
                return []
            if isinstance(response, Wait):
                return self.waiting.admit(response, NOBODY, answer)
            then(response)
            return []

        self.waiting.admit(wait, NOBODY, answer)

    def create_internal(self, topic: str, now: Millis) -> Wait:
        """Make a topic that a coordinator needs; whether that worked is seen by its being there."""
        return self.decide(CreateTopicsRequest([internal_topic(topic, self.settings)]), now)

    def flushed(self, event: Flushed) -> None:
        self.touch(self.flushing.done(event))
        self.changed = True

    def finished(self, event: Finished, now: Millis) -> None:
        """A background job has ended."""
        self.housekeeping.finished(event, now)
        self.changed = True

    def tick(self, now: Millis) -> None:
        """Do what time has brought."""
        self._effects += self.housekeeping.run(now)
        self.groups.shards.tick(now)
        self.transactions.tick(now)
        self.changed = True

    def _want_flush(self, partition: Partition) -> None:
        self.flushing.want(partition)
        self.changed = True

    def next_deadline(self) -> Millis:
        return min(
            self.housekeeping.next_deadline(),
            self.groups.shards.next_deadline(),
            self.transactions.next_deadline(),
        )

    # ── the end of a step ────────────────────────────────────────────────────────────

    def take_touched(self, now: Millis) -> list[Hashable]:
        """What is to be shown to those who wait, committed metadata having taken effect."""
        self.changed = False
        if self.metadata.has_news():
            self._follow_metadata(now)
        if self.transactions.owes_markers:
            self.transactions.send_markers(now)
        touched = list(self._touched)
        self._touched.clear()
        return touched

    def take_effects(self) -> list[Effect]:
        """What the edge must do: fsyncs and background jobs."""
        effects, self._effects = self._effects, []
        effects += self.flushing.start()
        for partition in self.flushing.take_refused():
            self.touch(partition)
        return effects

    def _follow_metadata(self, now: Millis) -> None:
        """Let newly committed metadata take effect."""
        delta = self.metadata.apply()
        for partition in self.partitions.apply(delta, self.image, now):
            self.touch(partition)
            self._tell_coordinators(partition, now)
            if partition.retired:
                self.flushing.forget(partition)
                self.housekeeping.forget(partition)
            elif partition.needs_flush:
                self._want_flush(partition)
        if delta.partitions or delta.removed_topics:
            self.groups.topics_changed([topic.name for topic in delta.removed_topics], now)
        if self.metadata.ready and not self._settled:
            self._settled = True
            self.partitions.set_aside_strays()
            self.housekeeping.start(now)  # not before: a checkpoint without the partitions would forget them
        self.housekeeping.gave_up_folders()
        if any(kind == BROKER for kind, _ in delta.configs):
            self._live = None
            self._effects.append(Reconfigure(self.live_settings()))
            self.changed = True
        self.touch(self.metadata.partition)

    def _tell_coordinators(self, partition: Partition, now: Millis) -> None:
        """A partition is here, has changed or is gone: it may be one that a coordinator lives in."""
        for coordinator in (self.groups.shards, self.transactions.shards):
            if partition.name.topic == coordinator.topic:
                coordinator.follow(partition, now)


def _closed(partition: Partition) -> bool:
    """Bring a partition to the disk; whether that worked."""
    try:
        partition.close()
    except ProtocolError as error:
        log.error("%s cannot be brought to the disk: %s", partition.name, error.detail)
        return False
    return partition.failure is None
