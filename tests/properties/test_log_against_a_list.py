"""A log, whatever is done to it, holds what a list would: the same batches at the same offsets.

The list is the model. Appends, rolls, truncations, deletions, clean restarts and power losses go to
both; then the log must read, from anywhere and up to anywhere, exactly what the list has there. After
a power loss the log may be shorter than the list, never below what was flushed, and never other.
"""

from __future__ import annotations

import random

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from andiron.log.checkpoints import LogCheckpoint
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.producers import BatchMetadata, Producers
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.control import end_marker
from andiron.records.record import Record, records_of
from andiron.sim.disk import MemoryDisk
from properties.effort import tries

FOLDER = "data/t-0"
NAME = TopicPartition("t", 0)
PRODUCERS = st.sampled_from([-1, -1, 7, 8, 9])
KEEP = LogSettings(segment_bytes=750, index_interval_bytes=120, retention_ms=-1, segment_index_bytes=96)


def numbers_of(batch: BatchMetadata) -> tuple[int, int, int]:
    return batch.last_sequence, batch.last_offset, batch.offset_delta


class LogAgainstAList(RuleBasedStateMachine):
    """The log and its model, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.list: list[Batch] = []  # everything from the log's start on; the first may reach below it
        self.start = self.end = 0
        self.epoch = 0
        self.now = 1_000
        self.recovery_point = 0
        self.sequences: dict[int, int] = {}
        self.open_transactions: set[int] = set()
        self.snapshots_lost = False  # and with them what was only in segments deleted since
        self.follower_disk = MemoryDisk()

    @initialize()
    def begin(self) -> None:
        self.log = self._open(clean=False)

    # ── what happens to a log ────────────────────────────────────────────────────────

    @rule(
        count=st.integers(1, 5),
        size=st.integers(0, 120),
        late=st.integers(-300, 300),
        producer=PRODUCERS,
        transactional=st.booleans(),
    )
    def append(self, count: int, size: int, late: int, producer: int, transactional: bool) -> None:
        self.now += 7
        transactional = producer >= 0 and (transactional or producer in self.open_transactions)
        records = [Record(0, self.now + late + i % 2 * 3, None, bytes(size)) for i in range(count)]
        sequence = self.sequences.get(producer, 0) if producer >= 0 else -1
        batch = build(
            records,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=sequence,
            transactional=transactional,
        )
        appended = self.log.append(Batch(batch), self.epoch, self.now)
        assert (appended.base_offset, appended.end, appended.duplicate) == (self.end, self.end + count, False)
        self._note(batch)
        if producer >= 0:
            self.sequences[producer] = sequence + count
        if transactional:
            self.open_transactions.add(producer)

    @precondition(lambda self: self.open_transactions)
    @rule(data=st.data(), committed=st.booleans())
    def end_transaction(self, data: st.DataObject, committed: bool) -> None:
        producer = data.draw(st.sampled_from(sorted(self.open_transactions)))
        batch = end_marker(
            committed, producer_id=producer, producer_epoch=0, coordinator_epoch=0, timestamp=self.now
        )
        self.log.append(Batch(batch), self.epoch, self.now)
        self._note(batch)
        self.open_transactions.discard(producer)

    @precondition(lambda self: any(self._last_of(p) for p in self.sequences))
    @rule(data=st.data())
    def append_again(self, data: st.DataObject) -> None:
        producer = data.draw(st.sampled_from([p for p in sorted(self.sequences) if self._last_of(p)]))
        seen = self._last_of(producer)
        again = bytearray(seen.raw)
        appended = self.log.append(Batch(again), self.epoch, self.now)
        assert appended.duplicate and appended.base_offset == seen.base_offset
        assert appended.end == seen.next_offset

    @precondition(lambda self: any(self._last_of(p) for p in self.sequences))
    @rule(data=st.data(), ahead=st.integers(1, 9))
    def append_out_of_turn(self, data: st.DataObject, ahead: int) -> None:
        producer = data.draw(st.sampled_from([p for p in sorted(self.sequences) if self._last_of(p)]))
        batch = build(
            [Record(0, self.now, None, b"")],
            producer_id=producer,
            producer_epoch=0,
            base_sequence=self.sequences[producer] + ahead,
            transactional=producer in self.open_transactions,
        )
        try:
            self.log.append(Batch(batch), self.epoch, self.now)
        except ProtocolError as error:
            assert error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        else:
            raise AssertionError("a skipped sequence was taken")

    @rule()
    def elect(self) -> None:
        self.epoch += 1

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        offset = max(self.start, self.end - back)
        end = self.log.truncate(offset, self.now)
        kept = [batch for batch in self.list if batch.next_offset <= offset]
        holders = [b.base_offset for b in self.list if b.base_offset <= offset < b.next_offset]
        assert end == (holders[0] if holders else offset)
        self.list, self.end = kept, end
        self.start = min(self.start, end)
        self.epoch += 1
        self._relearn()
        self.recovery_point = min(self.recovery_point, self.log.flushed_end)

    @rule(ahead=st.integers(0, 20))
    def advance_start(self, ahead: int) -> None:
        self.start = min(self.end, self.start + ahead)
        self.log.advance_start(self.start)
        self._drop_old()

    @rule(keep=st.integers(0, 2_500))
    def delete_old(self, keep: int) -> None:
        self.log.replace_settings(LogSettings(**{**_fields(KEEP), "retention_bytes": keep}))
        self.log.delete_old(self.now, self.end)
        self.log.replace_settings(KEEP)
        assert self.log.start >= self.start
        self.start = self.log.start
        self._drop_old()

    @rule()
    def remove_given_up(self) -> None:
        for path in self.log.segments.due_removals(self.now + KEEP.file_delete_delay_ms):
            self.disk.remove(path)

    @rule()
    def restart(self) -> None:
        if self.end > self.start:
            self.log.restart_at(self.end + 3, self.now)
            self.start = self.end = self.end + 3
            self.list = []
            self._relearn()
            self.recovery_point = min(self.recovery_point, self.log.flushed_end)

    @rule(save=st.booleans())
    def flush(self, save: bool) -> None:
        files, end = self.log.unflushed_files()
        for file in files:
            file.sync()
        self.log.note_flushed(end)
        assert self.log.flushed_end == self.end
        if save:
            self.recovery_point = self.log.flushed_end

    # ── restarts ─────────────────────────────────────────────────────────────────────

    @rule()
    def stop_and_start(self) -> None:
        self.log.close()
        self.recovery_point = self.log.flushed_end
        assert self.log.flushed_end == self.end
        self.log = self._open(clean=True)
        assert self.log.notices == []
        assert (self.log.start, self.log.end) == (self.start, self.end)

    @rule()
    def die_and_start(self) -> None:
        self.log = self._open(clean=False)
        assert (self.log.start, self.log.end) == (self.start, self.end)
        if self.snapshots_lost:
            self._relearn()

    @rule(seed=st.integers(0, 1 << 32))
    def lose_power(self, seed: int) -> None:
        flushed = self.log.flushed_end
        self.disk.crash(random.Random(seed))
        self.log = self._open(clean=False)
        assert flushed <= self.log.end <= max(self.end, self.log.start)
        self.end = self.log.end
        self.start = self.log.start
        self.list = [batch for batch in self.list if batch.next_offset <= self.end]
        self._drop_old()
        self._relearn()

    @rule(seed=st.integers(0, 1 << 32))
    def lose_an_index(self, seed: int) -> None:
        """Lost, emptied or torn: an index cut between entries is a shorter index, and nobody can tell."""
        self.log.close()
        indexes = [name for name in self.disk.names(FOLDER) if name.endswith(("index", ".snapshot"))]
        if indexes:
            rng = random.Random(seed)
            path = f"{FOLDER}/{rng.choice(indexes)}"
            self.snapshots_lost |= path.endswith(".snapshot")
            if rng.random() < 0.5 or path.endswith(".snapshot"):
                self.disk.remove(path)
            else:
                size = len(self.disk.read_file(path))
                self.disk.open(path).truncate(rng.choice([0, max(size - 5, 0)]))
        self.log = self._open(clean=False)
        assert (self.log.start, self.log.end) == (self.start, self.end)
        self._relearn()

    # ── what must hold ───────────────────────────────────────────────────────────────

    @rule(data=st.data(), max_bytes=st.integers(0, 900), at_least_one=st.booleans())
    def read(self, data: st.DataObject, max_bytes: int, at_least_one: bool) -> None:
        offset = data.draw(st.integers(self.start, self.end))
        upto = data.draw(st.integers(self.start, self.end))
        piece = self.log.read(offset, max_bytes, upto, at_least_one=at_least_one)
        wanted = [b for b in self.list if b.last_offset >= offset and b.last_offset < upto]
        if piece is None:
            assert not wanted or offset >= upto or (wanted[0].size > max_bytes and not at_least_one)
            return
        got = list(iterate(piece.read()))
        assert sum(batch.size for batch in got) == len(piece), "reads are of whole batches"
        assert [b.base_offset for b in got] == [b.base_offset for b in wanted[: len(got)]]
        assert [bytes(b.raw) for b in got] == [bytes(b.raw) for b in wanted[: len(got)]]
        assert len(piece) <= max_bytes or (len(got) == 1 and at_least_one)

    @rule(data=st.data())
    def look_up_time(self, data: st.DataObject) -> None:
        timestamp = data.draw(st.integers(max(0, self.now - 400), self.now + 400))
        upto = data.draw(st.integers(self.start, self.end))
        records = [r for b in self.list for r in records_of(b) if self.start <= r.offset]
        wanted = next((r for r in records if r.timestamp >= timestamp), None)
        found = self.log.offset_for_time(timestamp, upto)
        if wanted is None or wanted.offset >= upto:
            assert found is None
        else:
            assert found is not None and (found.offset, found.timestamp) == (wanted.offset, wanted.timestamp)

    @invariant()
    def bounds_agree(self) -> None:
        if hasattr(self, "log"):
            assert (self.log.start, self.log.end) == (self.start, self.end)
            assert self.log.flushed_end <= self.log.end
            for batch in self.list:
                assert self.log.epochs.epoch_of(max(batch.base_offset, self.start)) == batch.leader_epoch

    @invariant()
    def producers_agree(self) -> None:
        if hasattr(self, "log"):
            model = Producers()
            for batch in self.list:
                if batch.producer_id >= 0:
                    model.replay(batch, batch.base_offset, batch.max_timestamp)
            for state in model:
                known = self.log.producers.get(state.id)
                assert known is not None
                if state.batches:
                    assert (known.epoch, known.next_sequence) == (state.epoch, state.next_sequence)
                    assert numbers_of(known.batches[-1]) == numbers_of(state.batches[-1])

    def teardown(self) -> None:
        """Everything there is, read by fetch after fetch, is what a follower gets."""
        if not hasattr(self, "log"):
            return
        follower = PartitionLog.open(
            LogFolder(self.follower_disk, FOLDER),
            TopicIdPartition(bytes(16), NAME),
            KEEP,
            checkpoint=LogCheckpoint(log_start=self.start),
            now=self.now,
        )
        offset = self.start
        while (piece := self.log.read(offset, 500, self.end)) is not None:
            records = piece.read()
            if offset == self.start and self.list[0].base_offset < self.start:
                follower.restart_at(self.list[0].base_offset, self.now)
            offset = follower.append_replicated(records, self.now)
        assert follower.end == self.end or not self.list
        self.log.close()

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _open(self, *, clean: bool) -> PartitionLog:
        return PartitionLog.open(
            LogFolder(self.disk, FOLDER),
            TopicIdPartition(bytes(16), NAME),
            KEEP,
            checkpoint=LogCheckpoint(recovery_point=self.recovery_point, log_start=self.start, clean=clean),
            now=self.now,
        )

    def _note(self, batch: bytearray) -> None:
        kept = Batch(bytes(batch))
        assert kept.base_offset == self.end and kept.leader_epoch == self.epoch
        self.list.append(kept)
        self.end = kept.next_offset

    def _drop_old(self) -> None:
        self.list = [batch for batch in self.list if batch.last_offset >= self.start]

    def _relearn(self) -> None:
        """After a loss producers go on from what the log still knows of them."""
        self.sequences, self.open_transactions = {}, set()
        for state in self.log.producers:
            self.sequences[state.id] = state.next_sequence
            if state.transaction_start >= 0:
                self.open_transactions.add(state.id)

    def _last_of(self, producer: int) -> Batch | None:
        """A producer's latest batch, if it can be told by its sequences."""
        mine = [batch for batch in self.list if batch.producer_id == producer and not batch.is_control]
        return (
            mine[-1] if mine and mine[-1].is_transactional >= (producer in self.open_transactions) else None
        )


def _fields(settings: LogSettings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


TestLogAgainstAList = LogAgainstAList.TestCase
TestLogAgainstAList.settings = hypothesis_settings(
    max_examples=tries(80), stateful_step_count=80, deadline=None
)
