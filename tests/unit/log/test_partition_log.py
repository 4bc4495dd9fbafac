from __future__ import annotations

import random

import pytest

from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, iterate
from andiron.records.control import end_marker
from andiron.sim.disk import MemoryDisk
from unit.log.logs import FOLDER, ID, append, batch_of, flush, names, offsets, open_log

SIZE = len(batch_of(2))


def code_of(action):
    with pytest.raises(ProtocolError) as refused:
        action()
    return refused.value.code


def filled(batches=10, disk=None, **settings):
    """Batches of two records, three to a segment: segments at 0, 6, 12, 18."""
    settings = {"segment_bytes": 3 * SIZE, "index_interval_bytes": 100, **settings}
    log = open_log(disk, **settings)
    for number in range(batches):
        append(log, 2, timestamp=number)
    return log


ALL = [(offset, offset + 1) for offset in range(0, 20, 2)]

# ── append ───────────────────────────────────────────────────────────────────────────


def test_an_append_gives_offset_and_epoch_and_writes_them_into_the_batch():
    log = open_log()
    append(log, 5)
    records = batch_of(3)
    appended = log.append(Batch(records), records, 8, 0)
    assert appended == (5, -1, 0, 8, False)
    stored = Batch(records)
    assert (stored.base_offset, stored.leader_epoch) == (5, 8)
    assert stored.is_intact()
    assert log.end == 8


def test_append_time_is_written_into_the_batch():
    log = open_log(message_timestamp_type="LogAppendTime")
    records = batch_of(3, timestamp=5)
    assert log.append(Batch(records), records, 0, 777).append_time == 777
    stored = Batch(records)
    assert (stored.max_timestamp, stored.timestamp_type) == (777, 1)
    assert stored.is_intact()
    assert log.segments.active.max_timestamp == 777


def test_a_duplicate_is_answered_and_not_written():
    log = open_log()
    append(log, 5)
    first = append(log, 3, timestamp=40, producer_id=7, producer_epoch=0, base_sequence=0)
    again = append(log, 3, timestamp=40, producer_id=7, producer_epoch=0, base_sequence=0)
    assert first == (5, -1, 0, 8, False)
    assert again == (5, 42, 0, 8, True)
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


def test_what_is_given_up_is_removed_after_the_delay():
    log = filled(retention_bytes=0, file_delete_delay_ms=60)
    log.delete_old(1_000, 18)
    assert log.next_removal() == 1_060
    paths = log.due_removals(1_060)
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


# ── transactions ─────────────────────────────────────────────────────────────────────

IN_TRANSACTION = {"producer_id": 7, "producer_epoch": 0, "transactional": True}


def end(log, committed):
    marker = end_marker(committed, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=0)
    return log.append(Batch(marker), marker, 0, 0)


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


# ── opening and closing ──────────────────────────────────────────────────────────────


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
    assert log.expire_producers(6_000, 5_000) == 1
    assert append(log, producer_id=7, producer_epoch=0, base_sequence=50).base_offset == 1


def test_flushing_nothing_is_fine():
    log = open_log()
    flush(log)
    assert log.flushed_end == 0
