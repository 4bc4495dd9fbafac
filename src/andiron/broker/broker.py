"""What handlers work on: the partitions, the metadata, the sessions, and what they set in motion.

    handlers ──▶ Broker ──┬─ raft                     the metadata log, and who leads its quorum
                          ├─ metadata                 the cluster's state, as the quorum has committed it
                          ├─ controller               who decides about it, where this node leads the quorum
                          ├─ channel                  the way to the controller
                          ├─ lifecycle                this broker's place in the cluster
                          ├─ metadata_publisher       what committed metadata does here
                          ├─ replica_manager          the partitions hosted here, and their logs
                          ├─ fetcher_manager          which of them are brought up to other nodes' logs
                          ├─ follower_states          who follows those that are led here, and how far
                          ├─ alter_partition_manager  which followers are in sync, as the controller is asked to say
                          ├─ directory_assignments    in which log directory each replica lies, for the controller
                          ├─ fetch_sessions           incremental fetches (KIP-227)
                          ├─ telemetry                what clients tell of themselves
                          ├─ groups                   consumer groups and their offsets
                          ├─ transactions             transactional ids, and the markers they owe
                          ├─ step                     what has happened since the last event
                          ├─ waiting                  requests that cannot be answered yet
                          ├─ flush_queue              fsyncs wanted and under way
                          └─ housekeeping             retention, compaction, checkpoints: what time brings

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
from andiron.broker.metadata.broker_lifecycle import BrokerLifecycle
from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.metadata.metadata_publisher import MetadataPublisher
from andiron.broker.metadata.producer_id_manager import ProducerIdManager
from andiron.broker.metadata.quorum_controller import QuorumController
from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.node.calls import Calls
from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import CONTROLLER_DECISION_MS
from andiron.broker.node.request import Request
from andiron.broker.node.step import Step
from andiron.broker.node.turns import Turns
from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.broker.replicas.alter_partition_manager import AlterPartitionManager
from andiron.broker.replicas.checkpoints import Checkpoints
from andiron.broker.replicas.directory_assignments import DirectoryAssignments
from andiron.broker.replicas.fetch_sessions import FetchSessions
from andiron.broker.replicas.fetcher_manager import FetcherManager
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.follower_states import FollowerStates
from andiron.broker.replicas.hosted_partitions import HostedPartitions
from andiron.broker.replicas.housekeeping import Housekeeping
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replica_manager import ReplicaManager, close_all
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
from andiron.model.line import Line

log = logging.getLogger(__name__)


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
        self.turns, self.calls, self.flush_queue = Turns(step), Calls(name, step), FlushQueue()
        self.directories = directories = LogDirectories(disk, chance)

        # The cluster's metadata, and this broker's place in it.
        self.raft = raft = RaftClient(settings, directories, chance, self.calls, self.flush_queue, step)
        self.metadata = metadata = MetadataLoader(settings, raft, self.flush_queue)
        self.controller = QuorumController(settings, directories, chance, raft, metadata, step)
        self.live = live = LiveSettings(settings, metadata)
        self.channel = ControllerChannel(raft, self.controller, self.calls, name, step)
        self.lifecycle = lifecycle = BrokerLifecycle(settings, metadata, self.channel, step)

        # The logs here: as a follower, as a leader, and what time brings to both.
        partitions = HostedPartitions()
        self.checkpoints = Checkpoints(directories, partitions)
        others = BrokerChannel(lifecycle, metadata, self.calls)
        inwards = ReplicationQuota(live, lambda now: now.follower_replication_throttled_rate)
        outwards = ReplicationQuota(live, lambda now: now.leader_replication_throttled_rate)
        self.fetcher_manager = FetcherManager(settings.replication, others, inwards, self.checkpoints, step)
        self.alter_partition_manager = AlterPartitionManager(metadata, lifecycle, self.channel, step)
        self.follower_states = FollowerStates(self.alter_partition_manager, outwards, step)
        self.directory_assignments = DirectoryAssignments(lifecycle, self.channel, step)
        self.replica_manager = ReplicaManager(
            settings,
            directories,
            partitions,
            self.fetcher_manager,
            self.follower_states,
            self.directory_assignments,
        )
        self.housekeeping = Housekeeping(
            live, directories, self.replica_manager, self.checkpoints, self.flush_queue, step
        )

        # The coordinators, which live in some of these logs.
        self.groups = GroupCoordinator(settings.groups, metadata, chance, step)
        self.markers = MarkerWriter(metadata, self.replica_manager, self.groups, step)
        sender = MarkerSender(lifecycle.me, metadata, self.calls, self.markers)
        self.transactions = TransactionCoordinator(settings.transactions, metadata, sender, step)

        self.metadata_publisher = MetadataPublisher(
            metadata, lifecycle, self.replica_manager, self.housekeeping,
            Coordinators(self.groups, self.transactions), step,
        )  # fmt: skip
        self.fetch_sessions = FetchSessions(settings.broker.max_incremental_fetch_session_cache_slots, chance)
        self.telemetry = ClientTelemetry(metadata, settings.broker.telemetry_max_bytes, chance)
        self.producer_ids, self.log_limiter = ProducerIdManager(), LogLimiter()
        self.internal_topic_errors: dict[str, str] = {}  # why one could not be created (topic_creation.py)

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, now: Millis) -> None:
        """Open the metadata log and stand for election; partitions come with the committed metadata."""
        settings, directories = self.settings, self.directories
        self.step.now = now
        directories.open(settings.log_dirs, settings.metadata_log_dir, settings.node_id)
        self.raft.open(now)
        directories.begin()
        newest = self.raft.snapshots.newest()
        self.metadata.start(newest, now)
        self.raft.start(None if newest is None else newest.voters, now)
        self._follow_quorum(now)
        incarnation = self._chance.uuid()
        if self.lifecycle.is_broker:
            self.lifecycle.start(self.cluster_id, incarnation, directories.ids, directories.clean_epoch, now)
        self.lifecycle.controller.start(incarnation, now)

    @property
    def ready(self) -> bool:
        """Whether the node may be shown to clients."""
        return self.lifecycle.serves if self.lifecycle.is_broker else self.raft.leader >= 0

    @property
    def is_settled(self) -> bool:
        """Whether it has been ready at least once: its partitions are those of the metadata."""
        return self.metadata_publisher.settled

    def leave(self, now: Millis) -> None:
        """Hand over what is led here, as far as others can take it."""
        self.lifecycle.leave(now)

    def stop(self, now: Millis) -> bool:
        """Bring everything to the disk and mark the shutdown as a clean one, if all of it got there."""
        is_whole = not self.replica_manager.unopened
        clean = close_all(self.directories.disk, [self.raft.partition, *self.replica_manager]) and is_whole
        self.raft.note_flushed()
        try:
            self.checkpoints.save_all()
            if clean:
                self.directories.leave_clean_mark(self.lifecycle.epoch)
        except OSError as error:
            log.error(Line(
                "Clean shutdown cannot be recorded: the next start recovers every log; check the disk",
                error=error,
            ))  # fmt: skip
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
        partition = self.replica_manager.get((topic, index))  # without a detour: every request comes by here
        return self.replica_manager.find(topic, index, self.image) if partition is None else partition

    # ── changing ─────────────────────────────────────────────────────────────────────

    def decide(self, request: object, now: Millis, timeout_ms: int = CONTROLLER_DECISION_MS) -> Wait:
        """Let the controller decide, wherever it is; the Wait gives its response, or raises what went wrong."""
        return self.channel.decide(request, now, timeout_ms)

    def pass_on(self, request: Request[Any], timeout_ms: int = CONTROLLER_DECISION_MS) -> Wait:
        """Let the controller decide what a client has asked, as `decide` does."""
        return self.channel.pass_on(request, timeout_ms)

    def decide_here(self, request: object, now: Millis) -> Wait:
        """Let the controller decide if it is here, and nowhere else."""
        return self.channel.decide_here(request, now, CONTROLLER_DECISION_MS)

    @property
    def controller_told(self) -> int:
        """Who clients are told is the controller: a broker that they can ask, since all pass on what is its to do."""
        controller = self.raft.leader
        return controller if self.image.is_live(controller) else self.settings.node_id

    # ── events ───────────────────────────────────────────────────────────────────────

    def flushed(self, event: Flushed, now: Millis) -> None:
        self.step.has_facts = True
        partition = self.flush_queue.done(event, now)
        if partition is None:
            return
        if partition.failure is not None:
            self.directory_assignments.lost(partition.topic_id, partition.name.partition)
            self.directory_assignments.send(now)
        self.step.moved(partition)
        if partition is self.raft.partition:
            self.raft.flushed(now)
        else:
            self.fetcher_manager.flushed(partition, now)

    def disconnected(self, conn: int, now: Millis) -> None:
        """A connection is gone: of a node that follows the metadata, perhaps."""
        self.controller.disconnected(conn, now)
        self.follower_states.disconnected(conn)
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
        self.raft.tick(now)
        self._follow_quorum(now)
        self.metadata.tick(now)
        self.controller.tick(now)
        self.lifecycle.tick(now)
        self.fetcher_manager.tick(now)
        if self.alter_partition_manager.next_deadline() <= now:
            self.alter_partition_manager.check(
                self.replica_manager, self.settings.replication.replica_lag_time_max_ms, now
            )
        if self.replica_manager.is_behind or self.replica_manager.next_deadline() <= now:
            self.metadata_publisher.open_more(now)
        self._settle_if_ready(now)
        self.housekeeping.run(now)
        self.groups.shards.tick(now)
        self.transactions.tick(now)
        self.step.has_facts = True

    def next_deadline(self) -> Millis:
        if self.replica_manager.is_behind:
            return self.step.now
        return min(
            self.raft.next_deadline(),
            self.metadata.next_deadline(),
            self.controller.next_deadline(),
            self.lifecycle.next_deadline(),
            self.fetcher_manager.next_deadline(),
            self.alter_partition_manager.next_deadline(),
            self.replica_manager.next_deadline(),
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
            self._follow_quorum(now)
            self._follow_metadata(now)
            if self.transactions.shards.owing:
                self.transactions.send_markers(now)
            for key in step.take_touched():
                effects += self.waiting.wake(key)
            effects += step.take_effects()
            effects += self.calls.take_effects()
            effects += self._take_flushes(now)
        return effects

    def _follow_quorum(self, now: Millis) -> None:
        """Let what the quorum has settled take effect: from where the log goes on, and who leads it."""
        self.metadata.follow_quorum(now)
        self.controller.follow_quorum(now)

    def _follow_metadata(self, now: Millis) -> None:
        """Let newly committed metadata take effect."""
        if not self.metadata_publisher.is_due:
            return
        delta = self.metadata_publisher.follow(now)
        self._settle_if_ready(now)
        self.housekeeping.gave_up_folders()
        if any(kind == BROKER for kind, _ in delta.configs):
            self.live.forget()
            self.step.emit(Reconfigure(self.live.current()))

    def _settle_if_ready(self, now: Millis) -> None:
        if self.ready and not self.replica_manager.is_behind:
            self.directory_assignments.send(now)
            if not self.metadata_publisher.settled:
                self.metadata_publisher.settle(now)
                self.live.warn_of_the_overruled()

    def _take_flushes(self, now: Millis) -> list[Flush]:
        """The fsyncs that can begin; of those that cannot, whoever waits for them is told."""
        at_once, in_time = self.step.take_flushes()
        for partition in at_once:
            if not partition.retired:
                self.flush_queue.want(partition)
        for partition in in_time:
            self.housekeeping.written(partition)
        begun = self.flush_queue.start(now)
        for partition in self.flush_queue.take_refused():
            self.step.moved(partition)
            self.housekeeping.could_not_flush(partition, now)
        return begun
