"""Where a log begins and ends: truncated by its leader's word, deleted by age and size, begun anew."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.sim.disk import Killed, MemoryDisk
from unit.log.logs import (
    ALL,
    ID,
    SIZE,
    append,
    code_of,
    filled,
    flush,
    names,
    offsets,
    open_log,
)

# ── truncating, deleting ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("offset", "end"), [(20, 20), (25, 20), (19, 18), (18, 18), (13, 12), (6, 6), (1, 0)]
)
def test_truncation_is_to_a_batch(offset, end):
    log = filled()
    assert log.truncate(offset, 0) == log.end == end
    assert offsets(log) == ALL[: end // 2]
    assert append(log, 2).base_offset == end


def test_truncation_below_the_first_segment_begins_anew():
    log = filled()
    log.advance_start(12)
    log.delete_old(0, 20)
    assert log.segments.bases == [12, 18]
    assert log.truncate(7, 0) == 7
    assert (log.start, log.end, log.segments.bases) == (7, 7, [7])


def test_truncation_takes_epochs_and_producers_back():
    log = open_log(segment_bytes=3 * SIZE)
    for number in range(10):
        append(log, 2, epoch=number // 4, producer_id=7, producer_epoch=0, base_sequence=2 * number)
    log.truncate(15, 0)
    assert log.epochs.entries() == [(0, 0), (1, 8)]
    assert log.producers.get(7).next_sequence == 14
    assert append(log, 2, epoch=9, producer_id=7, producer_epoch=0, base_sequence=14).base_offset == 14


def test_an_epoch_that_began_at_the_end_goes_with_a_truncation_there():
    log = filled()
    log.epochs.assign(4, 20)
    log.truncate(20, 0)
    assert log.epochs.latest == 0


def test_restarting_forgets_everything():
    log = filled()
    log.restart_at(100, 0)
    assert (log.start, log.end, log.flushed_end, log.size) == (100, 100, 100, 0)
    assert log.epochs.entries() == []
    assert append(log).base_offset == 100


@pytest.mark.parametrize("is_empty_segment", [False, True])
def test_a_log_that_restarts_where_it_ends_ends_there_whenever_the_process_dies(is_empty_segment):
    died = 0
    for survives in range(40):
        disk = MemoryDisk()
        log = filled(10, disk)
        flush(log)
        if is_empty_segment:
            log.restart_at(20, 0)
        else:
            log.advance_start(20)
        disk.fuse = survives
        try:
            log.restart_at(20, 0)
        except Killed:
            died += 1
        disk.fuse = None
        assert open_log(disk, segment_bytes=3 * SIZE).end == 20, f"after {survives} operations"
    assert 0 < died < 40


def test_the_start_moves_forward_only():
    log = filled()
    log.advance_start(7)
    log.advance_start(3)
    assert log.start == 7
    assert code_of(lambda: log.advance_start(21)) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_segments_below_the_start_go_with_the_next_deletion():
    log = filled()
    log.advance_start(13)
    assert len(log.segments) == 4
    assert [expired.base for expired in log.delete_old(0, 20)] == [0, 6]
    assert (log.start, log.segments.bases) == (13, [12, 18])


def test_retention_moves_the_start():
    log = filled(retention_bytes=4 * SIZE)
    log.delete_old(0, 20)
    assert (log.start, log.segments.bases) == (12, [12, 18])
    assert offsets(log) == ALL[6:]


def test_if_everything_expires_an_empty_segment_remembers_the_end():
    log = filled(retention_ms=1_000)
    log.delete_old(10**6, 20)
    assert (log.start, log.end, log.segments.bases) == (20, 20, [20])
    assert append(log).base_offset == 20


@pytest.mark.parametrize("restarts", [False, True])
def test_records_without_a_timestamp_are_as_old_as_the_last_of_their_segment_and_not_as_the_segment(restarts):
    disk = MemoryDisk()
    log = open_log(disk, retention_ms=1_000, segment_ms=10**9)
    append(log, timestamp=-1)
    append(log, timestamp=-1, now=5_000)
    if restarts:
        flush(log)
        log = open_log(disk, now=5_000, recovery_point=log.end, retention_ms=1_000)

    assert log.delete_old(6_000, 2) == []
    assert [expired.base for expired in log.delete_old(6_001, 2)] == [0]


def test_what_followers_take_without_a_timestamp_is_as_old_as_its_coming():
    leader, follower = open_log(), open_log(retention_ms=1_000)
    append(leader, timestamp=-1)
    follower.append_replicated(leader.read(0, 1 << 20, 1).read(), 5_000)

    assert follower.delete_old(6_000, 1) == []
    assert follower.delete_old(6_001, 1) != []


def test_what_is_given_up_is_removed_after_the_delay():
    log = filled(retention_bytes=0, file_delete_delay_ms=60)
    log.delete_old(1_000, 18)
    assert log.segments.next_removal() == 1_060
    paths = log.segments.due_removals(1_060)
    assert len(paths) == 9
    for path in paths:
        log._disk.remove(path)
    assert not any(name.endswith(".deleted") for name in names(log))


def test_a_deleted_log_leaves_its_folder_under_another_name():
    log = filled(file_delete_delay_ms=60)
    path, due = log.delete(5)
    assert due == 65
    assert path == f"data/orders-0.{int.from_bytes(ID, 'big') ^ 5:032x}-delete"
    assert list(log._disk.names("data")) == [path[5:] + "/"]
