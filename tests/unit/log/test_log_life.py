"""What a log is left with: open transactions, a clean stop, a folder that is another's."""

from __future__ import annotations

import random

from andiron.model.errors import ErrorCode
from andiron.records.batch import Batch
from andiron.records.control import end_marker
from andiron.sim.disk import MemoryDisk
from unit.log.logs import (
    ALL,
    FOLDER,
    SIZE,
    append,
    code_of,
    filled,
    flush,
    names,
    offsets,
    open_log,
)

# ── transactions ─────────────────────────────────────────────────────────────────────

IN_TRANSACTION = {"producer_id": 7, "producer_epoch": 0, "transactional": True}


def end(log, committed):
    marker = end_marker(committed, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=0)
    return log.append(Batch(marker), 0, 0)


def test_what_is_stable_ends_at_an_open_transaction():
    log = open_log()
    append(log, 2)
    append(log, 2, base_sequence=0, **IN_TRANSACTION)
    append(log, 2)
    assert [log.last_stable(watermark) for watermark in (1, 2, 6)] == [1, 2, 2]
    end(log, committed=True)
    assert [log.last_stable(watermark) for watermark in (6, 7)] == [2, 7]


def test_aborted_transactions_are_told_to_readers_of_their_range():
    log = open_log(segment_bytes=3 * SIZE)
    append(log, 2, base_sequence=0, **IN_TRANSACTION)
    for _ in range(5):
        append(log, 2)
    end(log, committed=False)
    append(log, 2, base_sequence=2, **IN_TRANSACTION)
    end(log, committed=True)
    assert len(log.segments) > 2
    assert [(a.producer_id, a.first_offset) for a in log.aborted_between(0, 4)] == [(7, 0)]
    assert log.aborted_between(13, 16) == []


def test_an_abort_survives_a_clean_stop():
    disk = MemoryDisk()
    log = open_log(disk)
    append(log, 2, base_sequence=0, **IN_TRANSACTION)
    end(log, committed=False)
    log.close()
    again = open_log(disk, clean=True)
    assert len(again.aborted_between(0, 3)) == 1
    assert again.last_stable(3) == 3


def test_a_closed_log_has_kafkas_files():
    log = filled()
    log.close()
    assert names(log) == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000006.index",
        "00000000000000000006.log",
        "00000000000000000006.snapshot",
        "00000000000000000006.timeindex",
        "00000000000000000012.index",
        "00000000000000000012.log",
        "00000000000000000012.snapshot",
        "00000000000000000012.timeindex",
        "00000000000000000018.index",
        "00000000000000000018.log",
        "00000000000000000018.snapshot",
        "00000000000000000018.timeindex",
        "00000000000000000020.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


def test_a_clean_stop_survives_the_loss_of_power():
    for seed in range(20):
        disk = MemoryDisk()
        filled(10, disk).close()
        disk.crash(random.Random(seed))
        log = open_log(disk, clean=True, segment_bytes=3 * SIZE, recovery_point=20)
        assert offsets(log) == ALL
        assert log.notices == []


def test_an_idle_log_writes_nothing_when_closed():
    disk = MemoryDisk()
    filled(10, disk).close()
    log = open_log(disk, clean=True)
    disk.fill_up(0)
    log.close()


def test_the_folder_of_another_topic_is_refused():
    disk = MemoryDisk()
    open_log(disk).close()
    disk.write_file(f"{FOLDER}/partition.metadata", b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw")
    assert code_of(lambda: open_log(disk)) is ErrorCode.INCONSISTENT_TOPIC_ID


def test_expired_producers_are_forgotten():
    log = open_log()
    append(log, producer_id=7, producer_epoch=0, base_sequence=0, timestamp=1_000)
    assert log.expire_producers(2_000, 5_000) == 0
    assert log.expire_producers(7_000, 5_000) == 1
    assert append(log, producer_id=7, producer_epoch=0, base_sequence=50).base_offset == 1


def test_flushing_nothing_is_fine():
    log = open_log()
    flush(log)
    assert log.flushed_end == 0


# ── cuts ─────────────────────────────────────────────────────────────────────────────


def cutting(log):
    """Where the log says that it is safe, each time it is cut."""
    told = []
    log.on_cut = lambda cut: told.append((cut.flushed_end, cut.end))
    return told


def test_a_cut_is_told_when_it_is_on_the_disk():
    log = filled()
    end = log.end
    told = cutting(log)

    log.truncate(end - 2, 0)

    assert told == [(log.flushed_end, log.end)]
    assert log.flushed_end <= log.end < end


def test_a_cut_that_cannot_be_brought_to_the_disk_is_told_all_the_same():
    disk = MemoryDisk()
    log = filled(disk=disk)
    end = log.end
    told = cutting(log)

    def check_sync(path):
        raise OSError(5, "cannot be written", path)

    disk.check_sync = check_sync
    assert code_of(lambda: log.truncate(end - 2, 0)) is ErrorCode.KAFKA_STORAGE_ERROR

    assert told == [(log.flushed_end, log.end)]
    assert log.end < end


def test_a_log_that_begins_again_tells_so():
    log = filled()
    told = cutting(log)

    log.restart_at(1_000, 0)

    assert told == [(1_000, 1_000)]


def test_a_cut_at_the_end_cuts_nothing():
    log = filled()
    end = log.end

    assert log.truncate(end, 0) == end


def test_what_is_appended_after_a_cut_is_not_taken_for_safe():
    log = filled()
    flush(log)
    log.truncate(log.end - 2, 0)
    safe = log.flushed_end

    append(log)

    assert log.flushed_end == safe < log.end
