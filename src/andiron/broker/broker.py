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
                          ├─ waiting       requests that cannot be answered yet
                          ├─ flushing      fsyncs wanted and under way
                          └─ housekeeping  retention, compaction, checkpoints: what time brings

A handler changes things through here and the broker notes what it touched; node.py asks for that when the step ends.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from andiron.broker.coordinators.group_coordinator import GroupCoordinator
from andiron.broker.coordinators.marker_sender import MarkerSender
from andiron.broker.coordinators.marker_writer import MarkerWriter
from andiron.broker.coordinators.transaction_coordinator import TransactionCoordinator
from andiron.broker.metadata.broker_lifecycle import Lifecycle, Stage
from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.known_brokers import Acquaintances
from andiron.broker.metadata.metadata import Metadata
from andiron.broker.metadata.producer_ids import ProducerIds
from andiron.broker.metadata.publisher import Following
from andiron.broker.node.calls import Calls
from andiron.broker.node.request import Request
from andiron.broker.node.seldom import Seldom
from andiron.broker.node.turns import Turns
from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.broker.replicas.directory_assignments import ReplicaPlaces
from andiron.broker.replicas.fetch_sessions import FetchSessions
from andiron.broker.replicas.fetcher_manager import Fetchers
from andiron.broker.replicas.flushing import Flushing
from andiron.broker.replicas.follower_states import Followers
from andiron.broker.replicas.housekeeping import Housekeeping
from andiron.broker.replicas.isr import InSync
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition, Written
from andiron.broker.replicas.partitions import Partitions, close_all
from andiron.broker.replicas.replica_fetcher import Surroundings
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.broker.settings.dynamic_settings import LiveSettings
from andiron.broker.settings.listeners import Scope
from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.telemetry.client_telemetry import ClientTelemetry
from andiron.controller.image import BROKER, Image
from andiron.log.disk import Disk
from andiron.model.chance import Chance
from andiron.model.effects import Answered, Effect, Finished, Flushed, Reconfigure, Unanswered
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, NodeId

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
        self.now = Millis(0)  # of this step
        self._chance = chance = Chance(seed)
        me, name, clock = NodeId(settings.node_id), f"node-{settings.node_id}", partial(getattr, self, "now")
        self.waiting, self._disk = WaitingRoom(), disk
        self.directories = LogDirectories(disk, chance)
        self.calls = Calls(name, self.touch, self._note_change)
        self.flushing = Flushing()
        self.metadata = Metadata(
            settings, disk, chance, self.calls, lambda: self.cluster_id, lambda: self.directories.metadata_id,
            self.flushing.sync, self.appended, self._metadata_grown, self.touch,
        )  # fmt: skip
        self.channel = ControllerChannel(self.metadata, self.calls, name, clock)
        self.lifecycle = Lifecycle(
            settings, self.metadata, self.channel.decide, self.waiting.later, clock,
            lambda: self.partitions.is_behind,
        )  # fmt: skip
        self.fetchers = Fetchers(
            Surroundings(
                me, self.calls, settings.replication, self.metadata.address_of, lambda: self.lifecycle.epoch,
                self._replicated, ReplicationQuota(lambda: self.live.current().follower_replication_throttled_rate),
                lambda: Housekeeping.save_starts(self.housekeeping),
            )
        )  # fmt: skip
        self.in_sync = InSync(
            me, lambda: self.lifecycle.epoch, self.metadata.is_live, self.channel.decide, self.waiting.later,
            self.touch, clock,
        )  # fmt: skip
        self.places = ReplicaPlaces(
            me, lambda: self.lifecycle.epoch, self.channel.decide, self.waiting.later, clock
        )
        quota = ReplicationQuota(lambda: self.live.current().leader_replication_throttled_rate)
        self.followers = Followers(self.metadata, self.in_sync, quota, {}, self.touch, self._touch_readers)
        self.partitions = Partitions(
            settings, self.directories, self.fetchers, self.places, self.followers.heard, self.in_sync.count
        )
        self.turns = Turns(self.touch)
        self.sessions = FetchSessions(settings.broker.max_incremental_fetch_session_cache_slots, chance)
        self.live = LiveSettings(settings, self.metadata)
        self.telemetry = ClientTelemetry(lambda: self.image, settings.broker.telemetry_max_bytes, chance)
        self.housekeeping = Housekeeping(
            self.live.current, disk, self.directories, self.partitions, self.flushing, self.touch
        )
        self.groups = GroupCoordinator(settings.groups, self.metadata, chance, self.appended, self.touch)
        self.markers = MarkerWriter(self.partition_by_name, self.groups, self.appended)
        sender = MarkerSender(me, self.metadata, self.calls, self.markers.write)
        self.transactions = TransactionCoordinator(
            settings.transactions, self.metadata, self.appended, self.touch, sender.send, self.waiting.later
        )
        self.following = Following(
            self.metadata, self.partitions, self.lifecycle, self.in_sync, self.flushing, self.housekeeping,
            self.groups, self.transactions, self.touch,
            Acquaintances(settings.membership.broker_session_timeout_ms), is_broker=self._is_broker,
        )  # fmt: skip
        self.producer_ids = ProducerIds()
        self.seldom, self.unmade = (
            Seldom(),
            dict[str, str](),
        )  # why internal topics are not there (topic_creation.py)
        self.changed = False  # in this step, in a way that its end must look at
        self._touched: dict[Hashable, None] = {}
        self._effects: list[Effect] = []

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, now: Millis) -> None:
        """Open the metadata log and stand for election; partitions come with the committed metadata."""
        settings, directories = self.settings, self.directories
        self.now = now
        directories.open(settings.log_dirs, settings.metadata_log_dir, settings.node_id)
        self.metadata.open(directories, now)
        directories.begin()
        self.metadata.start(now)
        life = self._chance.uuid()
        if self._is_broker:
            self.lifecycle.start(self.cluster_id, life, directories.ids, directories.clean_epoch, now)
        self.lifecycle.controller.start(life, now)

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
        return self.following.settled

    def leave(self, now: Millis) -> None:
        """Hand over what is led here, as far as others can take it."""
        if self._is_broker and self.settings.membership.controlled_shutdown_enable:
            self.lifecycle.leave(now)
        else:
            self.lifecycle.stage = Stage.LEFT

    def stop(self, now: Millis) -> bool:
        """Bring everything to the disk and mark the shutdown as a clean one, if all of it got there."""
        is_whole = not self.partitions.unopened
        clean = close_all(self._disk, [self.metadata.partition, *self.partitions]) and is_whole
        self.metadata.member.note_flushed()
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

    def touch(self, key: Hashable) -> None:
        """Something happened to this partition (shard, promise): who waits for it looks again when the step ends."""
        if type(key) is Partition:
            if key.log.producers.unreplicated:
                key.log.producers.committed(key.watermark)
            for watcher in key.watchers:
                watcher.moved(key)
                self.touch(watcher)
        if self.waiting.watched(key):
            self._touched[key] = None
            self.changed = True

    def _touch_readers(self, partition: Partition) -> None:
        """More of it is committed: that is news to everybody but followers."""
        self.changed = True
        partition.log.producers.committed(partition.watermark)
        for watcher in partition.watchers:
            watcher.moved(partition)
            if not watcher.is_replicas:
                self.touch(watcher)
        if self.waiting.watched(partition):
            self._touched[partition] = None

    def flushed(self, event: Flushed, now: Millis) -> None:
        self.changed = True
        partition = self.flushing.done(event, now)
        if partition is None:
            return
        if partition.failure is not None:
            self.places.lost(partition.topic_id, partition.name.partition)
            self.places.send(now)
        self.touch(partition)
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
        if self.partitions.is_behind:
            self.following.open_more(now)
        self._settle_if_ready(now)
        self._effects += self.housekeeping.run(now)
        self.groups.shards.tick(now)
        self.transactions.tick(now)
        self.changed = True

    def _want_flush(self, partition: Partition) -> None:
        self.flushing.want(partition)
        self.changed = True

    def next_deadline(self) -> Millis:
        if self.partitions.is_behind:
            return self.now
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
        if self.following.is_due:
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
            self.housekeeping.could_not_flush(partition, self.now)
        return effects

    def _follow_metadata(self, now: Millis) -> None:
        """Let newly committed metadata take effect."""
        delta = self.following.follow(now)
        self._settle_if_ready(now)
        self.housekeeping.gave_up_folders()
        if any(kind == BROKER for kind, _ in delta.configs):
            self.live.forget()
            self._effects.append(Reconfigure(self.live.current()))
            self.changed = True

    def _settle_if_ready(self, now: Millis) -> None:
        if self.ready and not self.partitions.is_behind:
            self.places.send(now)
            if not self.following.settled:
                self.following.settle(self.settings.replication.replica_lag_time_max_ms, now)
                self.live.warn_of_the_overruled()

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

    def _note_change(self) -> None:
        """The end of this step has something to do."""
        self.changed = True
