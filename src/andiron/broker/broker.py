"""What handlers work on: the partitions, the metadata, the sessions, and what they set in motion.

    handlers ──▶ Broker ──┬─ metadata      the cluster's state and the log it is replayed from
                          ├─ partitions    the logs hosted here
                          ├─ sessions      incremental fetches
                          ├─ waiting       requests that cannot be answered yet
                          ├─ flushing      fsyncs wanted and under way
                          └─ housekeeping  retention, compaction, checkpoints: what time brings

A handler changes things through here and the broker notes what it touched; node.py asks
for that at the end of the step. Committed metadata takes effect there too: partitions are
made, reconfigured and removed as the metadata log says, and nothing else says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from andiron.broker.fetch_sessions import FetchSessions
from andiron.broker.flushing import Flushing
from andiron.broker.housekeeping import Housekeeping
from andiron.broker.log_directories import LogDirectories
from andiron.broker.metadata import Metadata
from andiron.broker.node_settings import NodeSettings, broker_settings
from andiron.broker.partition import Partition, Written
from andiron.broker.partitions import Partitions
from andiron.broker.producer_ids import ProducerIds
from andiron.broker.settings import BrokerSettings
from andiron.broker.waiting import Wait, WaitingRoom
from andiron.controller.image import BROKER, Image
from andiron.controller.producer_ids import AllocateProducerIds
from andiron.log.disk import Disk
from andiron.model.chance import Chance
from andiron.model.effects import Effect, Finished, Flushed, Reconfigure
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, NodeId
from andiron.model.layers import Layers

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
        self.metadata = Metadata(settings, disk, chance)
        self.sessions = FetchSessions(settings.broker.max_incremental_fetch_session_cache_slots, chance)
        self.flushing = Flushing()
        self.housekeeping = Housekeeping(
            self.live_settings, disk, self.directories, self.partitions, self.flushing
        )
        self._producer_ids = ProducerIds()
        self.waiting = WaitingRoom()
        self.changed = False  # in this step, in a way that its end must look at
        self._settled = False  # the partitions are those of the metadata, and nothing else lies about
        self._touched: dict[Partition, None] = {}
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
        image, me = self.image, str(self.settings.node_id)
        return broker_settings(image.configs_of(BROKER, me), image.configs_of(BROKER, ""), self.settings)

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
            wait = self.metadata.shard.run(request, now, timeout_ms)
        except ProtocolError as error:
            return Wait.over(partial(_fail, error))
        self._want_flush(self.metadata.partition)
        return wait

    def next_producer_id(self, now: Millis, respond: Callable[[int], T]) -> T | Wait:
        """What `respond` makes of an id that no producer had before."""
        id = self._producer_ids.take()
        if id is not None:
            return respond(id)
        allocated = self.decide(AllocateProducerIds(NodeId(self.settings.node_id)), now)
        return allocated.and_then(
            lambda block: respond(self._producer_ids.take_from(block.start, block.count))
        )

    def touch(self, partition: Partition) -> None:
        """Something happened to this partition: whoever waits for it looks again at the end of the step."""
        if self.waiting.watched(partition):
            self._touched[partition] = None
            self.changed = True

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
        self.changed = True

    def _want_flush(self, partition: Partition) -> None:
        self.flushing.want(partition)
        self.changed = True

    def next_deadline(self) -> Millis:
        return self.housekeeping.next_deadline()

    # ── the end of a step ────────────────────────────────────────────────────────────

    def take_touched(self, now: Millis) -> list[Partition]:
        """The partitions to be shown to those who wait, committed metadata having taken effect."""
        self.changed = False
        if self.metadata.has_news():
            self._follow_metadata(now)
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
            if partition.retired:
                self.flushing.forget(partition)
                self.housekeeping.forget(partition)
            elif partition.needs_flush:
                self._want_flush(partition)
        if self.metadata.ready and not self._settled:
            self._settled = True
            self.partitions.set_aside_strays()
            self.housekeeping.start(now)  # not before: a checkpoint without the partitions would forget them
        self.housekeeping.gave_up_folders()
        if any(kind == BROKER for kind, _ in delta.configs):
            self._effects.append(Reconfigure(self.live_settings()))
            self.changed = True
        self.touch(self.metadata.partition)


def _closed(partition: Partition) -> bool:
    """Bring a partition to the disk; whether that worked."""
    try:
        partition.close()
    except ProtocolError as error:
        log.error("%s cannot be brought to the disk: %s", partition.name, error.detail)
        return False
    return partition.failure is None


def _fail(error: ProtocolError) -> None:
    raise error
