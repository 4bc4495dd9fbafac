"""What handlers work on: the partitions, the metadata, the sessions, and what they set in motion.

    handlers ──▶ Broker ──┬─ metadata      the cluster's state and the log it is replayed from
                          ├─ channel       the way to the controller
                          ├─ lifecycle     this broker's place in the cluster
                          ├─ following     what committed metadata does here
                          ├─ partitions    the logs hosted here
                          ├─ fetchers      which of them are brought up to other nodes' logs
                          ├─ followers     who follows those that are led here, and how far
                          ├─ in_sync       who of them keeps up
                          ├─ sessions      incremental fetches
                          ├─ telemetry     what clients tell of themselves
                          ├─ groups        consumer groups and their offsets
                          ├─ transactions  transactional ids, and the markers they owe
                          ├─ step          what has happened since the last event
                          ├─ waiting       requests that cannot be answered yet
                          ├─ flushing      fsyncs wanted and under way
                          └─ housekeeping  retention, compaction, checkpoints: what time brings

A handler changes things through here. What it, and whatever it calls, has done is noted in `step` (node/step.py), and
nobody is called for that; `end_step` lets everything follow from it, in one order.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from andiron.broker.coordinators.coordinators import Coordinators
from andiron.broker.coordinators.group_coordinator import GroupCoordinator
from andiron.broker.coordinators.marker_sender import MarkerSender
from andiron.broker.coordinators.marker_writer import MarkerWriter
from andiron.broker.coordinators.transaction_coordinator import TransactionCoordinator
from andiron.broker.metadata.broker_channel import BrokerChannel
from andiron.broker.metadata.broker_lifecycle import Lifecycle, Stage
from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.metadata import Metadata
from andiron.broker.metadata.producer_ids import ProducerIds
from andiron.broker.metadata.publisher import MetadataPublisher
from andiron.broker.node.calls import Calls
from andiron.broker.node.request import Request
from andiron.broker.node.seldom import Seldom
from andiron.broker.node.step import Step
from andiron.broker.node.turns import Turns
from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.broker.replicas.checkpoints import Checkpoints
from andiron.broker.replicas.directory_assignments import DirectoryAssignments
from andiron.broker.replicas.fetch_sessions import FetchSessions
from andiron.broker.replicas.fetcher_manager import Fetchers
from andiron.broker.replicas.flushing import Flushing
from andiron.broker.replicas.follower_states import Followers
from andiron.broker.replicas.hosted import Hosted
from andiron.broker.replicas.housekeeping import Housekeeping
from andiron.broker.replicas.isr import InSync
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.partitions import Partitions, close_all
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.broker.settings.listeners import Scope
from andiron.broker.settings.live_settings import LiveSettings
from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.telemetry.client_telemetry import ClientTelemetry
from andiron.controller.image import BROKER, Image
from andiron.log.disk import Disk
from andiron.model.chance import Chance
from andiron.model.effects import Answered, Effect, Finished, Flush, Flushed, Reconfigure, Unanswered
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis

log = logging.getLogger(__name__)

DECISION_MS = 30_000  # for requests that bring no timeout of their own


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
        self._chance = chance = Chance(seed)
        name = f"node-{settings.node_id}"
        self.waiting = WaitingRoom()
        self.step = step = Step(self.waiting)
        self.turns, self.calls, self.flushing = Turns(step), Calls(name, step), Flushing()
        self.directories = directories = LogDirectories(disk, chance)

        # The cluster's metadata, and this broker's place in it.
        self.metadata = metadata = Metadata(settings, directories, chance, self.calls, self.flushing, step)
        self.live = live = LiveSettings(settings, metadata)
        self.channel = ControllerChannel(metadata, self.calls, name, step)
        self.lifecycle = lifecycle = Lifecycle(settings, metadata, self.channel, step)

        # The logs here: as a follower, as a leader, and what time brings to both.
        hosted = Hosted()
        self.checkpoints = Checkpoints(directories, hosted)
        others = BrokerChannel(lifecycle, metadata, self.calls)
        inwards = ReplicationQuota(live, lambda now: now.follower_replication_throttled_rate)
        outwards = ReplicationQuota(live, lambda now: now.leader_replication_throttled_rate)
        self.fetchers = Fetchers(settings.replication, others, inwards, self.checkpoints, step)
        self.in_sync = InSync(metadata, lifecycle, self.channel, step)
        self.followers = Followers(metadata, self.in_sync, outwards, step)
        self.places = DirectoryAssignments(lifecycle, self.channel, step)
        self.partitions = Partitions(
            settings, directories, hosted, self.fetchers, self.followers, self.places
        )
        self.housekeeping = Housekeeping(
            live, directories, self.partitions, self.checkpoints, self.flushing, step
        )

        # The coordinators, which live in some of these logs.
        self.groups = GroupCoordinator(settings.groups, metadata, chance, step)
        self.markers = MarkerWriter(metadata, self.partitions, self.groups, step)
        sender = MarkerSender(lifecycle.me, metadata, self.calls, self.markers)
        self.transactions = TransactionCoordinator(settings.transactions, metadata, sender, step)

        self.following = MetadataPublisher(
            metadata, lifecycle, self.partitions, self.housekeeping,
            Coordinators(self.groups, self.transactions), step,
        )  # fmt: skip
        self.sessions = FetchSessions(settings.broker.max_incremental_fetch_session_cache_slots, chance)
        self.telemetry = ClientTelemetry(metadata, settings.broker.telemetry_max_bytes, chance)
        self.producer_ids, self.seldom = ProducerIds(), Seldom()
        self.unmade: dict[str, str] = {}  # why internal topics are not there (topic_creation.py)

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, now: Millis) -> None:
        """Open the metadata log and stand for election; partitions come with the committed metadata."""
        settings, directories = self.settings, self.directories
        self.step.now = now
        directories.open(settings.log_dirs, settings.metadata_log_dir, settings.node_id)
        self.metadata.open(now)
        directories.begin()
        self.metadata.start(now)
        life = self._chance.uuid()
        if self.lifecycle.is_broker:
            self.lifecycle.start(self.cluster_id, life, directories.ids, directories.clean_epoch, now)
        self.lifecycle.controller.start(life, now)

    @property
    def ready(self) -> bool:
        """Whether the node may be shown to clients."""
        return self.lifecycle.serves if self.lifecycle.is_broker else self.metadata.controller_id >= 0

    @property
    def is_settled(self) -> bool:
        """Whether it has been ready at least once: its partitions are those of the metadata."""
        return self.following.settled

    def leave(self, now: Millis) -> None:
        """Hand over what is led here, as far as others can take it."""
        if self.lifecycle.is_broker and self.settings.membership.controlled_shutdown_enable:
            self.lifecycle.leave(now)
        else:
            self.lifecycle.stage = Stage.LEFT

    def stop(self, now: Millis) -> bool:
        """Bring everything to the disk and mark the shutdown as a clean one, if all of it got there."""
        is_whole = not self.partitions.unopened
        clean = close_all(self.directories.disk, [self.metadata.partition, *self.partitions]) and is_whole
        self.metadata.member.note_flushed()
        try:
            self.checkpoints.save_all()
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
        partition = self.partitions.get((topic, index))  # without a detour: every request comes by here
        return self.partitions.find(topic, index, self.image) if partition is None else partition

    # ── changing ─────────────────────────────────────────────────────────────────────

    def decide(self, request: object, now: Millis, timeout_ms: int = DECISION_MS) -> Wait:
        """Let the controller decide, wherever it is; the Wait gives its response, or raises what went wrong."""
        return self.channel.decide(request, now, timeout_ms)

    def pass_on(self, request: Request[Any], timeout_ms: int = DECISION_MS) -> Wait:
        """Let the controller decide what a client has asked, as `decide` does."""
        return self.channel.pass_on(request, timeout_ms)

    def decide_here(self, request: object, now: Millis) -> Wait:
        """Let the controller decide if it is here, and nowhere else."""
        return self.channel.decide_here(request, now, DECISION_MS)

    @property
    def controller_told(self) -> int:
        """Who clients are told is the controller: a broker that they can ask, since all pass on what is its to do."""
        controller = self.metadata.controller_id
        return controller if self.image.is_live(controller) else self.settings.node_id

    # ── events ───────────────────────────────────────────────────────────────────────

    def flushed(self, event: Flushed, now: Millis) -> None:
        self.step.has_facts = True
        partition = self.flushing.done(event, now)
        if partition is None:
            return
        if partition.failure is not None:
            self.places.lost(partition.topic_id, partition.name.partition)
            self.places.send(now)
        self.step.moved(partition)
        if partition is self.metadata.partition:
            self.metadata.member.flushed(now)
        else:
            self.fetchers.flushed(partition, now)

    def disconnected(self, conn: int, now: Millis) -> None:
        """A connection is gone: of a node that follows the metadata, perhaps."""
        self.metadata.disconnected(conn, now)
        self.followers.disconnected(conn)
        self.turns.forget(conn)
        self.telemetry.disconnected(conn)

    def answered(self, event: Answered | Unanswered, now: Millis) -> None:
        """Another node has answered a call, or will not."""
        self.step.has_facts = True
        if isinstance(event, Answered):
            self.calls.answered(event, now)
        else:
            self.calls.unanswered(event, now)

    def finished(self, event: Finished, now: Millis) -> None:
        """A background job has ended."""
        self.housekeeping.finished(event, now)
        self.step.has_facts = True

    def tick(self, now: Millis) -> None:
        """Do what time has brought."""
        self.metadata.tick(now)
        self.lifecycle.tick(now)
        self.fetchers.tick(now)
        if self.in_sync.next_deadline() <= now:
            self.in_sync.check(self.partitions, self.settings.replication.replica_lag_time_max_ms, now)
        if self.partitions.is_behind:
            self.following.open_more(now)
        self._settle_if_ready(now)
        self.housekeeping.run(now)
        self.groups.shards.tick(now)
        self.transactions.tick(now)
        self.step.has_facts = True

    def next_deadline(self) -> Millis:
        if self.partitions.is_behind:
            return self.step.now
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

    def end_step(self) -> list[Effect]:
        """Whatever follows from what was noted in this step, in this order, until nothing more does."""
        step, now, effects = self.step, self.step.now, list[Effect]()
        while step.has_facts:
            step.has_facts = False
            self.metadata.follow_quorum(now)
            self._follow_metadata(now)
            if self.transactions.shards.owing:
                self.transactions.send_markers(now)
            for key in step.take_touched():
                effects += self.waiting.wake(key)
            effects += step.take_effects()
            effects += self.calls.take_effects()
            effects += self._take_flushes(now)
        return effects

    def _follow_metadata(self, now: Millis) -> None:
        """Let newly committed metadata take effect."""
        if not self.following.is_due:
            return
        delta = self.following.follow(now)
        self._settle_if_ready(now)
        self.housekeeping.gave_up_folders()
        if any(kind == BROKER for kind, _ in delta.configs):
            self.live.forget()
            self.step.emit(Reconfigure(self.live.current()))

    def _settle_if_ready(self, now: Millis) -> None:
        if self.ready and not self.partitions.is_behind:
            self.places.send(now)
            if not self.following.settled:
                self.following.settle(now)
                self.live.warn_of_the_overruled()

    def _take_flushes(self, now: Millis) -> list[Flush]:
        """The fsyncs that can begin; of those that cannot, whoever waits for them is told."""
        at_once, in_time = self.step.take_flushes()
        for partition in at_once:
            if not partition.retired:
                self.flushing.want(partition)
        for partition in in_time:
            self.housekeeping.written(partition)
        begun = self.flushing.start()
        for partition in self.flushing.take_refused():
            self.step.moved(partition)
            self.housekeeping.could_not_flush(partition, now)
        return begun
