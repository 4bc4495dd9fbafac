"""A partition's log as it should be, kept beside the real one by reading each batch as it appears.

    start ··· kept ······················ end
    │         │ below: on the disk         │ below: appended, survives the death of the process
    records   what stands, or ever stood, at each offset; verdicts: which of them count
    live      the offsets that a reader must still be shown

The records of an offset never change once written, while `live` shrinks as retention, DeleteRecords
and compaction take records away. Only a power loss cuts the mirror's end, and never below `kept`; or a leader that
has other records than this replica, which follows it.

A place to read on from is one in a segment as the node opened it, and not in whatever has its name: a log that moved to
another directory, and was compacted there, comes back with other bytes under the same base.

Read next: invariants/growth.py, which feeds it, and invariants/survival.py, which holds it against
what a restart finds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from andiron.log.layout import LOG, file_name
from andiron.model.errors import ProtocolError
from andiron.model.ids import NEVER, Millis, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.control import end_marker_of
from andiron.records.record import Record, records_of
from andiron.sim.verdicts import Verdict, Verdicts
from andiron.sim.watcher import Violation

if TYPE_CHECKING:
    from andiron.broker.replicas.partition import Partition
    from andiron.log.partition_log import PartitionLog
    from andiron.log.segment import Segment
    from andiron.log.settings import LogSettings
    from andiron.sim.host import Host
    from andiron.sim.watcher import End

WHOLE = "a log is made of batches"

Key = tuple[int, bytes, int]  # node, topic id, partition


class StoredBatch(NamedTuple):
    """One batch that was appended."""

    base: int
    end: int
    producer: tuple[int, int]  # id, epoch
    base_sequence: int
    last_sequence: int
    leader_epoch: int
    time: Millis  # of the append, by the reach of the host's clock
    transactional: bool
    marker: bool | None  # whether it commits or aborts, if it is the end of a transaction


class Mirror:
    """One partition's log, beside itself."""

    def __init__(self, name: TopicPartition, start: int) -> None:
        self.name = name
        self.start = self.end = self.kept = start
        self.records: dict[int, Record] = {}
        self.live: dict[int, None] = {}
        self.batches: list[StoredBatch] = []
        self.dropped: list[tuple[StoredBatch, Verdict]] = []  # batches from before the log began anew
        self.rotten: dict[int, int] = {}  # batches with bits turned over: base → end
        self.was_rotten = False
        self.was_robbed = (
            False  # what was committed had to be taken back; what that had superseded may be gone
        )
        self.fell: End | None = None  # its node has come to an end, and the log has not been seen since
        self.lost_its_end = False  # with a node that fell, and by it what producers were known by
        self.bound: int = NEVER  # a follower that fell may have given way to its leader, down to here
        self.was_compacted = False  # has, or had, cleanup.policy=compact
        self.spent: dict[int, None] = {}  # batches that compaction took by a decision that was lost since
        self.delete_retention_ms = NEVER  # the least it ever was, on any replica
        self.start_since = 0  # when it came to where it is, by the world's time
        self.start_bound = 0  # the start that the next life of its node must know of
        self.start_fell = False  # records that were deleted came back; what was known of their epochs did not
        self.settings: LogSettings | None = None  # as last looked at
        self.segments: dict[int, None] = {}  # the bases of all that were ever seen
        self.last_segment = -1
        self.always_durable = True  # never was anything acknowledged or shown before it was synced
        self.verdicts = Verdicts()
        self.reopened: dict[int, None] = {}  # batches whose marker was lost again, after others went by it
        self._place: tuple[Segment | None, int] = (None, 0)  # segment and position to read on from

    def add(self, batch: Batch, records: list[Record], now: Millis) -> None:
        """A batch has been appended."""
        ended = end_marker_of(batch) if batch.is_control else None
        # Compaction took its marker, and left the batch for what it says of its producer.
        is_spent = batch.is_control and ended is None
        stored = StoredBatch(
            batch.base_offset, batch.next_offset, (batch.producer_id, batch.producer_epoch),
            batch.base_sequence, batch.last_sequence, batch.leader_epoch, now,
            batch.is_transactional and not is_spent, None if ended is None else ended.committed,
        )  # fmt: skip
        self.batches.append(stored)
        self.verdicts.add(stored)
        for record in records:
            self.records[record.offset] = record
            self.live[record.offset] = None
        self.end = batch.next_offset

    def keep(self, end: int) -> None:
        """Everything below `end` was promised to survive a power loss; nothing can be, from damage on."""
        self.kept = max(self.kept, min(end, self.sound_end()))

    def cut(self, end: int) -> None:
        """Everything from `end` on never was."""
        self.end, self.kept = end, min(self.kept, end)
        self.batches = [stored for stored in self.batches if stored.end <= end]
        self.dropped = [(stored, verdict) for stored, verdict in self.dropped if stored.end <= end]
        decided, self.verdicts = self.verdicts, Verdicts(self.batches)
        for base in self.verdicts.undecided():
            if decided.of(base) is not Verdict.OPEN:
                self.reopened[base] = None
        self.records = {offset: record for offset, record in self.records.items() if offset < end}
        self.live = {offset: None for offset in self.live if offset < end}
        self.rotten = {base: stop for base, stop in self.rotten.items() if base < end}
        self._place = (None, 0)

    def spend(self, bases: list[int]) -> None:
        """Compaction took these batches, by a decision on them that was lost since: no transaction has them open, but
        for what a snapshot of the producers may remember until the decision comes again."""
        self.spent |= dict.fromkeys(bases)
        if bases:
            self.batches = [
                stored._replace(transactional=False) if stored.base in bases else stored
                for stored in self.batches
            ]
            self.verdicts = Verdicts(self.batches)

    def restart(self, start: int) -> None:
        """The log begins anew, empty, at `start`: it had been cut below what was deleted from it."""
        self.cut(start)
        self.live = {}

    def begin_anew(self, start: int) -> None:
        """A follower has dropped all of its log, to go on where its leader's begins; and what it knew of epochs."""
        self.dropped += [(stored, self.verdicts.of(stored.base)) for stored in self.batches]
        self.batches = []
        self.start_fell = True
        self.restart(start)

    def advance(self, start: int) -> None:
        """Nothing below `start` is to be read any more; or, after a crash, it is again."""
        self.start_fell = self.start_fell or start < self.start
        for offset in [offset for offset in self.live if offset < start]:
            del self.live[offset]
        self.start = start

    def decisions(self) -> Iterator[tuple[StoredBatch, Verdict]]:
        """Every batch that stands, or stood before the log began anew, with what became of it."""
        yield from self.dropped
        for stored in self.batches:
            yield stored, self.verdicts.of(stored.base)

    def batch_at(self, offset: int) -> StoredBatch:
        """The batch that a record stands, or stood, in."""
        return self.batches[bisect_right(self.batches, offset, key=lambda stored: stored.base) - 1]

    def epoch_at(self, offset: int) -> int | None:
        """In which epoch a record was written; None of one that stood there before the log began anew."""
        place = bisect_right(self.batches, offset, key=lambda stored: stored.base) - 1
        return self.batches[place].leader_epoch if place >= 0 and offset < self.batches[place].end else None

    def verdict_on(self, offset: int) -> Verdict:
        """Whether a record counts."""
        return self.verdicts.of(self.batch_at(offset).base)

    def first_live(self, start: int, stop: int) -> int | None:
        """The first offset in [start, stop) that a reader must be shown."""
        return next((offset for offset in range(start, stop) if offset in self.live), None)

    def damage(self, base: int, end: int) -> None:
        """Bits of this batch have turned over: it may be cut off, and everything after it."""
        self.rotten[base] = end
        self.was_rotten = True
        self.kept = min(self.kept, self.sound_end())

    def sound_end(self) -> int:
        """Up to where no damage can reach: a log cut before a damaged batch ends where the one before it does."""
        if not self.rotten:
            return NEVER
        return max((offset + 1 for offset in self.live if offset < min(self.rotten)), default=0)

    def is_rotten(self, offset: int) -> bool:
        return any(base <= offset < end for base, end in self.rotten.items())

    def appended(self, host: Host, partition: Partition) -> Iterator[Batch]:
        """The batches in the log from the mirror's end on, read from the disk."""
        log = partition.log
        known, position = self._place
        bases = [segment.base for segment in log.segments]
        for segment in log.segments[max(bisect_right(bases, self.end) - 1, 0) :]:
            if segment is not known:
                known, position = segment, 0
            for batch in _batches_in(host, log, segment, position):
                position = batch.position + batch.size
                if batch.base_offset >= self.end:
                    yield batch
        self._place = known, position


def batches_of(host: Host, partition: Partition) -> Iterator[Batch]:
    """Every batch of a log, read from the disk."""
    log = partition.log
    for segment in log.segments:
        yield from _batches_in(host, log, segment, 0)


def _batches_in(host: Host, log: PartitionLog, segment: Segment, position: int) -> Iterator[Batch]:
    """The batches of one segment from `position` on, read from the disk."""
    path = f"{log.directory}/{file_name(segment.base, LOG)}"
    try:
        yield from iterate(host.disk.read_file(path), position)
    except ProtocolError as error:
        raise Violation(WHOLE, f"{path}, read from byte {position} on: {error}") from error


def scan(host: Host, partition: Partition) -> list[tuple[Batch, list[Record] | None]]:
    """Every batch of a log with its records; None for those of a damaged one."""
    batches = batches_of(host, partition)
    return [(batch, list(records_of(batch)) if batch.is_intact() else None) for batch in batches]


def key_of(host: Host, partition: Partition) -> Key:
    """What a partition is known by: a topic that is deleted and made again has another id."""
    return host.number, partition.topic_id, partition.name.partition


class Mirrors(dict[Key, Mirror]):
    """The mirrors of all partitions in a world."""

    def of(self, host: Host, partition: Partition) -> Mirror:
        """The mirror of a partition, made when it is first seen."""
        key = key_of(host, partition)
        mirror = self.get(key)
        if mirror is None:
            mirror = self[key] = Mirror(partition.name, partition.log.start)
            mirror.delete_retention_ms = min(each.delete_retention_ms for each in self.replicas(key))
        return mirror

    def replicas(self, key: Key) -> list[Mirror]:
        """Those of one partition on all hosts."""
        return [mirror for other, mirror in self.items() if other[1:] == key[1:]]

    def on(self, host: Host) -> list[Mirror]:
        """Those of the partitions that are, or were, on a host."""
        return [mirror for (number, _, _), mirror in self.items() if number == host.number]
