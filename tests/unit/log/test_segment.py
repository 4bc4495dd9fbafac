from __future__ import annotations

import pytest

from andiron.log import scan
from andiron.log.layout import CLEANED, DELETED
from andiron.log.segment import RELATIVE_OFFSET_MAX, Segment
from andiron.log.settings import LogSettings
from andiron.model.errors import ProtocolError
from andiron.model.settings import DAY
from andiron.records.batch import Batch, iterate
from andiron.sim.disk import MemoryDisk
from unit.log.logs import batch_of

BASE = 100
INTERVAL = 500  # about three batches


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("t-0")
    return disk


def create(disk, **settings):
    return Segment.create(disk, "t-0", BASE, LogSettings(index_interval_bytes=INTERVAL, **settings), 0)


def reopen(disk):
    return Segment.open(disk, "t-0", BASE, LogSettings(index_interval_bytes=INTERVAL))


def fill(segment, count=20, *, timestamp=lambda offset: offset, start=BASE):
    """Batches of two records each; returns their size."""
    for offset in range(start, start + 2 * count, 2):
        batch = Batch(batch_of(2, base_offset=offset, timestamp=timestamp(offset)))
        segment.append(batch.raw, batch.last_offset, batch.max_timestamp)
    return batch.size


def bases(piece):
    return [] if piece is None else [batch.base_offset for batch in iterate(piece.read())]


def sealed(disk):
    segment = create(disk)
    size = fill(segment)
    segment.seal()
    segment.close()
    return reopen(disk), size


def test_a_new_segment_has_its_files_and_nothing_in_them(disk):
    segment = create(disk)
    assert list(disk.names("t-0").values()) == [0, 0, 0]
    assert (segment.size, segment.indexes.max_timestamp, segment.first_timestamp) == (0, -1, -1)


def test_a_segment_without_timestamps_is_as_old_as_its_making(disk):
    segment = Segment.create(disk, "t-0", BASE, LogSettings(), 777)
    assert segment.max_timestamp == 777
    fill(segment, 1, timestamp=lambda _: -2)
    assert segment.max_timestamp == 777
    fill(segment, 1, timestamp=lambda _: 5, start=BASE + 2)
    assert segment.max_timestamp == 6


def test_every_offset_is_found_in_the_batch_that_holds_it(disk):
    segment, size = sealed(disk)
    for offset in range(BASE, BASE + 40):
        assert segment.position_of(offset) == (offset - BASE) // 2 * size
    assert segment.position_of(BASE + 40) == segment.size
    assert segment.position_of(BASE - 50) == 0


def test_appended_indexes_stay_in_memory_until_sealed(disk):
    segment = create(disk)
    fill(segment)
    assert disk.names("t-0")["00000000000000000100.index"] == 0
    segment.seal()
    assert disk.names("t-0")["00000000000000000100.index"] > 0


def test_a_read_ends_with_a_whole_batch_below_its_limit(disk):
    segment, size = sealed(disk)
    for max_bytes in range(size, 12 * size, 50):
        piece = segment.read(BASE, max_bytes, BASE + 40, BASE + 40, at_least_one=True)
        assert len(piece) % size == 0
        assert max_bytes - INTERVAL - 2 * size <= len(piece) <= max_bytes


def test_a_read_stops_below_upto(disk):
    segment, _ = sealed(disk)
    assert bases(segment.read(BASE + 4, 1 << 20, BASE + 8, BASE + 40, at_least_one=True)) == [104, 106]
    assert bases(segment.read(BASE + 4, 1 << 20, BASE + 7, BASE + 40, at_least_one=True)) == [104]
    assert segment.read(BASE + 4, 1 << 20, BASE + 5, BASE + 40, at_least_one=True) is None


def test_a_first_batch_too_large_comes_whole_or_not_at_all(disk):
    segment, _ = sealed(disk)
    assert bases(segment.read(BASE + 3, 1, BASE + 40, BASE + 40, at_least_one=True)) == [102]
    assert segment.read(BASE + 3, 1, BASE + 40, BASE + 40, at_least_one=False) is None


def test_the_last_batch_too_large_comes_whole(disk):
    segment, _ = sealed(disk)
    assert bases(segment.read(BASE + 39, 1, BASE + 40, BASE + 40, at_least_one=True)) == [138]


def test_a_reader_that_goes_on_is_not_searched_for(disk, monkeypatch):
    segment, size = sealed(disk)
    first = segment.read(BASE, 5 * size, BASE + 40, BASE + 40, at_least_one=True)
    next_offset = BASE + 2 * len(bases(first))
    monkeypatch.setattr("andiron.log.scan.walk_to", None)
    again = segment.read(next_offset, 5 * size, BASE + 40, BASE + 40, at_least_one=True)
    assert bases(again)[0] == next_offset


def test_a_reader_at_the_end_goes_on_with_what_is_appended(disk, monkeypatch):
    segment = create(disk)
    fill(segment, 5)
    segment.read(BASE, 1 << 20, BASE + 10, BASE + 10, at_least_one=True)
    fill(segment, 2, start=BASE + 10)
    monkeypatch.setattr("andiron.log.scan.walk_to", None)
    assert bases(segment.read(BASE + 10, 1 << 20, BASE + 14, BASE + 14, at_least_one=True)) == [110, 112]


def test_memory_of_readers_is_bounded(disk):
    segment, _ = sealed(disk)
    for offset in range(BASE + 1, BASE + 40):
        segment.position_of(offset)
    assert len(segment._marks) <= 16


def test_the_tail_is_loaded_from_the_last_index_entry(disk, monkeypatch):
    segment, _ = sealed(disk)
    seen = []
    headers = scan.headers
    monkeypatch.setattr(
        scan, "headers", lambda file, position, end: seen.append(position) or headers(file, position, end)
    )
    assert segment.load_tail() == BASE + 40
    assert seen == [segment.indexes.offsets.last()[1]]


def test_appending_goes_on_after_a_reopening(disk):
    segment, size = sealed(disk)
    segment.load_tail()
    fill(segment, 20, start=BASE + 40)
    for offset in range(BASE, BASE + 80):
        assert segment.position_of(offset) == (offset - BASE) // 2 * size
    assert segment.max_timestamp == BASE + 79


def test_a_torn_tail_is_noticed(disk):
    segment, _ = sealed(disk)
    segment.file.truncate(segment.size - 10)
    with pytest.raises(ProtocolError, match="goes beyond"):
        reopen(disk).load_tail()


@pytest.mark.parametrize("offset", [BASE + 12, BASE + 13])
def test_truncation_is_to_the_start_of_a_batch(disk, offset):
    segment, size = sealed(disk)
    assert segment.truncate_to(offset) == BASE + 12
    assert segment.size == 6 * size
    assert segment.max_timestamp == BASE + 11
    assert segment.indexes.offsets.last()[0] < BASE + 12
    fill(segment, 3, start=BASE + 12)
    assert segment.position_of(BASE + 14) == 7 * size


def test_truncation_to_nothing_leaves_an_empty_segment(disk):
    segment, _ = sealed(disk)
    assert segment.truncate_to(BASE) == BASE
    assert (segment.size, segment.indexes.max_timestamp, segment.first_timestamp) == (0, -1, -1)


@pytest.mark.parametrize("damage", [bytes(8 * 7), b"\x00\x00\x00\x05\x7f\x00\x00\x00", b"torn"])
def test_a_lying_index_is_made_anew_when_it_is_used(disk, damage):
    _, size = sealed(disk)
    disk.write_file("t-0/00000000000000000100.index", damage)
    again = reopen(disk)
    assert again.position_of(BASE + 20) == 10 * size
    assert again.indexes.complaint(again.size) is None


def test_an_index_that_points_between_batches_is_made_anew(disk):
    _, size = sealed(disk)
    path = "t-0/00000000000000000100.index"
    data = bytearray(disk.read_file(path))
    data[7] += 1  # the first entry's position
    disk.write_file(path, bytes(data))
    again = reopen(disk)
    assert again.position_of(BASE + 9) == 4 * size
    assert again.read(BASE, 5 * size, BASE + 40, BASE + 40, at_least_one=True) is not None


def test_a_damaged_log_is_not_blamed_on_its_index_for_ever(disk):
    segment, size = sealed(disk)
    data = bytearray(disk.read_file(segment.path))
    data[5 * size + 16] = 77  # the magic of the sixth batch
    disk.write_file(segment.path, bytes(data))
    again = reopen(disk)
    for _ in range(2):
        with pytest.raises(ProtocolError):
            again.position_of(BASE + 15)
    assert again.size == segment.size
    assert again.position_of(BASE + 3) == size


def test_time_is_looked_up_by_index_then_offset(disk):
    segment, size = sealed(disk)
    position = segment.position_for_time(BASE + 21, BASE)
    assert 0 < position <= 10 * size


def test_a_missing_index_shows_in_the_listing(disk):
    segment, _ = sealed(disk)
    assert not segment.lacks_index(disk.names("t-0"))
    disk.remove("t-0/00000000000000000100.timeindex")
    assert segment.lacks_index(disk.names("t-0"))


def test_renaming_takes_every_file_along(disk):
    segment, size = sealed(disk)
    paths = segment.rename(DELETED)
    assert paths == [f"t-0/00000000000000000100.{kind}.deleted" for kind in ("log", "index", "timeindex")]
    assert list(disk.names("t-0")) == sorted(path[4:] for path in paths)
    assert segment.position_of(BASE + 21) == 10 * size


def test_a_segment_can_be_written_under_another_state(disk):
    cleaned = Segment.create(disk, "t-0", BASE, LogSettings(), 0, state=CLEANED)
    fill(cleaned, 3)
    cleaned.seal()
    cleaned.close()
    again = Segment.open(disk, "t-0", BASE, LogSettings(), state=CLEANED)
    assert [batch.base_offset for batch in again.batches()] == [100, 102, 104]


# ── when a new one is due ────────────────────────────────────────────────────────────


def due(segment, *, size=10, last=BASE + 50, timestamp=0, now=0, segment_bytes=1 << 20):
    return segment.is_due(size, last, timestamp, now, segment_bytes)


def test_an_empty_segment_takes_anything_its_offsets_can_express(disk):
    segment = create(disk)
    assert not due(segment, size=1 << 30, timestamp=1 << 40)
    assert not due(segment, last=BASE + RELATIVE_OFFSET_MAX)
    assert due(segment, last=BASE + RELATIVE_OFFSET_MAX + 1)


def test_a_new_segment_is_due_by_size(disk):
    segment = create(disk)
    fill(segment, 1)
    assert not due(segment, size=10, segment_bytes=segment.size + 10)
    assert due(segment, size=11, segment_bytes=segment.size + 10)


def test_a_new_segment_is_due_by_the_time_of_its_records(disk):
    segment = create(disk, segment_ms=1_000)
    fill(segment, 1, timestamp=lambda _: 5_000)
    assert not due(segment, timestamp=6_001, now=1 << 40)
    assert due(segment, timestamp=6_002)
    assert segment.roll_at == 6_001


def test_without_timestamps_the_clock_decides(disk):
    segment = create(disk, segment_ms=1_000)
    fill(segment, 1, timestamp=lambda _: -2)
    assert segment.first_timestamp == -1
    assert not due(segment, timestamp=-1, now=1_000)
    assert due(segment, timestamp=-1, now=1_001)


def test_jitter_brings_the_time_forward_by_a_stable_amount(disk):
    spans = []
    for base in (0, 1, 2):
        settings = LogSettings(segment_ms=DAY, segment_jitter_ms=DAY // 2)
        segment = Segment.create(disk, "t-0", base, settings, 0)
        fill(segment, 1, timestamp=lambda _: 0, start=base)
        again = Segment.open(disk, "t-0", base, settings)
        due(again)
        assert again.roll_at == segment.roll_at
        spans.append(segment.roll_at)
    assert len(set(spans)) == 3
    assert all(DAY // 2 < span <= DAY + 1 for span in spans)


def test_a_new_segment_is_due_when_its_index_is_full(disk):
    segment = create(disk, segment_index_bytes=40)
    fill(segment, 20, timestamp=lambda _: 0)
    assert len(segment.indexes.offsets) == 4
    assert not due(segment)
    fill(segment, 4, start=BASE + 40, timestamp=lambda _: 0)
    assert due(segment)
    assert segment.roll_at < 0, "every further append asks again"


def test_a_compacted_topics_segment_does_not_stay_active_beyond_its_lag(disk):
    segment = create(disk, cleanup_policy=("compact",), max_compaction_lag_ms=10)
    fill(segment, 1, timestamp=lambda _: 0)
    assert due(segment, timestamp=12)
