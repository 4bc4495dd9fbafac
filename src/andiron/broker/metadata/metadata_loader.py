"""MetadataLoader: what the quorum has committed of the metadata log, replayed into this node's image.

    __cluster_metadata-0 ─(fsync, majority)─▶ high watermark ─▶ apply ─▶ image ─▶ delta ─▶ metadata_publisher.py
    snapshots ─▶ start: the newest of this node; follow_quorum: one of the leader's, fetched by a node that was away

Clients are told, and partitions made, from this image only: the controller's own (quorum_controller.py) is ahead of it
by what is appended and not committed. What has been applied is a position in the log; `apply` reads on from there to
the high watermark and says what has changed. A start begins with the newest snapshot, and so does a node that was away
for too long (snapshot_fetcher.py); then what it changes is told like anything else.

Read next: metadata_publisher.py, for what the image brings about; raft_client.py, for what is committed.
"""

from __future__ import annotations

from collections.abc import Iterator

from andiron.broker.coordinators.shard import batches_between, data_records
from andiron.broker.metadata.known_brokers import KnownBrokers
from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.metadata.raft_facts import SnapshotLoaded
from andiron.broker.metadata.snapshot_files import SnapshotReader
from andiron.broker.metadata.snapshot_generator import SnapshotGenerator
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.partition import Partition
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.image import Delta, Image
from andiron.controller.image_writer import changes
from andiron.controller.records import MetadataRecord, decode_record
from andiron.model.errors import AndironError
from andiron.model.ids import Address, Millis, NodeId, Offset
from andiron.records.batch import Batch


class MetadataLoader:
    """The image of what is committed, and how far into the log it goes."""

    _snapshot_generator: SnapshotGenerator

    def __init__(self, settings: NodeSettings, raft: RaftClient, flush_queue: FlushQueue) -> None:
        self._settings, self._raft, self._flush_queue = settings, raft, flush_queue
        self.image = Image()
        self.known_brokers = KnownBrokers(settings.membership.broker_session_timeout_ms)
        self.applied = Offset(0)
        self._applied_time = Millis(-1)  # of the last record
        self._skipped = False  # a part of the log, by a snapshot of which nobody has been told yet
        self.broken: str | None = None  # what is committed and not understood: the node should end

    def start(self, newest: SnapshotReader | None, now: Millis) -> None:
        """Begin with what the log stands on, the newest snapshot; the log after it is read as it is known to count."""
        if newest is not None:
            self.image, self.applied = newest.image, newest.id.end
        self._snapshot_generator = SnapshotGenerator(
            self._settings.metadata_log, self._raft, self.image, self._flush_queue, now
        )

    @property
    def partition(self) -> Partition:
        """The metadata log, as one of the partitions here."""
        return self._raft.partition

    # ── what is committed ────────────────────────────────────────────────────────────

    def has_news(self) -> bool:
        """Whether more is committed than has been applied."""
        has_grown = self.applied < self.partition.watermark and self.broken is None
        return self._skipped or has_grown

    def apply(self) -> None:
        """Bring the image up to the watermark; a snapshot may have brought it further, where nobody leads yet. What is
        committed and not understood ends the node: to go on without it would be to disagree with the others."""
        watermark, size, self._skipped = max(self.applied, self.partition.watermark), 0, False
        for batch in batches_between(self.partition, self.applied, watermark):
            try:
                for offset, record in metadata_records(batch):
                    if offset >= self.applied:
                        self.image.replay(record, Offset(offset))
            except AndironError as error:
                self.broken = (
                    f"the metadata log has, from offset {batch.base_offset} on, what this version of Andiron does not "
                    f"understand: {error}; a version is wanted that knows what its leader writes"
                )
                return
            size, self._applied_time = size + batch.size, Millis(batch.max_timestamp)
            self.applied = Offset(batch.next_offset)
        self.applied = watermark
        self._snapshot_generator.committed(size)

    def take_delta(self) -> Delta:
        """What has changed in the image since this was last asked."""
        return self.image.take_delta()

    def follow_quorum(self, now: Millis) -> None:
        """Go on from where a snapshot ends, if the log here does; what is in between comes with it."""
        for loaded in self._raft.facts.take_snapshots():
            self._load_snapshot(loaded, now)

    def _load_snapshot(self, loaded: SnapshotLoaded, now: Millis) -> None:
        self.image.transaction.forget()
        for record in changes(self.image, loaded.image):
            self.image.replay(record, Offset(loaded.id.end - 1))
        self.applied, self._skipped = loaded.id.end, True
        self._snapshot_generator.start_anew(now)

    # ── what it says ─────────────────────────────────────────────────────────────────

    @property
    def is_decided_here(self) -> bool:
        """Whether what takes effect next was written by this node, as the leader that it still is."""
        epoch = self.partition.epoch
        return self._raft.leads and self.partition.log.epochs.epoch_of(self.applied) == epoch

    @property
    def can_be_decided_on(self) -> bool:
        """Whether most of the voters may be there: those that stopped before this node, as brokers, are not."""
        voters, brokers = self._raft.quorum.voters, self.image.brokers
        gone = [each for each in voters if each in brokers and brokers[each].fenced]
        return voters.is_majority(each for each in voters if each not in gone)

    def is_live(self, node: NodeId) -> bool:
        """Whether a broker may lead partitions and be in sync, by what is committed."""
        return self.image.is_live(node)

    def address_of(self, broker: NodeId) -> Address | None:
        """Where other brokers reach a broker; None while it is not there."""
        known = self.image.brokers.get(broker)
        if known is None or known.fenced:
            return None
        return Address(*known.endpoint(self._settings.inter_broker_listener))

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return self._snapshot_generator.next_deadline()

    def tick(self, now: Millis) -> None:
        """Cut a snapshot of the image, or go on with one, where that is due."""
        self._snapshot_generator.tick(self.applied, self._applied_time, now)


def metadata_records(batch: Batch) -> Iterator[tuple[int, MetadataRecord]]:
    """The records of a batch of the metadata log, each with its offset."""
    for record in data_records(batch):
        yield record.offset, decode_record(record.value or b"")
