"""A log only grows: by batches that were sent, whole, at the next offset, each producer's in turn and once.

Every batch is looked at once, when it appears, and then stands in the mirror (mirror.py). What coordinators
write to logs, theirs and others', is looked at elsewhere (replaying.py, markers.py).

A producer's sequence goes on where it stopped. The one way to write a batch twice is to have forgotten
its producer, which a restarted node may do once nothing that this producer wrote is left in the log.

A follower has what a leader wrote, in the leader's epoch and at its offset, and leaves nothing out but what compaction
took. It takes back what was never committed, and nothing else; or it begins anew where its leader's log begins
(replication/follower.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.broker.replicas.partition import Partition
from andiron.log.settings import LogSettings
from andiron.model.ids import Millis
from andiron.records.batch import Batch
from andiron.records.record import Record, records_of
from andiron.sim.canon import Canon, Canons
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.ledger import Ledger, same_contents
from andiron.sim.mirror import Key, Mirror, Mirrors, key_of
from andiron.sim.watcher import Violation, Watcher

GROWS = "a log only grows"
SENT = "nothing is in a log but what was sent"
ONCE = "a sequence is there once and in turn"
COPIES = "a follower has what a leader wrote"
TAKEN_BACK = "a follower takes back only what was never committed"


class LogsGrow(Watcher):
    """Keeps the mirrors, and the laws of growing."""

    def __init__(self, mirrors: Mirrors, ledger: Ledger, canons: Canons | None = None) -> None:
        """`canons` are for those who are not alone."""
        self._mirrors, self._ledger, self._canons = mirrors, ledger, canons

    def said(self, host: Host, exchange: Exchange) -> None:
        """What is said may be about what was appended in this very step."""
        assert host.node is not None
        self._look_at(host, host.node.broker.replica_manager)

    def stepped(self, host: Host) -> None:
        self._look_at(host, host.changed)

    def _look_at(self, host: Host, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            log = partition.log
            mirror = self._mirrors.get(key_of(host, partition))
            if mirror is None:
                if log.start and not self._follows(partition):
                    raise Violation(GROWS, f"{partition.name} is new, and starts at {log.start}")
                mirror = self._mirrors.of(host, partition)
            if mirror.fell is not None:
                continue
            if self._canons is not None:
                self._note_beginning(partition, mirror)
            if log.end != mirror.end:
                self._look(host, partition, mirror)
            mirror.keep(log.flushed_end)
            if log.settings is not mirror.settings:
                self._note_settings(key_of(host, partition), log.settings)

    def _note_settings(self, key: Key, settings: LogSettings) -> None:
        """Settings come and go; what they have allowed stays allowed. Until when a tombstone stays is written into its
        batch by the first that compacts it, and a replica that was away meanwhile goes by that."""
        mirror = self._mirrors[key]
        mirror.settings = settings
        if settings.flush_messages != 1:
            mirror.always_durable = False
        if "compact" in settings.cleanup_policy:
            mirror.was_compacted = True
            for each in self._mirrors.replicas(key):
                each.delete_retention_ms = min(each.delete_retention_ms, Millis(settings.delete_retention_ms))

    def _follows(self, partition: Partition) -> bool:
        return self._canons is not None and not partition.leads

    def _look(self, host: Host, partition: Partition, mirror: Mirror) -> None:
        end = partition.log.end
        if end < mirror.end:
            if not self._follows(partition):
                raise Violation(GROWS, f"{mirror.name} ended at {mirror.end}, and now ends at {end}")
            self._check_taken_back(host, partition, mirror)
            mirror.cut(end)
        for batch in mirror.appended(host, partition):
            self.take(host, partition, mirror, batch)
        if mirror.end != end:
            raise Violation(GROWS, f"{mirror.name} ends at {end}, and on the disk at {mirror.end}")

    def take(
        self, host: Host, partition: Partition, mirror: Mirror, batch: Batch, *, found: bool = False
    ) -> None:
        """Hold the next batch of a log against the laws; then it is part of it. `found`: after a restart, and it may
        be of a step that was cut short."""
        if not batch.is_intact():
            raise Violation(SENT, f"{batch} of {mirror.name} fails its checksum")
        records = list(records_of(batch))
        canon = None if self._canons is None else self._canons.of(partition)
        since = None if canon is None else canon.written_at(batch, records)
        if canon is not None and (canon.knows(batch, records) or (self._follows(partition) and not found)):
            _check_copy(host, mirror, canon, batch, records)
        else:
            self._check_written(host, mirror, batch, records)
            if canon is not None:
                canon.write(batch.leader_epoch, records, host.world.now)
        age_ms = 0 if since is None else host.world.now - since
        mirror.add(batch, records, Millis(host.clock.reach - age_ms))

    # ── what a leader writes ─────────────────────────────────────────────────────────

    def _check_written(self, host: Host, mirror: Mirror, batch: Batch, records: list[Record]) -> None:
        if batch.base_offset != mirror.end:
            raise Violation(GROWS, f"{mirror.name} ended at {mirror.end}, and {batch} follows")
        if not batch.is_control and mirror.name.topic not in INTERNAL:
            self._check_sent(mirror, batch, records)
        if batch.base_sequence >= 0:
            _check_turn(host, mirror, batch)

    def _check_sent(self, mirror: Mirror, batch: Batch, records: list[Record]) -> None:
        sent = self._ledger.find(records[0]) if records else None
        if sent is None or not same_contents(sent, batch, records):
            raise Violation(SENT, f"{batch} of {mirror.name} is not what anyone sent")
        if sent.partition != mirror.name or sent.base_sequence != batch.base_sequence:
            raise Violation(SENT, f"{batch} of {mirror.name} was sent to {sent.partition}")

    # ── what a follower does ─────────────────────────────────────────────────────────

    def _note_beginning(self, partition: Partition, mirror: Mirror) -> None:
        """A log whose first segment is one that was never seen has begun anew."""
        segments = partition.log.segments
        if segments[-1].base != mirror.last_segment or segments[0].base not in mirror.segments:
            if mirror.segments and segments[0].base not in mirror.segments and not partition.leads:
                mirror.begin_anew(segments[0].base)
                mirror.segments = {}
            mirror.last_segment = segments[-1].base
            mirror.segments |= dict.fromkeys(segment.base for segment in segments)

    def _check_taken_back(self, host: Host, partition: Partition, mirror: Mirror) -> None:
        assert self._canons is not None
        canon, end = self._canons.of(partition), partition.log.end
        committed = min(canon.end, mirror.end)
        mirror.was_robbed = mirror.was_robbed or canon.is_lost(mirror, end)
        first = max(end, canon.start)  # what was deleted may go with the batch it stood in
        if first < committed and canon.parts_from(mirror, first, committed) is None and not canon.is_excused:
            how = f"{mirror.name} on {host.name} is cut at {end}; {committed} was committed"
            raise Violation(TAKEN_BACK, how)


def _check_copy(host: Host, mirror: Mirror, canon: Canon, batch: Batch, records: list[Record]) -> None:
    differs = canon.differs(batch, records)
    if differs is not None:
        how = f"{mirror.name} on {host.name}: the record at {differs} is not of epoch {batch.leader_epoch}"
        raise Violation(COPIES, how)
    is_gap = batch.base_offset > mirror.end or len(records) < batch.next_offset - batch.base_offset
    if batch.base_offset < mirror.end or (is_gap and not canon.was_compacted and not mirror.was_compacted):
        raise Violation(COPIES, f"{mirror.name} on {host.name} ended at {mirror.end}, and {batch} follows")


def _check_turn(host: Host, mirror: Mirror, batch: Batch) -> None:
    producer = batch.producer_id, batch.producer_epoch
    earlier = [
        stored for stored in mirror.batches if stored.producer == producer and stored.base_sequence >= 0
    ]
    if not earlier or batch.base_sequence == earlier[-1].last_sequence + 1:
        return
    is_forgotten = earlier[-1].end <= mirror.start and earlier[-1].time < host.started_at
    # Of a producer's batches compaction leaves the last one, which may have been lost since; so it is in Kafka.
    is_compacted = mirror.was_compacted and mirror.lost_its_end
    if not is_forgotten and not is_compacted and not mirror.was_rotten:
        last = earlier[-1].last_sequence
        raise Violation(ONCE, f"{mirror.name}: {batch} has sequence {batch.base_sequence} after {last}")
