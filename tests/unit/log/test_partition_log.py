"""A log is appended to, rolls its segments, is read, and takes what its leader has.

Its bounds: test_log_bounds.py. Its stops and starts: test_log_life.py.
"""

from __future__ import annotations

import random

import pytest

from andiron.log.partition_log import LogAppendInfo
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, iterate, stamp
from andiron.sim.disk import MemoryDisk
from unit.log.logs import (
    ALL,
    SIZE,
    append,
    batch_of,
    code_of,
    filled,
    flush,
    offsets,
    open_log,
)

# ── append ───────────────────────────────────────────────────────────────────────────


def test_an_append_gives_offset_and_epoch_and_writes_them_into_the_batch():
    log = open_log()
    append(log, 5)
    records = batch_of(3)
    appended = log.append(Batch(records), 8, 0)
    assert appended == LogAppendInfo(5, -1, 8, duplicate=False, to_disk=False)
    stored = Batch(records)
    assert (stored.base_offset, stored.leader_epoch) == (5, 8)
    assert stored.is_intact()
    assert log.end == 8


def test_append_time_is_written_into_the_batch():
    log = open_log(message_timestamp_type="LogAppendTime")
    records = batch_of(3, timestamp=5)
    assert log.append(Batch(records), 0, 777).append_time == 777
    stored = Batch(records)
    assert (stored.max_timestamp, stored.timestamp_type) == (777, 1)
    assert stored.is_intact()
    assert log.segments.active.max_timestamp == 777


def test_a_duplicate_is_answered_and_not_written():
    log = open_log()
    append(log, 5)
    first = append(log, 3, timestamp=40, producer_id=7, producer_epoch=0, base_sequence=0)
    again = append(log, 3, timestamp=40, producer_id=7, producer_epoch=0, base_sequence=0)
    assert first == LogAppendInfo(5, -1, 8, duplicate=False, to_disk=False)
    assert again == LogAppendInfo(5, 42, 8, duplicate=True, to_disk=False)
    assert log.end == 8


def test_a_sequence_out_of_turn_changes_nothing():
    log = open_log()
    append(log, 3, producer_id=7, producer_epoch=0, base_sequence=0)
    wrong = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 9}
    assert code_of(lambda: append(log, **wrong)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert (log.end, log.size) == (3, log.segments.active.file.size)


def test_a_batch_larger_than_a_segment_is_refused():
    log = open_log(segment_bytes=100)
    assert code_of(lambda: append(log, 5)) is ErrorCode.RECORD_LIST_TOO_LARGE
    assert log.end == 0


def test_a_full_disk_leaves_the_log_as_it_was_and_says_why():
    disk = MemoryDisk()
    log = filled(7, disk)
    before = (log.end, log.size, log.segments.bases, log.epochs.entries(), len(log.producers))
    disk.fill_up(10)
    with pytest.raises(ProtocolError, match="no space left") as refused:
        append(log, 2, epoch=5, producer_id=7, producer_epoch=0, base_sequence=0)
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (log.end, log.size, log.segments.bases, log.epochs.entries(), len(log.producers)) == before
    disk.free_up()
    assert append(log, 2).base_offset == 14
    assert offsets(log) == ALL[:8]


@pytest.mark.parametrize("room", range(0, 300, 7))
def test_a_disk_that_fills_up_during_a_roll_does_no_harm(room):
    disk = MemoryDisk()
    log = filled(9, disk)
    disk.fill_up(room)
    for _ in range(3):
        try:
            append(log, 2)
        except ProtocolError:
            continue
    disk.free_up()
    count = int(log.end) // 2
    append(log, 2)
    wanted = [(2 * number, 2 * number + 1) for number in range(count + 1)]
    assert offsets(log) == wanted
    assert offsets(open_log(disk, segment_bytes=3 * SIZE)) == wanted


# ── rolling ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("room", range(0, 80, 2))
def test_a_segment_that_could_not_be_begun_is_no_gap_in_the_log(room):
    disk, segment_bytes = MemoryDisk(), 3 * SIZE + 100
    log = filled(3, disk, segment_bytes=segment_bytes)
    flush(log)
    disk.fill_up(room)
    with pytest.raises(ProtocolError, match="no space left"):
        append(log, 2)
    disk.free_up()
    append(log, 1, value=b"")  # may still fit where the other did not
    append(log, 2)
    append(log, 2)

    again = open_log(disk, segment_bytes=segment_bytes, recovery_point=6)

    assert offsets(again) == [*ALL[:3], (6, 6), (7, 8), (9, 10)]


def test_a_segment_rolls_by_size():
    assert filled().segments.bases == [0, 6, 12, 18]


def test_a_segment_rolls_by_time():
    log = open_log(segment_ms=1_000)
    append(log, timestamp=5_000)
    append(log, timestamp=6_000)
    append(log, timestamp=6_001)
    assert log.segments.bases == [0, 2]


def test_a_segment_rolls_when_its_index_is_full():
    log = open_log(index_interval_bytes=100, segment_index_bytes=60)
    for timestamp in range(20):
        append(log, timestamp=timestamp)
    assert len(log.segments) > 1
    for segment in log.segments[:-1]:
        assert len(segment.indexes.offsets) * 8 <= 60
        assert len(segment.indexes.times) * 12 <= 60


def test_the_clock_rolls_an_old_segment_if_asked():
    log = open_log(segment_ms=1_000)
    append(log, timestamp=5_000)
    assert not log.roll_if_due(6_000)
    assert log.roll_if_due(6_001)
    assert not log.roll_if_due(10**12), "an empty segment does not grow old"
    assert log.segments.bases == [0, 1]


def test_new_settings_count_from_the_next_append_on():
    log = open_log()
    append(log, timestamp=0)
    log.replace_settings(LogSettings(segment_ms=10, message_timestamp_type="LogAppendTime"))
    assert append(log, now=11).append_time == 11
    assert log.segments.bases == [0, 1]


# ── reading ──────────────────────────────────────────────────────────────────────────


def test_everything_is_read_segment_by_segment():
    log = filled()
    assert offsets(log) == ALL
    assert [len(log.read(offset, 1 << 20, 20)) // SIZE for offset in (0, 3, 6, 18)] == [3, 2, 3, 1]


def test_an_offset_within_a_batch_gives_that_batch():
    piece = filled().read(7, 1 << 20, 20)
    assert next(iterate(piece.read())).base_offset == 6


@pytest.mark.parametrize("offset", [-1, 4, 21])
def test_an_offset_out_of_the_log_is_refused(offset):
    log = filled()
    log.advance_start(5)
    assert code_of(lambda: log.read(offset, 1, 20)) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_at_the_end_there_is_nothing_yet():
    log = filled()
    assert log.read(20, 1 << 20, 20) is None
    assert open_log().read(0, 1 << 20, 0) is None


def test_nothing_at_or_beyond_upto_is_given():
    log = filled()
    assert offsets(log, 0, upto=9) == ALL[:4]
    assert log.read(10, 1 << 20, 9) is None
    assert log.read(8, 1 << 20, 9) is None


def test_upto_beyond_the_end_is_the_end():
    assert offsets(filled(), 18, upto=1_000) == [(18, 19)]


def test_where_compaction_took_the_end_of_a_segment_the_next_one_goes_on():
    log = filled()
    sealed = log.segments[1]
    sealed.truncate_to(8)
    assert offsets(log) == ALL[:4] + ALL[6:]
    assert next(iterate(log.read(9, 1 << 20, 20).read())).base_offset == 12


def test_without_at_least_one_a_large_batch_waits():
    log = filled()
    assert log.read(2, SIZE - 1, 20, at_least_one=False) is None
    assert len(log.read(2, SIZE - 1, 20)) == SIZE


def test_a_disk_that_fails_to_read_is_a_storage_error():
    log = filled()
    log._disk.crash(random.Random(1))
    assert code_of(lambda: log.read(3, 1 << 20, 20).read()) is ErrorCode.KAFKA_STORAGE_ERROR


# ── replicating ──────────────────────────────────────────────────────────────────────


def test_a_follower_holds_what_its_leader_has():
    leader = open_log()
    for epoch in (3, 3, 5):
        append(leader, 2, epoch=epoch, producer_id=7, producer_epoch=0, base_sequence=leader.end)
    follower = open_log()
    assert follower.append_replicated(leader.read(0, 1 << 20, 6).read(), 0) == 6
    assert follower.read(0, 1 << 20, 6).read() == leader.read(0, 1 << 20, 6).read()
    assert follower.epochs.entries() == leader.epochs.entries() == [(3, 0), (5, 4)]
    assert follower.producers.get(7).next_sequence == 6


def test_a_follower_rolls_by_its_own_settings():
    leader = filled(10, segment_bytes=1 << 20)
    follower = open_log(segment_bytes=4 * SIZE)
    follower.append_replicated(leader.read(0, 1 << 20, 20).read(), 0)
    assert follower.segments.bases == [0, 8, 16]
    assert offsets(follower) == ALL


def test_a_follower_takes_a_gap_as_it_comes():
    follower = open_log()
    follower.append_replicated(batch_of(2, base_offset=10), 0)
    follower.append_replicated(batch_of(2, base_offset=5_000_000_000), 0)
    assert offsets(follower, 0) == [(10, 11), (5_000_000_000, 5_000_000_001)]
    assert follower.segments.bases == [0, 5_000_000_000]


def test_a_follower_refuses_what_does_not_go_on():
    follower = open_log()
    follower.append_replicated(batch_of(2, base_offset=10), 0)
    stale = batch_of(2, base_offset=11)
    assert code_of(lambda: follower.append_replicated(stale, 0)) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert follower.end == 12


@pytest.mark.parametrize("held", [0, 2])
def test_a_log_that_is_cut_where_compaction_left_nothing_ends_there_after_a_restart_too(held):
    disk = MemoryDisk()
    log = open_log(disk, cleanup_policy=("compact",))
    if held:
        append(log, held)
    later = batch_of(2)
    stamp(later, 0, 10, 1)  # as its leader has it: what was between is compacted away
    log.append_replicated(bytes(later), 0)

    assert log.truncate(6, 0) == 6
    append_next = batch_of(1)
    stamp(append_next, 0, 6, 2)

    again = open_log(disk, cleanup_policy=("compact",))
    assert again.end == 6
    assert again.append_replicated(bytes(append_next), 0) == 7
    assert offsets(again) == [(0, 1), (6, 6)][not held :]
