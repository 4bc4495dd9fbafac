from __future__ import annotations

import pytest

from andiron.log.layout import CLEANED
from andiron.log.producer_snapshots import ProducerSnapshots
from andiron.log.producers import Producers
from andiron.log.segment import Segment
from andiron.log.segments import Segments
from andiron.log.settings import LogSettings
from andiron.model.ids import NEVER
from andiron.records.batch import Batch
from andiron.sim.disk import MemoryDisk
from unit.log.logs import batch_of

SETTINGS = LogSettings(file_delete_delay_ms=60)


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("t-0")
    return disk


def write(segment):
    batch = Batch(batch_of(10, base_offset=segment.base))
    segment.append(batch.raw, batch.last_offset, batch.max_timestamp)


def segments_of(disk, *bases):
    """One batch of ten records in each; all but the first were rolled to."""
    first = Segment.create(disk, "t-0", bases[0], SETTINGS, 0)
    segments = Segments(disk, "t-0", [first], ProducerSnapshots(disk, "t-0", ()))
    write(first)
    for base in bases[1:]:
        segments.roll(base, Producers(), SETTINGS, 0)
        write(segments.active)
    return segments


def names(disk):
    return [name.lstrip("0") for name in disk.names("t-0")]


def test_offsets_are_in_the_segment_that_begins_before_them(disk):
    segments = segments_of(disk, 10, 20, 30)
    assert [segments.number_of(offset) for offset in (0, 10, 19, 20, 30, 99)] == [0, 0, 0, 1, 2, 2]
    assert [segment.base for segment in segments.holding(25)] == [20, 30]
    assert [segments.end_of(number, 40) for number in range(3)] == [20, 30, 40]


def test_rolling_seals_and_takes_a_snapshot(disk):
    segments_of(disk, 10, 20)
    assert names(disk) == [
        "10.index",
        "10.log",
        "10.timeindex",
        "20.index",
        "20.log",
        "20.snapshot",
        "20.timeindex",
    ]
    assert disk.names("t-0")["00000000000000000010.timeindex"] == 12


def test_an_empty_active_segment_makes_room(disk):
    segments = segments_of(disk, 10)
    segments.roll(20, Producers(), SETTINGS, 0)
    segments.roll(5_000_000_000, Producers(), SETTINGS, 0)
    assert segments.bases == [10, 5_000_000_000]
    assert "20.log.deleted" in names(disk)


def test_what_is_given_up_waits_under_another_name(disk):
    segments = segments_of(disk, 10, 20, 30)
    segments.give_up(segments[:2], due=60)
    assert segments.bases == [30]
    assert [name for name in names(disk) if not name.startswith("30")] == [
        "10.index.deleted",
        "10.log.deleted",
        "10.timeindex.deleted",
        "20.index.deleted",
        "20.log.deleted",
        "20.timeindex.deleted",
    ]
    assert segments.snapshots.newest == 30


def test_removals_are_handed_out_once_when_due(disk):
    segments = segments_of(disk, 10, 20, 30)
    segments.give_up(segments[:1], due=60)
    segments.give_up(segments[:1], due=80)
    assert segments.next_removal() == 60
    assert segments.due_removals(59) == []
    assert len(segments.due_removals(60)) == 3
    assert segments.next_removal() == 80
    assert len(segments.due_removals(90)) == 3
    assert segments.due_removals(90) == []
    assert segments.next_removal() == NEVER


def test_a_slice_can_still_be_read_after_its_segment_was_given_up(disk):
    segments = segments_of(disk, 10, 20)
    piece = segments[0].read(10, 1 << 20, 20, 20, at_least_one=True)
    segments.give_up(segments[:1], due=60)
    assert Batch(piece.read()).base_offset == 10


def test_restarting_gives_up_everything_and_begins_elsewhere(disk):
    segments = segments_of(disk, 10, 20)
    segments.restart(10, 30, SETTINGS, now=5)
    assert segments.bases == [10]
    assert segments.active.size == 0
    assert segments.snapshots.newest == -1
    assert segments.next_removal() == 65


def cleaned_segment(disk, base, *bases):
    cleaned = Segment.create(disk, "t-0", base, SETTINGS, 0, state=CLEANED)
    for each in bases:
        batch = Batch(batch_of(1, base_offset=each))
        cleaned.append(batch.raw, batch.last_offset, batch.max_timestamp)
    cleaned.seal()
    cleaned.close()


def test_a_compacted_segment_takes_the_place_of_those_it_was_made_from(disk):
    segments = segments_of(disk, 10, 20, 30)
    cleaned_segment(disk, 10, 13, 27)
    assert segments.swap([10, 20], 10, SETTINGS, due=60)
    assert segments.bases == [10, 30]
    assert [batch.base_offset for batch in segments[0].batches()] == [13, 27]
    assert len(segments.due_removals(60)) == 6
    assert not any(name.endswith((CLEANED, ".swap")) for name in names(disk))


@pytest.mark.parametrize("old", [[5, 10], [20, 30]])
def test_a_compacted_segment_is_dropped_if_the_log_has_moved_on(disk, old):
    segments = segments_of(disk, 10, 20, 30)
    cleaned_segment(disk, old[0])
    assert not segments.swap(old, old[0], SETTINGS, due=60)
    assert segments.bases == [10, 20, 30]
    assert not any(CLEANED in name for name in names(disk))
