"""The cluster's metadata at this node: what is committed of its log, and the controller where the log is led.

    request ─▶ controller.decide ─▶ __cluster_metadata-0 ─(fsync, majority)─▶ watermark
                    │ replay                                                     │ replay
                    ▼                                                            ▼
             the controller's image: as appended                 the broker's image: as committed

Clients are told, and partitions made, from the committed image only. What has been applied is a position in the log;
`apply` reads on from there to the watermark and says what has changed. A start begins with the newest snapshot, and so
does a node that was away for too long (snapshot_fetcher.py); then what it changes is told like anything else.

The controller lives where the log is led, for as long as it is: a node that begins to lead makes one out of its image
and the rest of its log (`follow_quorum`), and drops it when it leads no more. Those who wait for it then
are sent to the next.

Where the controller is, all nodes come to fetch, again and again. One whose connection breaks and who does not come
back is gone: it is fenced then and there (connection_watch.py), without waiting for its session to run out.

Read next: raft_client.py, controller_channel.py for how requests get here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from andiron.broker.coordinators.shard import READ_BYTES, Shard, batches_between, data_records
from andiron.broker.metadata.bootstrap_checkpoint import bootstrap_records
from andiron.broker.metadata.connection_watch import ConnectionWatch
from andiron.broker.metadata.known_brokers import KnownBrokers
from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.metadata.raft_facts import LeadershipGained, LeadershipLost, SnapshotLoaded
from andiron.broker.metadata.snapshot_generator import SnapshotGenerator
from andiron.broker.metadata.standalone_format import format_standalone, may_format_standalone
from andiron.broker.node.calls import Calls
from andiron.broker.node.patience import METADATA_RETRY_MS
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.broker_heartbeats import BrokerGone
from andiron.controller.controller import BeginCluster, Controller
from andiron.controller.image import Delta, Image
from andiron.controller.image_writer import changes, offset_of, records_of
from andiron.controller.records import MetadataRecord, decode_record, encode_record
from andiron.model.chance import Chance
from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Address, Millis, NodeId, Offset
from andiron.model.line import Line
from andiron.model.machine import LogLoaded, TimePassed
from andiron.records.batch import Batch

log = logging.getLogger(__name__)


class Metadata:
    """The image of what is committed, and the controller where this node leads."""

    _cutting: SnapshotGenerator

    def __init__(
        self, settings: NodeSettings, directories: LogDirectories, chance: Chance, calls: Calls,
        flush_queue: FlushQueue, step: Step,
    ) -> None:  # fmt: skip
        self._settings, self._directories, self._chance = settings, directories, chance
        self._flush_queue, self._step = flush_queue, step
        self.raft = RaftClient(settings, directories, chance, calls, flush_queue, step)
        self.image = Image()
        self.known_brokers = KnownBrokers(settings.membership.broker_session_timeout_ms)
        self.applied = Offset(0)
        self._applied_time = Millis(-1)  # of the last record
        self._skipped = False  # a part of the log, by a snapshot of which nobody has been told yet
        self._not_understood: str | None = None  # what is committed, and this program does not know
        self._shard: Shard[Controller] | None = None
        self._controller_at = NEVER  # when the controller wants to be asked
        self._rests_until = Millis(0)  # after what it had to do could not be written
        self._watch = ConnectionWatch()

    def open(self, now: Millis) -> None:
        """Open the log; raises before anything is changed where what was committed is damaged or gone. A node by itself
        that has none begins with what makes it a cluster."""
        directories = self._directories
        self.raft.open(now)
        is_new = not self.partition.log.end and not self.raft.snapshots.table
        if is_new and may_format_standalone(self._settings):
            format_standalone(
                self._settings, directories.disk, self.raft.snapshots, directories.metadata_id, now
            )

    def start(self, now: Millis) -> None:
        """Read what the log stands on, and take part in the quorum."""
        raft = self.raft
        newest = raft.snapshots.newest()
        if newest is not None:
            self.image, self.applied = newest.image, newest.id.end
        self._cutting = SnapshotGenerator(
            self._settings.metadata_log, raft, self.image, self._flush_queue, now
        )
        raft.start(None if newest is None else newest.voters, now)
        self.follow_quorum(now)

    @property
    def partition(self) -> Partition:
        """The metadata log, as one of the partitions here."""
        return self.raft.partition

    def address_of(self, broker: NodeId) -> Address | None:
        """Where other brokers reach a broker; None while it is not there."""
        known = self.image.brokers.get(broker)
        if known is None or known.fenced:
            return None
        return Address(*known.endpoint(self._settings.inter_broker_listener))

    @property
    def broken(self) -> str | None:
        """Why this node can be of no use any more, and should end."""
        if self._not_understood is not None:
            return self._not_understood
        failure = self.raft.broken
        return None if failure is None else f"the metadata log cannot be written: {failure}"

    # ── who decides ──────────────────────────────────────────────────────────────────

    @property
    def leads(self) -> bool:
        """Whether the controller is here: it is made, and its log is still led in the epoch that it was made for."""
        shard = self._shard
        return shard is not None and self.raft.leads and shard.epoch == self.partition.epoch

    @property
    def is_of_this_epoch(self) -> bool:
        """Whether what takes effect next was written in the present epoch of the metadata log."""
        return self.partition.log.epochs.epoch_of(self.applied) == self.partition.epoch

    @property
    def controller_id(self) -> NodeId:
        """The node that decides, as far as this one knows; -1 if nobody is known to."""
        return self.raft.leader

    @property
    def controller_address(self) -> Address | None:
        """Where it is asked."""
        return self.raft.address_of(self.controller_id)

    @property
    def can_be_decided_on(self) -> bool:
        """Whether most of the voters may be there: those that stopped before this node, as brokers, are not."""
        voters, brokers = self.raft.quorum.voters, self.image.brokers
        gone = [each for each in voters if each in brokers and brokers[each].fenced]
        return voters.is_majority(each for each in voters if each not in gone)

    def is_live(self, node: NodeId) -> bool:
        """Whether a broker may lead partitions and be in sync, by what is committed."""
        return self.image.is_live(node)

    def decide(self, request: object, now: Millis, timeout_ms: int) -> Wait:
        """Let the controller decide, which is to be here."""
        shard = self._shard
        if shard is None or not self.leads:
            raise ErrorCode.NOT_CONTROLLER.error("the controller is on another node")
        try:
            return shard.run(request, now, timeout_ms)
        finally:
            if shard.gone:
                self._lost()
                self._leads(now)  # what was not written must not be thought of either
            else:
                is_over = self.partition.failure is not None  # nothing can be decided until a restart
                due = max(shard.machine.next_deadline(), self._rests_until)
                self._controller_at = NEVER if is_over else due

    def follow_quorum(self, now: Millis) -> None:
        """Let what the quorum has settled take effect: who leads, and from where the log goes on."""
        for fact in self.raft.facts.take():
            match fact:
                case LeadershipGained(epoch):
                    if self.raft.leads and self.partition.epoch == epoch:
                        self._leads(now)
                case LeadershipLost():
                    self._lost()
                case SnapshotLoaded():
                    self._replaced(fact, now)

    def _leads(self, now: Millis) -> None:
        seed = int.from_bytes(self._chance.token(16), "big")
        controller = Controller(
            self._settings.for_controller(self._directories.cluster_id), seed,
            lambda: bootstrap_records(self._directories.disk, self._settings.metadata_log_dir),
        )  # fmt: skip
        shard = self._shard = Shard(
            self.partition, controller, _encode, self._step, gone=ErrorCode.NOT_CONTROLLER
        )
        for record in records_of(self.image):
            controller.replay(record, offset_of(self.image))
        for waiting in self.image.transaction.waiting:
            controller.replay(*waiting)
        position, held = self.applied, self.partition.log
        while position < held.end:
            position = shard.load(_records, position, READ_BYTES)
        for request in (BeginCluster(), LogLoaded()):
            self._see_to(request, now)
        others = [each.id for each in controller.image.brokers.values() if each.id != self._settings.node_id]
        self._watch.begin(others, self.raft.leader_before, now)
        self._step.touch(self.raft)

    def fetched_by(self, node: NodeId, offset: Offset, conn: int, now: Millis) -> None:
        """A node follows the metadata from here."""
        self.raft.fetched_by(node, offset, now)
        self.follow_quorum(now)  # a leader that was voted out resigns when that is committed
        self._watch.seen(node, conn)

    def heard_of(self, node: NodeId, conn: int, now: Millis) -> None:
        """A node fetches a snapshot from here."""
        self.raft.heard_of(node, now)
        self._watch.seen(node, conn)

    def disconnected(self, conn: int, now: Millis) -> None:
        """A connection is gone; a node that fetched through it may be gone with it."""
        if self._shard is not None:
            self._watch.lost(conn, now)

    def _lost(self) -> None:
        shard, self._shard, self._controller_at = self._shard, None, NEVER
        self._watch = ConnectionWatch()
        self._step.touch(self.raft)
        if shard is not None:
            shard.gone = True
            self._step.touch(shard)

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return min(
            self.raft.next_deadline(),
            self._controller_at,
            self._watch.next_deadline(),
            self._cutting.next_deadline(),
        )

    def tick(self, now: Millis) -> None:
        """Do what time has brought."""
        self.raft.tick(now)
        self.follow_quorum(now)
        self._cutting.tick(self.applied, self._applied_time, now)
        if self._controller_at <= now:
            self._see_to(TimePassed(), now)
        for node in self._watch.take_gone(now):
            broker = self.image.brokers.get(node)
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
            self._controller_at = self._rests_until = Millis(now + METADATA_RETRY_MS)

    # ── what is committed ────────────────────────────────────────────────────────────

    def has_news(self) -> bool:
        """Whether more is committed than has been applied."""
        has_grown = self.applied < self.partition.watermark and self._not_understood is None
        return self._skipped or has_grown

    def apply(self) -> None:
        """Bring the image up to the watermark; a snapshot may have brought it further, where nobody leads yet. What is
        committed and not understood ends the node: to go on without it would be to disagree with the others."""
        watermark, size, self._skipped = max(self.applied, self.partition.watermark), 0, False
        for batch in batches_between(self.partition, self.applied, watermark):
            try:
                for offset, record in _records(batch):
                    if offset >= self.applied:
                        self.image.replay(record, Offset(offset))
            except AndironError as error:
                self._not_understood = (
                    f"the metadata log has, from offset {batch.base_offset} on, what this version of Andiron does not "
                    f"understand: {error}; a version is wanted that knows what its leader writes"
                )
                return
            size, self._applied_time = size + batch.size, Millis(batch.max_timestamp)
            self.applied = Offset(batch.next_offset)
        self.applied = watermark
        self._cutting.committed(size)

    def take_delta(self) -> Delta:
        """What has changed in the image since this was last asked."""
        return self.image.take_delta()

    def _replaced(self, whole: SnapshotLoaded, now: Millis) -> None:
        """The log goes on from where a snapshot ends; what is in between comes with it."""
        self.image.transaction.forget()
        for record in changes(self.image, whole.image):
            self.image.replay(record, Offset(whole.id.end - 1))
        self.applied, self._skipped = whole.id.end, True
        self._cutting.start_anew(now)


def _encode(record: MetadataRecord) -> tuple[None, bytes]:
    """Records of the metadata log have no key: all of them count, not the latest of each."""
    return None, encode_record(record)


def _records(batch: Batch) -> Iterator[tuple[int, MetadataRecord]]:
    for record in data_records(batch):
        yield record.offset, decode_record(record.value or b"")
