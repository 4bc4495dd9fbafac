"""What is committed of a partition, whoever leads it: the log that all its replicas must agree with.

    written     by leader epoch and offset: every record that a leader ever appended. A replica that has a record of
                that epoch at that offset has this one, or the two logs do not match
    records     up to `end`, the highest watermark that any leader ever had: they stay, on every later leader
    promised    what producers were told with acks=all, by where it stands

Each replica has its mirror (mirror.py); this is what the mirrors have in common. It is kept only where there are
several nodes. Where the power takes what nobody had synced (invariants/excuse.py), the next leader says what is left.

Read next: invariants/growth.py, which writes here; invariants/agreement.py, which holds replicas against it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from andiron.model.ids import Millis, TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import Record
from andiron.sim.ledger import Sent
from andiron.sim.verdicts import Verdict, Verdicts

if TYPE_CHECKING:
    from andiron.broker.replicas.partition import Partition
    from andiron.sim.mirror import Mirror, StoredBatch

Place = tuple[bytes, int]  # topic id, partition


class Canon:
    """One partition, as far as it is settled."""

    def __init__(self, name: TopicPartition) -> None:
        self.name = name
        self.start = self.end = 0  # start: the highest that a leader's log ever had
        self.written: dict[tuple[int, int], Record] = {}
        self._times: dict[tuple[int, int], Millis] = {}  # when, by the world's time
        self.records: dict[int, Record] = {}
        self._epochs: dict[int, int] = {}  # in which they were written
        self.batches: list[StoredBatch] = []  # that they stood in, and which of those count
        self.verdicts = Verdicts()
        self.promised: dict[int, Sent] = {}
        self.was_compacted = False
        self.is_excused = False  # the next leader may have less
        self.cuts: list[tuple[int, int]] = []  # where that was so, and the epoch of who led from then on

    def write(self, epoch: int, records: Iterable[Record], now: Millis) -> None:
        """A leader has appended."""
        for record in records:
            self.written[epoch, record.offset] = record
            self._times[epoch, record.offset] = now

    def written_at(self, batch: Batch, records: list[Record]) -> Millis | None:
        """When a leader wrote this."""
        return self._times.get((batch.leader_epoch, records[0].offset)) if records else None

    def knows(self, batch: Batch, records: list[Record]) -> bool:
        """Whether a leader was seen to write this; of a batch without records nothing can be said."""
        return not records or (batch.leader_epoch, records[0].offset) in self.written

    def differs(self, batch: Batch, records: list[Record]) -> int | None:
        """Where a copy is not what a leader wrote."""
        epoch = batch.leader_epoch
        return next((r.offset for r in records if self.written.get((epoch, r.offset)) != r), None)

    def commit(self, mirror: Mirror, upto: int) -> None:
        """The leader's watermark has come to `upto`."""
        found = mirror.records
        for offset in range(self.end, upto):
            record = found.get(offset)
            if record is not None:
                self.records[offset] = record
                self._epochs[offset] = mirror.batch_at(offset).leader_epoch
        for stored in mirror.batches[bisect_left(mirror.batches, self.end, key=lambda each: each.base) :]:
            if stored.end <= upto:
                self.batches.append(stored)
                self.verdicts.add(stored)
        self.end = max(self.end, upto)

    def parts_from(self, mirror: Mirror, start: int, stop: int) -> int | None:
        """The first offset in [start, stop) where a log has another record than this, or the same of another epoch,
        as a producer leaves it that sends again; where it has none does not count."""
        for offset in range(start, stop):
            mine, theirs = self.records.get(offset), mirror.records.get(offset)
            if mine is None or theirs is None:
                continue
            if mine != theirs or mirror.epoch_at(offset) not in (None, self._epochs[offset]):
                return offset
        return None

    def misses(self, mirror: Mirror, start: int) -> int | None:
        """The first committed offset from `start` on that a log has nothing at."""
        return next(
            (offset for offset in self.records if offset >= start and offset not in mirror.records), None
        )

    def decisions(self) -> Iterator[tuple[StoredBatch, Verdict]]:
        """Every batch with what became of it."""
        for stored in self.batches:
            yield stored, self.verdicts.of(stored.base)

    def outlived(self, mirror: Mirror, spent_before: int) -> list[Record]:
        """The tombstones that a log never had, though it goes on beyond them and still has what they delete: its leader
        had compacted them away. Of those written after `spent_before`, by the world's time, no leader may have."""
        latest: dict[bytes | None, int] = {}
        for stored, verdict in self.decisions():
            if verdict in (Verdict.PLAIN, Verdict.COMMITTED) and stored.end <= mirror.end:
                for offset in range(stored.base, stored.end):
                    if offset in self.records:
                        latest[self.records[offset].key] = offset
        held = {mirror.records[offset].key for offset in mirror.live}
        return [
            self.records[offset]
            for key, offset in latest.items()
            if key in held and offset not in mirror.records and self.records[offset].value is None
            if self._times.get((self._epochs[offset], offset), spent_before + 1) <= spent_before
        ]

    def is_lost(self, mirror: Mirror, offset: int) -> bool:
        """Whether what a replica has there is of before a loss that was excused: it has to take that back, once it
        hears who leads."""
        epoch = mirror.epoch_at(offset)
        return epoch is not None and any(offset >= cut and epoch < since for cut, since in self.cuts)

    def cut(self, end: int, epoch: int) -> None:
        """Everything from `end` on is lost, and excused, with the leader of this epoch."""
        self.end = min(self.end, end)
        self.records = {offset: record for offset, record in self.records.items() if offset < end}
        self.batches = [stored for stored in self.batches if stored.end <= end]
        self.verdicts = Verdicts(self.batches)
        self.promised = {
            base: sent for base, sent in self.promised.items() if base + len(sent.records) <= end
        }
        self.is_excused = False
        self.cuts.append((end, epoch))


class Canons(dict[Place, Canon]):
    """Those of all partitions in a world."""

    def of(self, partition: Partition) -> Canon:
        """That of a partition, made when it is first seen."""
        place = partition.topic_id, partition.name.partition
        canon = self.get(place)
        if canon is None:
            canon = self[place] = Canon(partition.name)
        return canon
