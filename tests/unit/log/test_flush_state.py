from __future__ import annotations

import random

import pytest

from andiron.model.ids import NEVER
from andiron.sim.disk import MemoryDisk
from unit.log.logs import FOLDER, append, flush, offsets, open_log


def paths(log):
    return [file.path.rsplit("/")[-1].lstrip("0") for file in log.unflushed_files()[0]]


def test_appends_are_unflushed_until_told_otherwise():
    log = open_log()
    append(log, 5)
    assert log.flushed_end == 0
    _, end = log.unflushed_files()
    append(log, 5)
    log.note_flushed(end)
    assert (log.flushed_end, log.end) == (5, 10)


def test_the_usual_flush_is_of_one_file():
    log = open_log()
    append(log)
    flush(log)
    append(log)
    assert paths(log) == [".log"]


def test_a_flush_after_a_roll_takes_the_sealed_segment_with_its_indexes():
    log = open_log(segment_bytes=300)
    for _ in range(5):
        append(log)
    assert log.segments.bases == [0, 2, 4]
    assert sorted(paths(log)) == [
        ".index",
        ".log",
        ".timeindex",
        "2.index",
        "2.log",
        "2.snapshot",
        "2.timeindex",
        "4.log",
        "4.snapshot",
        "partition.metadata",
    ]
    log.note_flushed(5)
    assert paths(log) == ["4.log"]


def test_indexes_written_after_their_records_were_flushed_are_flushed_too():
    log = open_log(segment_bytes=300)
    append(log)
    append(log)
    flush(log)
    append(log)
    assert sorted(paths(log)) == [".index", ".log", ".timeindex", "2.log", "2.snapshot"]


def test_the_epochs_are_on_the_disk_before_the_recovery_point_moves():
    log = open_log()
    append(log, epoch=3)
    log.unflushed_files()
    assert log._disk.read_file(f"{FOLDER}/leader-epoch-checkpoint") == b"0\n1\n3 0\n"


def test_a_flush_survives_the_loss_of_power_and_what_came_after_need_not():
    for seed in range(30):
        disk = MemoryDisk()
        log = open_log(disk, segment_bytes=300)
        for _ in range(7):
            append(log)
        flush(log)
        for _ in range(7):
            append(log)
        disk.crash(random.Random(seed))
        again = open_log(disk, segment_bytes=300, recovery_point=7)
        assert offsets(again)[:7] == [(offset, offset) for offset in range(7)]


def test_a_flush_does_not_vouch_for_what_was_cut_and_written_again():
    log = open_log()
    append(log, 5)
    append(log, 5)
    _, end = log.unflushed_files()
    log.truncate(5, 0)
    append(log, 10)
    log.note_flushed(end)
    assert (end, log.flushed_end) == (10, 5)
    flush(log)
    assert log.flushed_end == 15


def test_truncation_takes_the_recovery_point_down():
    log = open_log()
    append(log, 5)
    append(log, 5)
    flush(log)
    log.truncate(5, 0)
    assert log.flushed_end == 5


@pytest.mark.parametrize(("count", "due"), [(2, False), (3, True)])
def test_a_flush_is_due_after_flush_messages(count, due):
    log = open_log(flush_messages=3)
    append(log, count)
    assert log.flush_due(0) is due


def test_a_flush_is_due_after_flush_ms():
    log = open_log(flush_ms=100)
    assert (log.flush_due(10**9), log.flush_deadline()) == (False, NEVER)
    append(log, now=1_000)
    append(log, now=1_050)
    assert log.flush_deadline() == 1_100
    assert not log.flush_due(1_099)
    assert log.flush_due(1_100)
    flush(log)
    assert (log.flush_due(5_000), log.flush_deadline()) == (False, NEVER)
    append(log, now=5_000)
    assert log.flush_deadline() == 5_100


def test_a_flush_is_due_after_a_roll():
    log = open_log(segment_bytes=300)
    append(log)
    append(log)
    assert not log.flush_due(10**12)
    append(log)
    assert log.flush_due(0)
    flush(log)
    append(log)
    assert not log.flush_due(10**12)


def test_by_default_no_flush_is_due():
    log = open_log()
    append(log, 1_000)
    assert not log.flush_due(10**12)
    assert log.flush_deadline() == NEVER
