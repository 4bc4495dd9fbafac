"""What a node finds after a restart is what its end may have left, and not a record less.

    stopped      everything
    killed       everything that was written: the page cache is the kernel's
    power lost   a prefix of it, and at least what was on the disk or promised to be

What is found must be, byte for byte, what stood there before. A batch that nobody had seen yet may
follow: the step in which it was appended is the one that was cut short. It may also be the step in which a follower
gave way to its leader: then it has at least what was committed, as far as the two agreed.

And it knows which leader wrote what (log/leader_epochs.py), also where compaction has left nothing of that: or else it
would take what another replica has there for its own.

Bits that turned over are the one excuse (weather.py): recovery ends a log before a damaged batch.
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.log.partition_log import PartitionLog
from andiron.model.ids import NEVER
from andiron.records.record import Record
from andiron.sim.canon import Canons
from andiron.sim.host import Host
from andiron.sim.invariants.compaction import check_gone
from andiron.sim.invariants.growth import LogsGrow
from andiron.sim.mirror import Mirror, Mirrors, key_of, scan
from andiron.sim.watcher import End, Violation, Watcher

SURVIVES = "what was promised survives"


class PromisesSurvive(Watcher):
    """Holds each log against its mirror when a restarted node has opened it."""

    def __init__(self, mirrors: Mirrors, growth: LogsGrow, canons: Canons | None) -> None:
        self._mirrors, self._growth, self._canons = mirrors, growth, canons

    def went_down(self, host: Host, end: End) -> None:
        if end is End.STOPPED and host.node is not None and not host.disk.is_bad:
            for partition in host.node.broker.replica_manager:
                if partition.failure is None:
                    self._mirrors.of(host, partition).keep(partition.log.end)
        if end is not End.STOPPED:
            self._note_committed(host)
        for mirror in self._mirrors.on(host):
            if mirror.fell is not End.POWER_LOST:
                mirror.fell = end

    def lost_power(self, host: Host) -> None:
        for mirror in self._mirrors.on(host):
            mirror.fell = End.POWER_LOST

    def stepped(self, host: Host) -> None:
        for partition in host.changed:
            mirror = self._mirrors.get(key_of(host, partition))
            if mirror is not None and mirror.fell is not None:
                self._look(host, partition, mirror, mirror.fell)
                mirror.fell = None

    def _note_committed(self, host: Host) -> None:
        if self._canons is None or host.node is None:
            return
        for partition in host.node.broker.replica_manager:
            mirror = self._mirrors.get(key_of(host, partition))
            if mirror is None or partition.leads:
                continue
            canon = self._canons.of(partition)
            apart = canon.parts_from(mirror, mirror.start, min(mirror.end, canon.end))
            mirror.bound = canon.end if apart is None else apart

    def rested(self, host: Host) -> None:
        """Nothing has happened: then nothing has changed."""
        assert host.node is not None
        for partition in host.node.broker.replica_manager:
            self._look(host, partition, self._mirrors.of(host, partition), End.STOPPED)

    def _look(self, host: Host, partition: Partition, mirror: Mirror, end: End) -> None:
        log = partition.log
        if log.start < mirror.start and not mirror.batches:
            mirror.cut(log.start)  # it had begun anew, and the power brought back what it had dropped
        held = mirror.kept if end is End.POWER_LOST else mirror.end
        least = min(held, mirror.bound, mirror.sound_end())
        mirror.bound = NEVER
        is_lost = end is not End.POWER_LOST or mirror.first_live(log.end, least) is not None
        if log.end < least and is_lost:  # where nothing stood, nothing was promised
            raise Violation(SURVIVES, f"{mirror.name} ends at {log.end}; {least} was promised ({end.value})")
        is_damaged = mirror.was_rotten and log.end < mirror.end  # and with it what superseded other records
        if log.end < mirror.end:
            mirror.lost_its_end = True
            mirror.cut(log.end)
        found: dict[int, Record] = {}
        bases: dict[int, None] = {}
        for batch, records in scan(host, partition):
            bases[batch.base_offset] = None
            if batch.base_offset >= mirror.end:
                self._growth.take(host, partition, mirror, batch, found=True)
            elif records is None and batch.base_offset not in mirror.rotten:
                raise Violation(SURVIVES, f"{mirror.name}: {batch} fails its checksum")
            for record in records or ():
                if mirror.records.get(record.offset) != record:
                    raise Violation(SURVIVES, f"{mirror.name}: another record stands at {record.offset}")
                found[record.offset] = record
        if mirror.was_compacted:
            mirror.spend([base for base in mirror.verdicts.undecided() if base not in bases])
        _follow_gaps(mirror, log, end, is_empty=not found)
        if mirror.end != log.end:
            raise Violation(SURVIVES, f"{mirror.name} ends at {log.end}, and on the disk at {mirror.end}")
        # All that ever stood there: what a lost record had superseded must be there in its place.
        expected = mirror.live if mirror.was_rotten or mirror.was_robbed else mirror.records
        gone = [offset for offset in expected if offset >= log.start and offset not in found]
        if not is_damaged:
            check_gone(host, partition, mirror, gone, found)
        mirror.live = {offset: None for offset in found if offset >= log.start}
        if not mirror.start_fell:
            _check_epochs(mirror, log)


def _check_epochs(mirror: Mirror, log: PartitionLog) -> None:
    start = max(log.start, mirror.start)
    for stored in mirror.batches:
        known = log.epochs.epoch_of(stored.base)
        if stored.base >= start and known != stored.leader_epoch:
            how = f"{mirror.name}: {stored.base} was written in epoch {stored.leader_epoch}, and {known} is known"
            raise Violation(SURVIVES, how)


def _follow_gaps(mirror: Mirror, log: PartitionLog, end: End, *, is_empty: bool) -> None:
    """A log may end beyond its last batch: where nothing stood, or stands any more."""
    if is_empty and mirror.end < log.end == log.start:
        mirror.restart(log.start)
    elif is_empty and end is End.POWER_LOST and log.start == log.end == log.last_stable(log.end):
        mirror.begin_anew(log.start)  # with the records went what was known of their transactions
    if mirror.end < log.end == log.segments.bases[-1]:
        # A segment was begun for a batch before which its leader's compaction has left nothing.
        mirror.end = log.end
