"""What handlers work on: the partitions, the metadata, the sessions, and what they set in motion.

    handlers ──▶ Broker ──┬─ metadata      the cluster's state and the log it is replayed from
                          ├─ channel       the way to the controller
                          ├─ lifecycle     this broker's place in the cluster
                          ├─ partitions    the logs hosted here
                          ├─ fetchers      which of them are brought up to other nodes' logs
                          ├─ in_sync       who keeps up with those that are led here
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

from andiron.broker.calls import Calls
from andiron.broker.controller_channel import ControllerChannel
from andiron.broker.fetch_sessions import FetchSessions
from andiron.broker.fetcher import Surroundings
from andiron.broker.fetchers import Fetchers
from andiron.broker.flushing import Flushing
from andiron.broker.group_coordinator import GroupCoordinator
from andiron.broker.housekeeping import Housekeeping
from andiron.broker.in_sync import InSync
from andiron.broker.internal_topics import internal_topic
from andiron.broker.lifecycle import Lifecycle, Stage
from andiron.broker.listeners import Scope
from andiron.broker.log_directories import LogDirectories
from andiron.broker.marker_sender import MarkerSender
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
from andiron.log.disk import Disk
from andiron.model.chance import Chance
from andiron.model.effects import Answered, Effect, Finished, Flushed, Reconfigure, Unanswered
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Address, Millis, NodeId, Offset
from andiron.model.layers import Layers
from andiron.transactions.requests import EndTransaction, InitProducer
from andiron.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from andiron.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse

log = logging.getLogger(__name__)

SEEN_MS = 2_000  # for what the controller has decided to be known here
DECISION_MS = 30_000  # for requests that bring no timeout of their own

T = TypeVar("T")


class Broker:
    """One broker's state, and the only things that may be done to it."""

    def __init__(
        self,
        settings: NodeSettings,
        disk: Disk,
        seed: int,
        advertised: Mapping[Scope, Mapping[int, tuple[int, int]]],
    ) -> None:
        self.settings, self.advertised = settings, advertised
        self.now = Millis(0)  # of this step
        self._chance = chance = Chance(seed)
        me, name = NodeId(settings.node_id), f"node-{settings.node_id}"
        self.directories = LogDirectories(disk, chance)
        self.calls = Calls(name, self.touch)
        self.metadata = Metadata(
            settings, disk, chance, self.calls, lambda: self.cluster_id, self.appended, self._metadata_grown,
            self.touch,
        )  # fmt: skip
        self.channel = ControllerChannel(self.metadata, self.calls, name, self._clock)
        self.lifecycle = Lifecycle(settings, self.metadata, self.channel.decide, self.later, self._clock)
        self.fetchers = Fetchers(
            Surroundings(
                me, self.calls, settings.replication, self.address_of, lambda: self.lifecycle.epoch, self._replicated
            )
        )  # fmt: skip
        self.in_sync = InSync(
            me, lambda: self.lifecycle.epoch, self._is_live, self.channel.decide, self.later,
            self.touch, self._clock,
        )  # fmt: skip
        self.partitions = Partitions(settings, self.directories, self.fetchers, self.in_sync.count)
        self.sessions = FetchSessions(settings.broker.max_incremental_fetch_session_cache_slots, chance)
        self.flushing = Flushing()
        self.housekeeping = Housekeeping(
            self.live_settings, disk, self.directories, self.partitions, self.flushing
        )
        self.groups = GroupCoordinator(settings.groups, self.metadata, chance, self.appended, self.touch)
        self.markers = MarkerWriter(self.partition_by_name, self.groups, self.appended)
        sender = MarkerSender(me, self.metadata, self.calls, self.address_of, self.markers.write)
        self.transactions = TransactionCoordinator(
            settings.transactions, self.metadata, self.appended, self.touch, sender.send, self.later
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
        self.now = now
        self.directories.open(settings.log_dirs, settings.metadata_log_dir, settings.node_id)
        self.metadata.start(now)
        if self._is_broker:
            self.lifecycle.start(
                self.cluster_id,
                self._chance.token(16),
                self.directories.ids,
                self.directories.clean_epoch,
                now,
            )

    @property
    def ready(self) -> bool:
        """Whether the node may be shown to clients."""
        return self.lifecycle.serves if self._is_broker else self.metadata.controller_id >= 0

    @property
    def _is_broker(self) -> bool:
        return "broker" in self.settings.roles

    @property
    def is_settled(self) -> bool:
        """Whether it has been ready at least once: its partitions are those of the metadata."""
        return self._settled

    def leave(self, now: Millis) -> None:
        """Hand over what is led here, as far as others can take it."""
        if self._is_broker and self.settings.membership.controlled_shutdown_enable:
            self.lifecycle.leave(now)
        else:
            self.lifecycle.stage = Stage.LEFT

    def stop(self, now: Millis) -> bool:
        """Bring everything to the disk and mark the shutdown as a clean one, if all of it got there."""
        clean = not self.partitions.unopened
        for partition in (self.metadata.partition, *self.partitions):
            clean &= _closed(partition)
        try:
            self.housekeeping.save_checkpoints()
            if clean:
                self.directories.leave_clean_mark(self.lifecycle.epoch)
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
            if self.image.has_partition(topic, index):
                raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{topic}-{index} is on other brokers")
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
        """Let the controller decide, wherever it is; the Wait gives its response once that is committed.
        What keeps it from being so is raised when the response is asked for: see Wait.or_else."""
        return self.channel.decide(request, now, timeout_ms)

    def decide_here(self, request: object, now: Millis) -> Wait:
        """Let the controller decide if it is here, and nowhere else."""
        try:
            return self.metadata.decide(request, now, DECISION_MS)
        except ProtocolError as error:
            return Wait.failed(error)

    def until_created(self, answer: CreateTopicsResponse, respond: Callable[[], T]) -> T | Wait:
        """What `respond` says once the topics that the controller has made are known here, as they will be at once."""
        made = [topic.name for topic in answer.topics if not topic.error_code]

        def are_here() -> bool:
            return all(name in self.image.topics for name in made)

        if are_here():
            return respond()
        return Wait((self.metadata.partition,), are_here, Millis(self.now + SEEN_MS), respond, respond)

    @property
    def controller_told(self) -> int:
        """Whom clients take for the controller: a broker that they can ask, since all pass on what is its to do."""
        controller = self.metadata.controller_id
        return controller if self.image.is_live(controller) else self.settings.node_id

    def fetched_by(
        self, partition: Partition, node: NodeId, broker_epoch: int, offset: Offset, start: Offset, conn: int,
        now: Millis,
    ) -> None:  # fmt: skip
        """A follower has shown how far its log goes."""
        watermark = partition.watermark
        if partition is self.metadata.partition:
            self.metadata.fetched_by(node, offset, conn, now)
        else:
            partition.leader().fetched(node, offset, now, start=start, broker_epoch=broker_epoch)
            self.in_sync.fetched(partition, node, now)
        if partition.watermark != watermark:
            self.changed = True
            self.touch(partition)

    def next_producer_id(self, now: Millis, respond: Callable[[int], T]) -> T | Wait:
        """What `respond` makes of an id that no producer had before."""
        id = self._producer_ids.take()
        if id is not None:
            return respond(id)
        request = AllocateProducerIdsRequest(self.settings.node_id, self.lifecycle.epoch)
        return self.decide(request, now).and_then(lambda block: respond(self._first_of(block)))

    def _first_of(self, block: AllocateProducerIdsResponse) -> int:
        if block.error_code:
            raise ErrorCode.of(block.error_code).error("the controller gives no producer ids")
        return self._producer_ids.take_from(block.producer_id_start, block.producer_id_len)

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

    def flushed(self, event: Flushed, now: Millis) -> None:
        partition = self.flushing.done(event)
        self.touch(partition)
        self.changed = True
        if partition is self.metadata.partition:
            self.metadata.member.fetch(now)
        else:
            self.fetchers.flushed(partition, now)

    def disconnected(self, conn: int, now: Millis) -> None:
        """A connection is gone: of a node that follows the metadata, perhaps."""
        self.metadata.disconnected(conn, now)

    def answered(self, event: Answered | Unanswered, now: Millis) -> None:
        """Another node has answered a call, or will not."""
        self.changed = True
        if isinstance(event, Answered):
            self.calls.answered(event, now)
        else:
            self.calls.unanswered(event, now)

    def finished(self, event: Finished, now: Millis) -> None:
        """A background job has ended."""
        self.housekeeping.finished(event, now)
        self.changed = True

    def tick(self, now: Millis) -> None:
        """Do what time has brought."""
        self.metadata.tick(now)
        self.lifecycle.tick(now)
        self.fetchers.tick(now)
        if self.in_sync.next_deadline() <= now:
            self.in_sync.check(self.partitions, self.settings.replication.replica_lag_time_max_ms, now)
        self._effects += self.housekeeping.run(now)
        self.groups.shards.tick(now)
        self.transactions.tick(now)
        self.changed = True

    def _want_flush(self, partition: Partition) -> None:
        self.flushing.want(partition)
        self.changed = True

    def next_deadline(self) -> Millis:
        return min(
            self.metadata.next_deadline(),
            self.lifecycle.next_deadline(),
            self.fetchers.next_deadline(),
            self.in_sync.next_deadline(),
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
        effects += self.calls.take_effects()
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
        if delta.brokers:
            self.lifecycle.metadata_moved(now)
        if self.ready and not self._settled:
            self._settled = True
            self.partitions.set_aside_strays()
            self.housekeeping.start(now)  # not before: a checkpoint without the partitions would forget them
            self.in_sync.check((), self.settings.replication.replica_lag_time_max_ms, now)
        self.housekeeping.gave_up_folders()
        if any(kind == BROKER for kind, _ in delta.configs):
            self._live = None
            self._effects.append(Reconfigure(self.live_settings()))
            self.changed = True
        self.touch(self.metadata.partition)

    def _metadata_grown(self, partition: Partition) -> None:
        """The metadata log has come further, or what is committed of it."""
        self.changed = True
        self.touch(partition)
        if partition.needs_flush:
            self._want_flush(partition)

    def _replicated(self, partition: Partition, now: Millis) -> None:
        """A log that is followed here has come further, or what is committed of it."""
        self.touch(partition)
        if partition.needs_flush or partition.log.flush_due(now):
            self._want_flush(partition)
        elif not partition.syncs_by_roll_only:
            self.housekeeping.written(partition)

    def address_of(self, node: NodeId) -> Address | None:
        """Where other brokers reach a broker; None while it is not there."""
        known = self.image.brokers.get(node)
        if known is None or known.fenced:
            return None
        return Address(*known.endpoint(self.settings.inter_broker_listener))

    def _is_live(self, node: NodeId) -> bool:
        return self.image.is_live(node)

    def _clock(self) -> Millis:
        return self.now

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
