"""A log only grows: by batches that were sent, whole, at the next offset, each producer's in turn and once.

Every batch is looked at once, when it appears, and then stands in the mirror (mirror.py). What coordinators
write to logs, theirs and others', is looked at elsewhere (replaying.py, markers.py).

A producer's sequence goes on where it stopped. The one way to write a batch twice is to have forgotten
its producer, which a restarted node may do once nothing that this producer wrote is left in the log.
"""

from __future__ import annotations

from andiron.broker.internal_topics import INTERNAL
from andiron.broker.partition import Partition
from andiron.log.settings import LogSettings
from andiron.model.ids import Millis
from andiron.records.batch import Batch
from andiron.records.record import Record, records_of
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.ledger import Ledger, same_contents
from andiron.sim.mirror import Mirror, Mirrors, key_of
from andiron.sim.watcher import Violation, Watcher

GROWS = "a log only grows"
SENT = "nothing is in a log but what was sent"
ONCE = "a sequence is there once and in turn"


class LogsGrow(Watcher):
    """Keeps the mirrors, and the laws of growing."""

    def __init__(self, mirrors: Mirrors, ledger: Ledger) -> None:
        self._mirrors, self._ledger = mirrors, ledger

    def said(self, host: Host, exchange: Exchange) -> None:
        self.stepped(host)  # what is said may be about what was appended in this very step

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        for partition in host.node.broker.partitions:
            log = partition.log
            if log.start and key_of(host, partition) not in self._mirrors:
                raise Violation(GROWS, f"{partition.name} is new, and starts at {log.start}")
            mirror = self._mirrors.of(host, partition)
            if mirror.fell is not None:
                continue
            if log.end != mirror.end:
                self._look(host, partition, mirror)
            mirror.keep(log.flushed_end)
            _note_settings(mirror, log.settings)

    def _look(self, host: Host, partition: Partition, mirror: Mirror) -> None:
        end = partition.log.end
        if end < mirror.end:
            raise Violation(GROWS, f"{mirror.name} ended at {mirror.end}, and now ends at {end}")
        for batch in mirror.appended(host, partition):
            self.take(host, mirror, batch)
        if mirror.end != end:
            raise Violation(GROWS, f"{mirror.name} ends at {end}, and on the disk at {mirror.end}")

    def take(self, host: Host, mirror: Mirror, batch: Batch) -> None:
        """Hold the next batch of a log against the laws; then it is part of it."""
        if batch.base_offset != mirror.end:
            raise Violation(GROWS, f"{mirror.name} ended at {mirror.end}, and {batch} follows")
        if not batch.is_intact():
            raise Violation(SENT, f"{batch} of {mirror.name} fails its checksum")
        records = list(records_of(batch))
        if not batch.is_control and mirror.name.topic not in INTERNAL:
            self._check_sent(mirror, batch, records)
        if batch.base_sequence >= 0:
            _check_turn(host, mirror, batch)
        mirror.add(batch, records, host.clock.reach)

    def _check_sent(self, mirror: Mirror, batch: Batch, records: list[Record]) -> None:
        sent = self._ledger.find(records[0]) if records else None
        if sent is None or not same_contents(sent, batch, records):
            raise Violation(SENT, f"{batch} of {mirror.name} is not what anyone sent")
        if sent.partition != mirror.name or sent.base_sequence != batch.base_sequence:
            raise Violation(SENT, f"{batch} of {mirror.name} was sent to {sent.partition}")


def _note_settings(mirror: Mirror, settings: LogSettings) -> None:
    """Settings come and go; what they have allowed stays allowed."""
    if settings.flush_messages != 1:
        mirror.always_durable = False
    if "compact" in settings.cleanup_policy:
        mirror.was_compacted = True
        mirror.delete_retention_ms = min(mirror.delete_retention_ms, Millis(settings.delete_retention_ms))


def _check_turn(host: Host, mirror: Mirror, batch: Batch) -> None:
    producer = batch.producer_id, batch.producer_epoch
    earlier = [
        stored for stored in mirror.batches if stored.producer == producer and stored.base_sequence >= 0
    ]
    if not earlier or batch.base_sequence == earlier[-1].last_sequence + 1:
        return
    is_forgotten = earlier[-1].end <= mirror.start and earlier[-1].time < host.started_at
    if not is_forgotten and not mirror.was_rotten:
        last = earlier[-1].last_sequence
        raise Violation(ONCE, f"{mirror.name}: {batch} has sequence {batch.base_sequence} after {last}")
