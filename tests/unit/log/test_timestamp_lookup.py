from __future__ import annotations

import pytest

from andiron.log.timestamp_lookup import TimestampAndOffset, time_of
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.crc32c import crc32c
from andiron.records.record import Record
from andiron.sim.disk import MemoryDisk
from unit.log.logs import append, batch_of, open_log

HEADER_BYTES = 61


def filled(*timestamps, **settings):
    """A batch of two records for each timestamp, the second a millisecond later."""
    log = open_log(**{"segment_bytes": 500, "index_interval_bytes": 100, **settings})
    for epoch, timestamp in enumerate(timestamps):
        append(log, 2, epoch=epoch, timestamp=timestamp)
    return log


RISING = range(100, 300, 10)


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        (0, TimestampAndOffset(0, 100, 0)),
        (100, TimestampAndOffset(0, 100, 0)),
        (101, TimestampAndOffset(1, 101, 0)),
        (102, TimestampAndOffset(2, 110, 1)),
        (205, TimestampAndOffset(22, 210, 11)),
        (291, TimestampAndOffset(39, 291, 19)),
        (292, None),
    ],
)
def test_the_first_record_at_or_after_a_time_is_found(timestamp, found):
    assert filled(*RISING).offset_for_time(timestamp, 40) == found


def test_times_that_go_back_do_not_hide_an_earlier_offset():
    log = filled(100, 500, 50, 60, 70, 80, 90, 95, 600)
    assert log.offset_for_time(90, 18) == (0, 100, 0)
    assert log.offset_for_time(200, 18) == (2, 500, 1)
    assert log.offset_for_time(550, 18) == (16, 600, 8)


def test_nothing_at_or_beyond_upto_is_found():
    log = filled(*RISING)
    assert log.offset_for_time(205, 22) is None
    assert log.offset_for_time(205, 23) == (22, 210, 11)
    assert log.offset_for_time(101, 1) is None


def test_nothing_before_the_start_is_found():
    log = filled(100, 500, 50, 60, 70, 80, 90, 95, 600)
    log.advance_start(4)
    assert log.offset_for_time(55, 18) == (6, 60, 3)
    assert log.offset_for_time(200, 18) == (16, 600, 8)


def test_a_start_within_a_batch_counts_record_by_record():
    log = filled(100, 200)
    log.advance_start(1)
    assert log.offset_for_time(0, 4) == (1, 101, 0)


def test_under_append_time_all_records_of_a_batch_have_its_time():
    log = open_log(message_timestamp_type="LogAppendTime")
    append(log, 3, now=1_000)
    append(log, 3, now=2_000)
    assert log.offset_for_time(1_500, 6) == (3, 2_000, 0)


def test_compressed_batches_are_opened():
    log = open_log()
    append(log, 5, timestamp=100, codec=1)
    assert log.offset_for_time(103, 5) == (3, 103, 0)


def test_the_latest_record_is_the_first_with_the_largest_time():
    log = filled(100, 500, 50, 500, 70, 80, 90, 95, 60)
    assert log.offset_of_max_timestamp(18) == (3, 501, 1)


def test_the_latest_record_is_looked_for_where_compaction_left_a_header_alone():
    """The time that it had is known still, and no record has it."""
    log = filled(100, 400, 50, segment_bytes=10_000)
    spent = bytearray(batch_of(1, timestamp=500))
    del spent[HEADER_BYTES:]
    spent[8:12] = (HEADER_BYTES - 12).to_bytes(4, "big")
    spent[57:61] = bytes(4)
    spent[17:21] = crc32c(spent[21:]).to_bytes(4, "big")
    log.append(Batch(spent), 3, 0)
    append(log, 1, epoch=4, timestamp=401)
    assert log.offset_of_max_timestamp(8) == (3, 401, 1)


def timeless(log, batches):
    for _ in range(batches):
        raw = build([Record(0, -1, b"k", b"v" * 40)] * 2)
        log.append(Batch(raw), 0, 0)


def test_where_no_record_has_a_timestamp_the_latest_is_the_first():
    log = open_log(segment_bytes=400)
    timeless(log, 12)

    assert log.offset_of_max_timestamp(24) == (0, -1, 0)
    assert log.offset_for_time(0, 24) is None
    append(log, 1, timestamp=5)
    assert log.offset_of_max_timestamp(25) == (24, 5, 0)


def test_segments_without_timestamps_are_not_scanned_anew_by_every_start(caplog):
    disk = MemoryDisk()
    log = open_log(disk, segment_bytes=400)
    timeless(log, 12)
    log.close()

    again = open_log(disk, clean=True, segment_bytes=400)

    assert again.offset_of_max_timestamp(24) == (0, -1, 0)
    assert len(again.segments) > 2
    assert not any(len(each.indexes.times) for each in again.segments)
    assert caplog.messages == []


def test_a_time_index_that_was_emptied_is_made_anew(caplog):
    disk = MemoryDisk()
    log = open_log(disk, segment_bytes=400)
    for timestamp in (100, 200, 300, 400):
        append(log, 2, timestamp=timestamp)
    log.close()
    first = log.segments[0].indexes.times.path
    disk.open(first).truncate(0)

    again = open_log(disk, clean=True, segment_bytes=400)

    assert again.segments[0].indexes.max_timestamp > 0
    assert "the time index does not say when the segment ends" in caplog.text


def test_the_latest_record_is_none_if_it_lies_beyond_upto():
    log = filled(100, 500, 50)
    assert log.offset_of_max_timestamp(3) is None


def test_the_latest_record_is_one_of_those_that_are_not_deleted():
    log = filled(100, 500, 50, 300, 300, 70, 80, 90, 95)
    log.advance_start(4)
    assert log.offset_of_max_timestamp(18) == (7, 301, 3)
    log.advance_start(18)
    assert log.offset_of_max_timestamp(18) is None


def test_an_empty_log_has_no_latest_record():
    log = open_log()
    assert log.offset_of_max_timestamp(0) is None
    assert log.offset_for_time(0, 0) is None


def test_it_is_the_same_after_a_restart():
    log = filled(100, 500, 50, 60, 70, 80, 90, 95, 300)
    log.close()
    again = open_log(log._disk, clean=True, segment_bytes=500, index_interval_bytes=100)
    assert again.offset_of_max_timestamp(18) == (3, 501, 1)
    assert again.offset_for_time(200, 18) == (2, 500, 1)


def test_an_index_that_leads_astray_is_not_followed():
    log = filled(*RISING, *RISING, index_interval_bytes=0, segment_bytes=3_200)
    log.close()
    index = log._disk.open("data/orders-0/00000000000000000000.index")
    entries = index.read(0, index.size)
    index.truncate(0)
    index.append(bytes(4) + entries[84:88] + entries[8:])  # says that offset 0 is where the eleventh entry is
    again = open_log(log._disk, clean=True, segment_bytes=3_200)
    for number, timestamp in enumerate(RISING):
        assert again.offset_for_time(timestamp, 40).offset == 2 * number


def test_the_time_of_an_offset_is_that_at_which_its_batch_began():
    segments = filled(*RISING).segments
    assert [time_of(segments, offset) for offset in (0, 1, 2, 3, 39)] == [100, 100, 110, 110, 290]
    assert time_of(segments, 40) is None


def test_where_the_broker_sets_the_time_it_is_that():
    log = filled(100, 200, message_timestamp_type="LogAppendTime")
    assert time_of(log.segments, 0) == log.segments[0].max_timestamp


def test_records_may_have_no_time():
    assert time_of(filled(-1).segments, 0) is None
