"""QuorumController: the controller at this node, active where the metadata log is led (KIP-631).

    request ─▶ decide ─▶ controller/controller.py ─▶ records ─▶ append to __cluster_metadata-0 ─▶ Wait: committed
                               ▲                                  │ replay
                               └─ the controller's image ◀────────┘   as appended; metadata_loader.py's is as committed

The deciding machine lives for as long as the log is led here: a node that begins to lead makes one out of the committed
image and the rest of its log (`follow_quorum`), and drops it when it leads no more. Those who wait for it then are
sent to the next.

Where the active controller is, all nodes come to fetch, again and again. One whose connection breaks and who does not
come back is gone: it is fenced then and there (connection_watch.py), without waiting for its session to run out.

Read next: controller_channel.py, by which requests get here; coordinators/shard.py, which runs the machine.
"""

from __future__ import annotations

import logging

from andiron.broker.coordinators.shard import READ_BYTES, Shard
from andiron.broker.metadata.bootstrap_checkpoint import bootstrap_records
from andiron.broker.metadata.connection_watch import ConnectionWatch
from andiron.broker.metadata.metadata_loader import MetadataLoader, metadata_records
from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.metadata.raft_facts import LeadershipGained, LeadershipLost
from andiron.broker.node.patience import METADATA_RETRY_MS
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.broker_heartbeats import BrokerGone
from andiron.controller.controller import BeginCluster, Controller
from andiron.controller.image_writer import offset_of, records_of
from andiron.controller.records import MetadataRecord, encode_record
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, NodeId, Offset
from andiron.model.line import Line
from andiron.model.machine import LogLoaded, TimePassed

log = logging.getLogger(__name__)


class QuorumController:
    """The door to the controller where this node has it, and who follows the metadata from there."""

    def __init__(
        self, settings: NodeSettings, directories: LogDirectories, chance: Chance, raft: RaftClient,
        metadata: MetadataLoader, step: Step,
    ) -> None:  # fmt: skip
        self._settings, self._directories, self._chance = settings, directories, chance
        self._raft, self._metadata, self._step = raft, metadata, step
        self._shard: Shard[Controller] | None = None
        self._due = NEVER  # when the controller wants to be asked
        self._rests_until = Millis(0)  # after what it had to do could not be written
        self._watch = ConnectionWatch()

    @property
    def is_active(self) -> bool:
        """Whether the controller is here: it is made, and its log is still led in the epoch that it was made for."""
        shard = self._shard
        return shard is not None and self._raft.leads and shard.epoch == self._raft.partition.epoch

    def decide(self, request: object, now: Millis, timeout_ms: int) -> Wait:
        """Let the controller decide, which is to be here; the Wait gives its response once that is committed."""
        shard = self._shard
        if shard is None or not self.is_active:
            raise ErrorCode.NOT_CONTROLLER.error("the controller is on another node")
        try:
            return shard.run(request, now, timeout_ms)
        finally:
            if shard.gone:
                self._resign()
                self._activate(now)  # what was not written must not be thought of either
            else:
                is_over = self._raft.partition.failure is not None  # nothing can be decided until a restart
                due = max(shard.machine.next_deadline(), self._rests_until)
                self._due = NEVER if is_over else due

    # ── leadership comes and goes ────────────────────────────────────────────────────

    def follow_quorum(self, now: Millis) -> None:
        """Make the controller where this node begins to lead the metadata, and drop it where that is over."""
        for fact in self._raft.facts.take_leadership():
            match fact:
                case LeadershipGained(epoch):
                    if self._raft.leads and self._raft.partition.epoch == epoch:
                        self._activate(now)
                case LeadershipLost():
                    self._resign()

    def _activate(self, now: Millis) -> None:
        seed = int.from_bytes(self._chance.token(16), "big")
        controller = Controller(
            self._settings.for_controller(self._directories.cluster_id), seed,
            lambda: bootstrap_records(self._directories.disk, self._settings.metadata_log_dir),
        )  # fmt: skip
        self._shard = shard = Shard(
            self._raft.partition, controller, _encode, self._step, gone=ErrorCode.NOT_CONTROLLER
        )
        committed = self._metadata.image
        for record in records_of(committed):
            controller.replay(record, offset_of(committed))
        for waiting in committed.transaction.waiting:
            controller.replay(*waiting)
        position, held = self._metadata.applied, self._raft.partition.log
        while position < held.end:
            position = shard.load(metadata_records, position, READ_BYTES)
        for request in (BeginCluster(), LogLoaded()):
            self._see_to(request, now)
        others = [each.id for each in controller.image.brokers.values() if each.id != self._settings.node_id]
        self._watch.begin(others, self._raft.leader_before, now)
        self._step.touch(self._raft)

    def _resign(self) -> None:
        shard, self._shard, self._due = self._shard, None, NEVER
        self._watch = ConnectionWatch()
        self._step.touch(self._raft)
        if shard is not None:
            shard.gone = True
            self._step.touch(shard)

    # ── who follows the metadata from here ───────────────────────────────────────────

    def fetched_by(self, node: NodeId, offset: Offset, conn: int, now: Millis) -> None:
        """A voter or observer has shown how far its metadata log goes; that it is this one's log is known."""
        partition = self._raft.partition
        watermark = partition.watermark
        self._raft.fetched_by(node, offset, now)
        self.follow_quorum(now)  # a leader that was voted out resigns when that is committed
        self._watch.seen(node, conn)
        if partition.watermark != watermark:
            self._step.committed(partition)

    def heard_of(self, node: NodeId, conn: int, now: Millis) -> None:
        """A node fetches a snapshot from here."""
        self._raft.heard_of(node, now)
        self._watch.seen(node, conn)

    def disconnected(self, conn: int, now: Millis) -> None:
        """A connection is gone; a node that fetched through it may be gone with it."""
        if self._shard is not None:
            self._watch.lost(conn, now)

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return min(self._due, self._watch.next_deadline())

    def tick(self, now: Millis) -> None:
        """Let the controller do what is due, and fence the brokers whose connections broke for good."""
        if self._due <= now:
            self._see_to(TimePassed(), now)
        for node in self._watch.take_gone(now):
            broker = self._metadata.image.brokers.get(node)
            if broker is not None and not broker.fenced:
                log.warning(Line(
                    "Broker {broker} is gone: its connection to the controller broke, and it did not come back",
                    broker=node,
                ))  # fmt: skip
                self._see_to(BrokerGone(node), now)

    def _see_to(self, request: object, now: Millis) -> None:
        try:
            self.decide(request, now, 0)
        except ProtocolError as error:
            log.warning(Line(
                "Controller cannot write what is due to the metadata log, and tries again",
                error=error.detail,
            ))  # fmt: skip
            self._due = self._rests_until = Millis(now + METADATA_RETRY_MS)


def _encode(record: MetadataRecord) -> tuple[None, bytes]:
    """Records of the metadata log have no key: all of them count, not the latest of each."""
    return None, encode_record(record)
