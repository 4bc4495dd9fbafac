from __future__ import annotations

import contextlib
import random
import struct
import zlib

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, stamp
from andiron.records.control import end_marker
from andiron.sim.disk import Killed, MemoryDisk, MemoryFile
from unit.log.logs import FOLDER, append, batch_of, flush, names, offsets, open_log

SEGMENT = 500  # three of the batches below


@pytest.fixture
def disk():
    return MemoryDisk()


def filled(disk, batches=10, **how):
    """Ten batches of two records: segments at 0, 6, 12 and 18."""
    log = open_log(disk, segment_bytes=SEGMENT, index_interval_bytes=100)
    for number in range(batches):
        append(log, 2, epoch=number // 4, timestamp=100 + number, **how)
    return log


def reopen(disk, **how):
    return open_log(disk, **{"segment_bytes": SEGMENT, "index_interval_bytes": 100, **how})


ALL = [(offset, offset + 1) for offset in range(0, 20, 2)]


def damage(disk, name, position, byte=0xFF):
    file = disk.open(f"{FOLDER}/{name}")
    rest = bytearray(file.read(position, file.size))
    rest[0] ^= byte
    file.truncate(position)
    file.append(rest)


def log_name(base):
    return f"{base:020d}.log"


def reads_of(monkeypatch, action):
    """How many bytes of .log files `action` reads."""
    read, original = [0], MemoryFile.read

    def counting(self, position, length):
        data = original(self, position, length)
        if self.path.endswith(".log"):
            read[0] += len(data)
        return data

    monkeypatch.setattr(MemoryFile, "read", counting)
    action()
    return read[0]


# ── after a clean stop ───────────────────────────────────────────────────────────────


def test_an_empty_folder_is_an_empty_log(disk):
    log = open_log(disk, log_start=70)
    assert (log.start, log.end, log.notices) == (70, 70, [])
    assert names(disk) == [
        "00000000000000000070.index",
        "00000000000000000070.log",
        "00000000000000000070.timeindex",
        "partition.metadata",
    ]


def test_a_clean_stop_is_trusted(disk):
    filled(disk).close()
    log = reopen(disk, clean=True)
    assert offsets(log) == ALL
    assert log.flushed_end == log.end == 20
    assert log.epochs.entries() == [(0, 0), (1, 8), (2, 16)]
    assert log.notices == []


def test_a_clean_start_reads_next_to_nothing(disk, monkeypatch):
    filled(disk, 300).close()
    assert reads_of(monkeypatch, lambda: reopen(disk, clean=True)) < 1_000


def test_producers_come_back_from_the_snapshot_of_a_clean_stop(disk):
    log = reopen(disk)
    append(log, 3, producer_id=7, producer_epoch=1, base_sequence=0)
    log.close()
    again = reopen(disk, clean=True)
    assert append(again, 3, producer_id=7, producer_epoch=1, base_sequence=0).duplicate


def test_a_lost_snapshot_is_replayed_from_the_one_before(disk):
    log = reopen(disk)
    for sequence in range(0, 40, 2):
        append(log, 2, producer_id=7, producer_epoch=1, base_sequence=sequence)
    log.close()
    disk.remove(f"{FOLDER}/00000000000000000040.snapshot")
    assert reopen(disk, clean=True).producers.get(7).next_sequence == 40


def test_a_missing_index_is_made_anew(disk):
    filled(disk).close()
    disk.remove(f"{FOLDER}/00000000000000000006.index")
    log = reopen(disk, clean=True)
    assert log.notices == ["data/orders-0/00000000000000000006.log lacks an index: making it anew"]
    assert disk.names(FOLDER)["00000000000000000006.index"] > 0
    assert offsets(log) == ALL


def test_an_index_without_a_log_is_removed(disk):
    filled(disk).close()
    disk.write_file(f"{FOLDER}/00000000000000000099.index", b"")
    assert "it has no log" in reopen(disk, clean=True).notices[0]
    assert "00000000000000000099.index" not in names(disk)


def test_a_stop_that_was_not_so_clean_is_recovered(disk):
    filled(disk).close()
    disk.open(f"{FOLDER}/{log_name(18)}").append(b"half a batch")
    log = reopen(disk, clean=True, recovery_point=20)
    assert "in spite of a clean stop" in log.notices[0]
    assert offsets(log) == ALL


# ── after a crash ────────────────────────────────────────────────────────────────────


def test_what_a_dead_process_wrote_is_all_there(disk):
    filled(disk)
    log = reopen(disk)
    assert offsets(log) == ALL
    assert log.epochs.entries() == [(0, 0), (1, 8), (2, 16)]
    assert log.flushed_end == 0
    assert log.notices == []


@pytest.mark.parametrize("left", [1, 60, 61, 100])
def test_a_torn_tail_is_cut(disk, left):
    filled(disk)
    disk.open(f"{FOLDER}/{log_name(18)}").append(batch_of(2, base_offset=20)[:left])
    log = reopen(disk)
    assert offsets(log) == ALL
    assert "cut at byte" in log.notices[0]
    assert append(log).base_offset == 20


@pytest.mark.parametrize("seed", range(5))
def test_a_tail_that_was_cut_does_not_come_back_with_a_power_loss(disk, seed):
    flush(filled(disk, 9))
    damage(disk, log_name(12), 300)
    disk.open(f"{FOLDER}/{log_name(12)}").sync()
    cut = reopen(disk, recovery_point=16)
    cut.roll_if_due(10 << 40)
    append(cut, epoch=2)
    flush(cut)

    disk.crash(random.Random(seed))

    assert offsets(reopen(disk, recovery_point=15))[-2:] == [(12, 13), (14, 14)]


@pytest.mark.parametrize("seed", range(5))
def test_segments_given_up_do_not_come_back_with_a_power_loss(disk, seed):
    flush(filled(disk))
    damage(disk, log_name(6), 300)
    disk.open(f"{FOLDER}/{log_name(6)}").sync()
    assert reopen(disk, cleanup_policy=("compact",)).end == 8

    disk.crash(random.Random(seed))

    assert reopen(disk, cleanup_policy=("compact",)).end == 8


@pytest.mark.parametrize("change", range(30))
def test_a_recovery_that_is_interrupted_ends_the_log_where_it_would_have(disk, change):
    flush(filled(disk))
    damage(disk, log_name(6), 300)
    disk.fuse = change
    with contextlib.suppress(Killed):
        reopen(disk, cleanup_policy=("compact",))
    disk.fuse = None

    assert reopen(disk, cleanup_policy=("compact",)).end == 8


def test_a_damaged_batch_ends_the_log_and_what_follows_is_given_up(disk):
    filled(disk)
    damage(disk, log_name(6), 300)
    log = reopen(disk)
    assert offsets(log) == ALL[:4]
    assert [notice.split(": ")[0].rsplit("/")[-1] for notice in log.notices] == [
        "00000000000000000006.log cut at byte 157, offset 8",
        "00000000000000000012.log given up",
        "00000000000000000018.log given up",
    ]
    assert log.epochs.entries() == [(0, 0)]
    assert append(log).base_offset == 8


def test_only_segments_from_the_recovery_point_on_are_scanned(disk, monkeypatch):
    flush(filled(disk, 300))
    everything = reads_of(monkeypatch, lambda: reopen(disk))
    little = reads_of(monkeypatch, lambda: reopen(disk, recovery_point=600))
    assert everything > 40_000
    assert little < 2_000


def test_damage_below_the_recovery_point_is_not_looked_for(disk):
    flush(filled(disk))
    damage(disk, log_name(0), 100)
    assert reopen(disk, recovery_point=20).end == 20


def test_a_segment_below_the_recovery_point_that_ends_badly_is_scanned_after_all(disk):
    flush(filled(disk))
    file = disk.open(f"{FOLDER}/{log_name(12)}")
    file.truncate(file.size - 5)
    log = reopen(disk, recovery_point=18)
    assert offsets(log) == ALL[:8]


def test_a_segment_that_lost_its_end_leaves_a_gap_and_the_log_ends_there(disk):
    filled(disk)
    file = disk.open(f"{FOLDER}/{log_name(6)}")
    file.truncate(file.size // 3 * 2)
    log = reopen(disk)
    assert offsets(log) == ALL[:5]
    assert "does not begin at 10" in log.notices[0]


def test_compaction_may_have_made_the_gap(disk):
    filled(disk)
    file = disk.open(f"{FOLDER}/{log_name(6)}")
    file.truncate(file.size // 3 * 2)
    log = reopen(disk, cleanup_policy=("compact",))
    assert offsets(log) == ALL[:5] + ALL[6:]


def test_a_segment_that_came_back_from_before_a_truncation_is_given_up(disk):
    filled(disk)
    lost = {name: disk.read_file(f"{FOLDER}/{name}") for name in names(disk) if name.startswith(f"{12:020d}")}
    log = reopen(disk)
    log.truncate(8, 0)
    for _ in range(2):
        append(log, 2, epoch=9)
    for name, data in lost.items():
        disk.write_file(f"{FOLDER}/{name}", data)
    again = reopen(disk)
    assert offsets(again) == ALL[:6]
    assert again.epochs.latest == 9


def test_indexes_and_aborts_are_built_anew(disk):
    log = reopen(disk)
    append(log, 2, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    marker = end_marker(False, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=0)
    log.append(Batch(marker), 0, 0)
    for _ in range(10):
        append(log, 2)
    again = reopen(disk)
    assert [tuple(each) for each in again.aborted_between(0, 20)] == [(7, 0, 2, 3)]
    assert again.segments[0].indexes.complaint(again.segments[0].size) is None


def test_producers_are_rebuilt_from_snapshot_and_log(disk):
    log = reopen(disk)
    for sequence in range(0, 40, 2):
        append(log, 2, producer_id=7, producer_epoch=1, base_sequence=sequence)
    flush(log)
    append(log, 2, producer_id=7, producer_epoch=1, base_sequence=40)
    again = reopen(disk, recovery_point=40)
    assert again.producers.get(7).next_sequence == 42
    assert append(again, 2, producer_id=7, producer_epoch=1, base_sequence=40).duplicate


def test_a_torn_snapshot_at_the_end_is_not_kept_for_a_clean_stop(disk):
    log = reopen(disk)
    for sequence in range(0, 6, 2):
        append(log, 2, producer_id=7, producer_epoch=1, base_sequence=sequence)
    append(log, 2)
    log.truncate(6, 0)
    disk.write_file(f"{FOLDER}/00000000000000000006.snapshot", b"torn")
    reopen(disk).close()
    assert reopen(disk, clean=True).producers.get(7).next_sequence == 6


def test_a_start_beyond_the_end_begins_the_log_anew_there(disk):
    filled(disk)
    log = reopen(disk, log_start=50)
    assert (log.start, log.end, offsets(log)) == (50, 50, [])
    assert append(log).base_offset == 50


def test_a_start_inside_a_segment_stays_there(disk):
    filled(disk)
    log = reopen(disk, log_start=9)
    assert (log.start, log.end) == (9, 20)
    assert log.epochs.entries() == [(1, 9), (2, 16)]


def test_a_broken_epoch_file_is_taken_as_absent(disk):
    filled(disk).close()
    disk.write_file(f"{FOLDER}/leader-epoch-checkpoint", b"?")
    log = reopen(disk)
    assert "is taken as absent" in log.notices[0]
    assert log.epochs.entries() == [(0, 0), (1, 8), (2, 16)]


def test_epochs_beyond_the_end_are_forgotten(disk):
    log = filled(disk)
    log.epochs.assign(7, 20)
    log.close()
    assert reopen(disk, clean=True).epochs.latest == 2


def test_messages_of_an_older_format_are_refused_and_not_cut(disk):
    filled(disk, 3)
    body = b"\x01\x00" + bytes(40)
    old = struct.pack(">qiI", 6, len(body) + 4, zlib.crc32(body)) + body
    file = disk.open(f"{FOLDER}/{log_name(0)}")
    file.append(old)
    with pytest.raises(ProtocolError, match=r"before Kafka 0\.11") as refused:
        reopen(disk)
    assert refused.value.code is ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert disk.read_file(f"{FOLDER}/{log_name(0)}").endswith(old)


def test_a_segment_sealed_after_its_last_flush_is_scanned(disk):
    log = reopen(disk)
    for number in range(3):
        append(log, 2, timestamp=1_405 + number)
    flush(log)
    append(log, 2)
    assert log.segments.bases == [0, 6]
    index = disk.open(f"{FOLDER}/00000000000000000000.timeindex")
    data = bytearray(index.read(0, 99))
    data[-6] = 0  # part of the last timestamp, which had not reached the disk
    index.truncate(0)
    index.append(data)
    assert reopen(disk, recovery_point=6).offset_for_time(1_408, 8) == (5, 1_408, 0)


def test_an_epoch_that_compaction_left_nothing_of_is_known_after_a_crash(disk):
    log = filled(disk)
    flush(log)
    disk.open(f"{FOLDER}/{log_name(6)}").truncate(0)  # with it went all of epoch 1 but its last batches
    disk.open(f"{FOLDER}/{log_name(12)}").truncate(0)
    again = reopen(disk, cleanup_policy=("compact",))
    assert offsets(again) == [*ALL[:3], ALL[9]]
    assert again.epochs.entries() == [(0, 0), (1, 8), (2, 16)]


def test_an_epoch_that_was_cut_off_is_not_found_again_in_a_gap_after_it(disk):
    log = filled(disk)
    flush(log)
    log.truncate(8, 0)
    records = bytearray(batch_of(2))
    stamp(records, 0, 20, 9)
    log.append_replicated(records, 0)
    again = reopen(disk, cleanup_policy=("compact",))
    assert again.epochs.entries() == [(0, 0), (9, 20)]
