"""Compaction over any history: what may be lost, what may not, and that nothing else changes.

A history is a log written by plain, idempotent and transactional producers, with rounds of compaction in
between. Beside it stands the list of everything ever appended, and after each round the log is held
against it. The swap is interrupted at every step, by the death of the process and by loss of power.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.log.cleaner import CleanableLog, Cleaner, CleanerBudget
from andiron.log.disk import LogFolder
from andiron.log.offset_map import BYTES_PER_SLOT
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import LeaderEpoch, Millis, Offset, TopicId, TopicIdPartition, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.compression import GZIP, NONE
from andiron.records.control import end_marker
from andiron.records.record import Record, records_of
from andiron.sim.disk import Killed, MemoryDisk
from properties.effort import tries

SETTINGS = LogSettings(
    cleanup_policy=("compact",),
    segment_bytes=350,
    index_interval_bytes=60,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=1_000,
    retention_ms=-1,
)
PARTITION, TOPIC_ID = TopicPartition("t", 0), TopicId(bytes(range(16)))
PLAIN, IDEMPOTENT, TRANSACTIONAL = -1, 5, (7, 8)


@dataclass
class History:
    """A log, and what it should be judged by."""

    disk: MemoryDisk = field(default_factory=MemoryDisk)
    now: int = 10_000

    def __post_init__(self):
        self.disk.make_directory("data")
        self.log = self.reopened()
        self.cleaner, self.cleaned_upto = Cleaner(self.disk), None
        self.appended: dict[int, Record] = {}
        self.aborted: set[int] = set()
        self.open: dict[int, list[int]] = {}
        self.sequences: dict[int, int] = {}
        self.horizons: dict[int, int] = {}  # of tombstones: when the first round met them, and some

    def reopened(self):
        return PartitionLog.open(
            LogFolder(self.disk, "data/t-0"),
            TopicIdPartition(TOPIC_ID, PARTITION),
            SETTINGS,
            now=Millis(self.now),
        )

    # ── what happens ──

    def write(self, pairs, producer=PLAIN, codec=NONE):
        records = [Record(0, self.now + i, key, value) for i, (key, value) in enumerate(pairs)]
        sequence = self.sequences.get(producer, 0)
        who = (
            {}
            if producer == PLAIN
            else {"producer_id": producer, "producer_epoch": 0, "base_sequence": sequence}
        )
        self._append(build(records, codec=codec, transactional=producer in TRANSACTIONAL, **who))
        self.sequences[producer] = sequence + len(records)
        base = self.log.end - len(records)
        for i, record in enumerate(records):
            self.appended[base + i] = record._replace(offset=base + i)
            if producer in TRANSACTIONAL:
                self.open.setdefault(producer, []).append(base + i)

    def end_transaction(self, producer, committed):
        if producer not in self.open:
            return
        self._append(
            end_marker(
                committed, producer_id=producer, producer_epoch=0, coordinator_epoch=0, timestamp=self.now
            )
        )
        offsets = self.open.pop(producer)
        if not committed:
            self.aborted.update(offsets)

    def _append(self, batch):
        self.log.append(Batch(batch), LeaderEpoch(0), Millis(self.now))

    def clean(self, keys_max=1 << 20):
        """One round; returns the job, or None if there was nothing to do."""
        means = CleanerBudget(buffer_bytes=int(keys_max * BYTES_PER_SLOT), load_factor=0.9)
        self.flush()
        job = self.next_job(means)
        if job is not None:
            before = self.batches_from(job.end)
            result = job.run(self.disk)
            self.meet_tombstones(result.cleaned_upto, job)
            self.finish(result)
            assert self.batches_from(job.end) == before, "what may not be cleaned is untouched"
            self.check(result.cleaned_upto)
        return job

    def next_job(self, means=CleanerBudget()):
        return self.cleaner.next_job(
            [CleanableLog(self.log, self.log.end, self.cleaned_upto)], Millis(self.now), means
        )

    def finish(self, result):
        self.cleaned_upto = self.cleaner.finish(result, None, Millis(self.now)).cleaned_upto

    def flush(self):
        files, end = self.log.unflushed_files()
        for file in files:
            file.sync()
        self.log.note_flushed(end)

    def meet_tombstones(self, upto, job):
        """Rounds set the horizon of every tombstone in the segments that they go through."""
        through = max((base for base in job.bases if base < upto), default=-1)
        beyond = min((base for base in (*job.bases, job.end) if base > through), default=job.end)
        for offset, record in self.appended.items():
            if record.value is None and offset < beyond:
                self.horizons.setdefault(offset, self.now + SETTINGS.delete_retention_ms)

    # ── what is left ──

    def batches(self):
        offset = self.log.start
        while (found := self.log.read(offset, 150, self.log.end)) is not None:
            for batch in iterate(found.read()):
                yield batch
                offset = Offset(batch.next_offset)

    def batches_from(self, offset):
        return [bytes(batch.raw) for batch in self.batches() if batch.base_offset >= offset]

    def records(self):
        return [record for batch in self.batches() if not batch.is_control for record in records_of(batch)]

    def committed(self):
        """Keys to the latest value that a reader of committed records should end up with."""
        table = {}
        undecided = {offset for offsets in self.open.values() for offset in offsets}
        for offset, record in self.appended.items():
            if offset not in self.aborted and offset not in undecided:
                table[record.key] = record.value
        return {key: value for key, value in table.items() if value is not None}

    def as_read(self):
        """What a reader of committed records does end up with, going by the log alone."""
        aborted = self.log.aborted_between(self.log.start, self.log.end)
        undecided = {offset for offsets in self.open.values() for offset in offsets}
        table = {}
        for batch in self.batches():
            if batch.is_control or any(
                batch.is_transactional
                and each.producer_id == batch.producer_id
                and each.first_offset <= batch.base_offset <= each.last_offset
                for each in aborted
            ):
                continue
            for record in records_of(batch):
                if record.offset not in undecided:
                    table[record.key] = record.value
        return {key: value for key, value in table.items() if value is not None}

    # ── what must hold ──

    def check(self, cleaned_upto=0):
        left = self.records()
        assert all(record == self.appended[record.offset] for record in left), (
            "a record is what it was, where it was"
        )
        assert [r.offset for r in left] == sorted({r.offset for r in left}), (
            "the order is the order of appending"
        )
        present = {record.offset for record in left}
        clean = [r.key for r in left if r.offset < cleaned_upto and r.offset not in self.aborted]
        assert len(clean) == len(set(clean)), "a clean key is there once"
        assert not {o for o in present if o < cleaned_upto} & self.aborted, "aborted records are gone"
        stale = [r.offset for r in left if r.value is None and r.offset < cleaned_upto]
        assert all(self.horizons[offset] > self.now for offset in stale), (
            "tombstones go when their time has come"
        )
        assert self.as_read() == self.committed(), "readers end up with the latest of each key"
        for offset in self._latest_offsets():
            if offset in present:
                continue
            assert self.appended[offset].value is None, f"the latest of its key is lost at {offset}"
            assert self.horizons[offset] <= self.now, f"the tombstone at {offset} went early"

    def check_producers(self):
        """Each producer's last sequence is still to be learned from the log alone."""
        known = {state.id: state.next_sequence for state in self.log.producers}
        for name in self.disk.names("data/t-0"):
            if name.endswith(".snapshot"):
                self.disk.remove(f"data/t-0/{name}")
        again = {state.id: state.next_sequence for state in self.reopened().producers}
        assert again == known

    def _latest_offsets(self):
        undecided = {offset for offsets in self.open.values() for offset in offsets}
        latest = {
            r.key: offset for offset, r in self.appended.items() if offset not in self.aborted | undecided
        }
        return latest.values()

    def check_positions(self):
        """A read at any offset begins with the batch that holds it, or the next one there is."""
        batches = list(self.batches())
        for offset in range(self.log.start, self.log.end):
            expected = next((b.base_offset for b in batches if b.last_offset >= offset), None)
            found = self.log.read(Offset(offset), 1, self.log.end)
            assert (None if found is None else Batch(found.read()).base_offset) == expected


KEYS = st.sampled_from([b"a", b"b", b"c", b"d", b"e" * 9])
VALUES = st.sampled_from([None, b"v", b"w" * 25])
WRITE = st.tuples(
    st.just("write"),
    st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5),
    st.sampled_from([PLAIN, IDEMPOTENT, *TRANSACTIONAL]),
    st.sampled_from([NONE, NONE, GZIP]),
)
OTHER = st.one_of(
    st.tuples(st.just("end_transaction"), st.sampled_from(TRANSACTIONAL), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([1, 500, 1_000, 5_000])),
    st.tuples(st.just("clean"), st.sampled_from([1 << 20, 1 << 20, 5])),
)
# Several writes to one other step: segments must fill before there is anything to clean.
STEPS = st.lists(st.one_of(WRITE, WRITE, WRITE, OTHER), min_size=30, max_size=90)


@settings(max_examples=tries(150), deadline=None)
@given(STEPS)
def test_any_history_keeps_the_latest_of_each_key_at_its_offset(steps):
    history = History()
    for verb, *what in steps:
        if verb == "wait":
            history.now += what[0]
        else:
            getattr(history, verb)(*what)
    for producer in TRANSACTIONAL:
        history.end_transaction(producer, committed=True)
    history.clean()
    history.check()
    history.check_positions()
    history.check_producers()


# ── the swap, interrupted ────────────────────────────────────────────────────────────


def written():
    """Transactions, tombstones, and segments enough for several groups; all of it on the disk."""
    history = History()
    for n in range(36):
        producer = [PLAIN, IDEMPOTENT, 7, 8][n % 4]
        history.write([(b"k%d" % (n % 7), b"v%d" % n if n % 5 else None), (b"s%d" % n, b"x")], producer)
        if n % 12 == 11:
            history.end_transaction(7, committed=n % 24 == 11)
            history.end_transaction(8, committed=n % 24 != 11)
        history.now += 1
    history.flush()
    return history


def swap_until(history, change):
    """A round of compaction whose owner dies at the `change`th change of its swap; whether it came so far."""
    job = history.next_job()
    result = job.run(history.disk)
    assert len(result.replacements) > 1
    history.meet_tombstones(result.cleaned_upto, job)
    return dies(history, change, lambda: history.finish(result))


def dies(history, change, doing):
    history.disk.fuse = change
    try:
        doing()
    except Killed:
        return True
    finally:
        history.disk.fuse = None
    return False


def check_whole(history, end):
    assert history.log.end == end
    history.check()
    litter = (".cleaned", ".swap", ".deleted")
    assert not [name for name in history.disk.names("data/t-0") if name.endswith(litter)]
    for n in range(10):
        history.write([(b"k%d" % n, b"after" * 10)])
    assert history.clean() is not None


@pytest.mark.parametrize("power_loss", [False, True])
def test_a_swap_may_be_interrupted_at_every_step(power_loss):
    change, died = -1, True
    while died:
        change += 1
        history = written()
        end = history.log.end
        died = swap_until(history, change)
        if power_loss:
            history.disk.crash(random.Random(change))
        history.log, history.cleaner = history.reopened(), Cleaner(history.disk)
        check_whole(history, end)
    assert change > 20


def test_a_start_that_completes_a_swap_may_itself_be_interrupted():
    for change in range(0, 40, 3):
        for further in range(0, 12, 3):
            history = written()
            end = history.log.end
            swap_until(history, change)
            dies(history, further, history.reopened)
            history.log, history.cleaner = history.reopened(), Cleaner(history.disk)
            check_whole(history, end)
