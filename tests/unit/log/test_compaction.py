from __future__ import annotations

import pickle
from typing import NamedTuple

import pytest

from andiron.log import layout
from andiron.log.abort_index import AbortedTransaction
from andiron.log.batch_filter import ProducerEnd
from andiron.log.compaction import CompactionJob, Replacement, plan_groups
from andiron.log.offset_map import BYTES_PER_SLOT
from andiron.log.segment import Segment
from andiron.log.settings import LogSettings
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.control import end_marker
from andiron.records.record import Record, records_of
from andiron.sim.disk import MemoryDisk

SETTINGS = LogSettings(cleanup_policy=("compact",), index_interval_bytes=0)
NOW = 50_000


def records(base, *pairs, **how):
    return build([Record(0, 100 + base, key, value) for key, value in pairs], base_offset=base, **how)


def marker(base, committed):
    return end_marker(
        committed, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=100, base_offset=base
    )


def transaction(base, *pairs):
    return records(base, *pairs, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)


class World:
    """Sealed segments of one log in memory, and the job over them."""

    def __init__(self, segments, end, settings=SETTINGS):
        self.disk, self.settings, self.end = MemoryDisk(), settings, end
        self.disk.make_directory("t-0")
        for base, batches in segments.items():
            segment = Segment.create(self.disk, "t-0", base, settings, 0)
            for batch in map(Batch, batches):
                segment.append(batch.raw, batch.last_offset, batch.max_timestamp)
            segment.seal()
            segment.close()
        self.bases = tuple(segments)

    def job(self, **how):
        job = CompactionJob(
            **{
                "partition": TopicPartition("t", 0),
                "directory": "t-0",
                "settings": self.settings,
                "bases": self.bases,
                "first_dirty": 0,
                "end": self.end,
                "aborted": (),
                "producers": {},
                "now": NOW,
                **how,
            }
        )
        return pickle.loads(pickle.dumps(job))

    def run(self, **how):
        return self.job(**how).run(self.disk)

    def cleaned(self, base):
        return Segment.open(self.disk, "t-0", base, self.settings, state=layout.CLEANED)

    def left(self, base):
        return [
            (r.offset, r.key, r.value) for batch in self.cleaned(base).batches() for r in records_of(batch)
        ]


def test_the_latest_record_of_each_key_stays():
    world = World({0: [records(0, (b"a", b"1"), (b"b", b"2"))], 2: [records(2, (b"a", b"3"))]}, end=3)

    result = world.run()

    assert result.replacements == (Replacement((0, 2), 0),)
    assert result.cleaned_upto == 3
    assert world.left(0) == [(1, b"b", b"2"), (2, b"a", b"3")]


def test_a_later_round_keeps_what_an_earlier_one_left_unless_there_is_news():
    world = World(
        {0: [records(0, (b"a", b"1"), (b"b", b"2"))], 2: [records(2, (b"a", b"3"), (b"c", b"4"))]}, end=4
    )

    world.run(first_dirty=2)

    assert world.left(0) == [(1, b"b", b"2"), (2, b"a", b"3"), (3, b"c", b"4")]


def test_keys_below_the_first_dirty_offset_do_not_count_even_within_a_batch():
    world = World({0: [records(0, (b"a", b"1"), (b"a", b"2"), (b"b", b"3"))]}, end=3)

    assert world.run(first_dirty=2).replacements == ()


def test_the_sources_are_not_touched():
    world = World({0: [records(0, (b"a", b"1"))], 1: [records(1, (b"a", b"2"))]}, end=2)
    before = {name: world.disk.read_file(f"t-0/{name}") for name in world.disk.names("t-0")}

    world.run()

    for name, data in before.items():
        assert world.disk.read_file(f"t-0/{name}") == data
    assert {name[20:] for name in world.disk.names("t-0") if name not in before} == {
        ".log.cleaned",
        ".index.cleaned",
        ".timeindex.cleaned",
    }


def test_a_segment_in_which_nothing_changes_is_not_replaced():
    world = World({0: [records(0, (b"a", b"1"))]}, end=1)

    assert world.run().replacements == ()
    assert not any(name.endswith(".cleaned") for name in world.disk.names("t-0"))


def test_what_is_written_is_indexed_and_synced():
    batches = [records(n, (b"%d" % (n % 20), b"x" * 50)) for n in range(40)]
    world = World({0: batches[:30], 30: batches[30:]}, end=40)

    world.run()
    cleaned = world.cleaned(0)

    assert cleaned.indexes.complaint(cleaned.size) is None
    assert cleaned.max_timestamp == 139
    assert [batch.base_offset for batch in cleaned.batches(cleaned.position_of(33))] == list(range(33, 40))
    assert cleaned.load_tail() == 40


def test_a_map_too_small_for_all_keys_cleans_as_far_as_it_goes():
    batches = [records(n, (b"%d" % (n % 30), b"x")) for n in range(60)]
    world = World({0: batches}, end=60)
    fifteen_keys = 17 * BYTES_PER_SLOT

    assert world.run(buffer_bytes=fifteen_keys).cleaned_upto == 15
    result = world.run(first_dirty=30, buffer_bytes=fifteen_keys)

    assert result.cleaned_upto == 45
    assert [offset for offset, _, _ in world.left(0)] == list(range(15, 60))


def test_a_segment_beyond_what_the_map_covers_is_left_alone():
    batches = [records(n, (b"%d" % n, b"x")) for n in range(60)]
    world = World({0: [*batches[:30], records(30, (b"0", b"y"))], 31: [records(31, (b"new", b"x"))]}, end=32)

    result = world.run(buffer_bytes=17 * BYTES_PER_SLOT)

    assert result.cleaned_upto <= 17
    assert result.replacements == ()
    assert result.bytes_read == world.disk.names("t-0")[layout.file_name(0, layout.LOG)]


def test_aborted_records_do_not_supersede_committed_ones():
    world = World(
        {
            0: [records(0, (b"a", b"kept"))],
            1: [transaction(1, (b"a", b"aborted")), marker(2, committed=False)],
        },
        end=3,
    )
    aborted = AbortedTransaction(7, 1, 2, 3)

    world.run(aborted=(aborted,))

    assert world.left(0)[0] == (0, b"a", b"kept")
    assert [batch.base_offset for batch in world.cleaned(0).batches()] == [0, 2]
    assert list(world.cleaned(0).indexes.aborts.entries()) == [aborted]


def test_a_transaction_aborted_beyond_the_round_is_cleaned_by_what_the_owner_says():
    world = World(
        {0: [records(0, (b"a", b"kept")), transaction(1, (b"a", b"aborted")), records(2, (b"b", b"2"))]},
        end=3,
    )

    world.run(aborted=(AbortedTransaction(7, 1, 50, 51),))

    assert world.left(0) == [(0, b"a", b"kept"), (2, b"b", b"2")]


def test_an_old_abort_of_a_producer_does_not_touch_its_later_commit():
    world = World(
        {
            0: [transaction(0, (b"a", b"1")), marker(1, committed=False)],
            2: [records(2, (b"b", b"0")), transaction(3, (b"b", b"1")), marker(4, committed=True)],
        },
        end=5,
    )

    world.run(first_dirty=2, aborted=(AbortedTransaction(7, 0, 1, 2),))

    assert (3, b"b", b"1") in world.left(0)
    assert (2, b"b", b"0") not in world.left(0)


def test_the_last_batch_of_a_producer_stays_as_a_header():
    first = records(0, (b"a", b"1"), producer_id=9, producer_epoch=4, base_sequence=2)
    world = World({0: [first], 1: [records(1, (b"a", b"2"))]}, end=2)

    world.run(producers={9: ProducerEnd(0, 4)})

    assert [(b.base_offset, b.count, b.producer_id) for b in world.cleaned(0).batches()] == [
        (0, 0, 9),
        (1, 1, -1),
    ]


def test_a_log_with_a_damaged_batch_is_not_compacted():
    damaged = records(0, (b"a", b"1"))
    damaged[-1] ^= 1
    world = World({0: [damaged], 1: [records(1, (b"a", b"2"))]}, end=2)

    assert "fails its checksum" in world.run().reason


def test_a_segment_that_is_gone_ends_the_job_and_is_not_made_anew():
    world = World({0: [records(0, (b"a", b"1"))], 1: [records(1, (b"a", b"2"))]}, end=2)
    world.disk.remove("t-0/00000000000000000000.log")

    with pytest.raises(AndironError, match="is gone"):
        world.run()
    assert not world.disk.exists("t-0/00000000000000000000.log")


def test_litter_of_a_job_that_died_is_removed():
    world = World({0: [records(0, (b"a", b"1"))]}, end=1)
    for name in ("00000000000000000000.log.cleaned", "00000000000000000000.txnindex.cleaned"):
        world.disk.open(f"t-0/{name}").append(b"half a batch")

    world.run()

    assert not any(name.endswith(".cleaned") for name in world.disk.names("t-0"))


# ── groups ───────────────────────────────────────────────────────────────────────────


class Sized(NamedTuple):
    base: int
    size: int


def groups(*segments, end=10_000, sizes=None, **settings):
    limits = LogSettings(**{"segment_bytes": 100, "segment_index_bytes": 1000, **settings})
    return [[each.base for each in group] for group in plan_groups(segments, sizes or {}, limits, end)]


def test_neighbours_go_together_as_long_as_they_fit():
    assert groups(Sized(0, 40), Sized(10, 60), Sized(20, 1), Sized(30, 99), Sized(40, 50)) == [
        [0, 10],
        [20, 30],
        [40],
    ]
    assert groups(Sized(0, 500), Sized(10, 500)) == [[0], [10]]
    assert groups() == []


def test_their_indexes_must_fit_too():
    sizes = {layout.file_name(base, layout.INDEX): 8 for base in (0, 10, 20)}
    assert groups(Sized(0, 1), Sized(10, 1), Sized(20, 1), sizes=sizes, segment_index_bytes=16) == [
        [0, 10],
        [20],
    ]
    sizes = {layout.file_name(base, layout.TIME_INDEX): 12 for base in (0, 10, 20)}
    assert groups(Sized(0, 1), Sized(10, 1), Sized(20, 1), sizes=sizes, segment_index_bytes=24) == [
        [0, 10],
        [20],
    ]


def test_their_offsets_must_fit_into_four_bytes():
    far = 1 << 31
    assert groups(Sized(0, 1), Sized(10, 1), end=far) == [[0, 10]]
    assert groups(Sized(0, 1), Sized(10, 1), end=far + 1) == [[0], [10]]
    assert groups(Sized(0, 1), Sized(10, 0), end=far + 1) == [[0, 10]]
