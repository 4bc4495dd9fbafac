"""What a follower makes of its leader's answers; whole histories: tests/properties/test_followers.py."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.replication.follower import FetchPartitionData, FollowerReplica, Next, Position
from andiron.sim.disk import MemoryDisk
from unit.log.logs import append, flush, offsets, open_log


def log_of(*epochs: int):
    """A log with a batch of two records in each of these epochs."""
    log = open_log()
    for epoch in epochs:
        append(log, 2, epoch=epoch)
    return log


def records(log, offset: int = 0) -> bytes:
    return bytes(log.read(offset, 1 << 20, log.end).read())


@pytest.fixture
def leader():
    return log_of(1, 1, 3)


def test_a_follower_that_starts_empty_fetches_from_the_beginning(leader):
    log = log_of()
    follower = FollowerReplica(log, watermark=0)
    assert follower.position() == Position(0, -1, 0)

    assert follower.take(FetchPartitionData(records=records(leader), watermark=4), 0) is Next.FETCH

    assert records(log) == records(leader)
    assert follower.position() == Position(6, 3, 0)
    assert follower.watermark == 4


def test_a_followers_high_watermark_is_the_leaders_as_far_as_its_log_goes(leader):
    follower = FollowerReplica(log_of(1), watermark=9)
    assert follower.watermark == 2

    follower.take(FetchPartitionData(watermark=6), 0)
    assert follower.watermark == 2
    follower.take(FetchPartitionData(records=records(leader, 2), watermark=6), 0)
    assert follower.watermark == 6
    follower.take(FetchPartitionData(watermark=3), 0)
    assert follower.watermark == 6, "a leader that has just begun may know an older one"


@pytest.mark.parametrize(
    ("mine", "told", "end"),
    [
        ((1, 1, 1, 2), (1, 6), 6),  # the leader never heard of epoch 2
        ((1, 1, 1), (1, 4), 4),  # both know epoch 1, and the leader has less of it
        ((1, 2, 2), (2, 4), 4),
        ((0, 0, 4), (2, 8), 4),  # epoch 2 is not known here: back to the end of what came before it
        ((2, 2), (1, 0), 0),
    ],
)
def test_records_that_the_leader_never_had_are_truncated(mine, told, end):
    log = log_of(*mine)
    follower = FollowerReplica(log, watermark=log.end)

    assert follower.take(FetchPartitionData(diverging=told, watermark=99), 0) is Next.FETCH

    assert (log.end, follower.watermark) == (end, end)


def test_records_that_the_leader_has_deleted_go_here_too(leader):
    log = log_of(1, 1, 3)

    FollowerReplica(log, watermark=6).take(FetchPartitionData(log_start=3, watermark=6), 0)

    assert log.start == 3


def test_a_follower_whose_place_is_gone_goes_where_the_leader_begins():
    log = log_of(1, 1)
    follower = FollowerReplica(log, watermark=4)
    assert follower.take(FetchPartitionData(ErrorCode.OFFSET_OUT_OF_RANGE), 0) is Next.ASK_OFFSETS

    follower.go_to(leader_start=100, leader_end=200, now=0)

    assert (log.start, log.end, offsets(log)) == (100, 100, [])
    assert (follower.position(), follower.watermark) == (Position(100, -1, 100), 100)


def test_a_batch_that_the_leaders_log_starts_in_the_middle_of_comes_whole(leader):
    log = log_of(1)
    follower = FollowerReplica(log, watermark=2)
    follower.go_to(leader_start=3, leader_end=6, now=0)

    follower.take(FetchPartitionData(records=records(leader, 3), log_start=3, watermark=6), 0)

    assert (log.start, log.end, offsets(log, 3)) == (3, 6, [(2, 3), (4, 5)])


def test_a_follower_that_has_more_than_its_leader_cuts_it_off():
    log = log_of(1, 1)
    follower = FollowerReplica(log, watermark=4)

    follower.go_to(leader_start=0, leader_end=2, now=0)

    assert (log.end, follower.watermark) == (2, 2)


def test_what_a_full_disk_leaves_of_a_log_that_began_again_does_not_end_below_its_watermark():
    leader = log_of(1, 1, 3)  # a batch of 2 and 3 holds where it starts
    disk = MemoryDisk()
    log = open_log(disk)
    follower = FollowerReplica(log, watermark=0)
    follower.go_to(leader_start=3, leader_end=6, now=0)
    assert (log.end, follower.watermark) == (3, 3)

    disk.fill_up(10)
    with pytest.raises(ProtocolError):
        follower.take(FetchPartitionData(records=records(leader, 3), log_start=3, watermark=6), 0)
    assert follower.watermark <= log.end

    disk.free_up()
    follower.take(FetchPartitionData(records=records(leader, 3), log_start=3, watermark=6), 0)
    assert (log.start, log.end, follower.watermark) == (3, 6, 6)


@pytest.mark.parametrize("told", [(1, 2), (1, 0)])
def test_a_cut_that_cannot_be_synced_is_a_cut_all_the_same(told):
    disk = MemoryDisk()
    log = open_log(disk)
    append(log, 2, epoch=1)
    append(log, 2, epoch=2, producer_id=7, producer_epoch=0, base_sequence=0)
    flush(log)
    follower = FollowerReplica(log, watermark=4)

    disk.fail_syncs()
    with pytest.raises(ProtocolError):
        follower.take(FetchPartitionData(diverging=told), 0)

    end = told[1]
    assert (log.end, log.flushed_end, follower.watermark) == (end, end, end)
    assert (log.epochs.latest, log.producers.get(7)) == (1 if end else -1, None)


@pytest.mark.parametrize("code", ["NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"])
def test_other_fetch_errors_are_retried_or_left_to_the_metadata(code):
    log = log_of(1)

    assert FollowerReplica(log, watermark=0).take(FetchPartitionData(ErrorCode[code]), 0) is Next.PAUSE
    assert log.end == 2


def test_a_follower_lags_by_what_is_committed_and_not_here(leader):
    log = log_of()
    follower = FollowerReplica(log, watermark=0)
    assert follower.lag == 0

    follower.take(FetchPartitionData(watermark=6), 0)
    assert follower.lag == 6
    follower.take(FetchPartitionData(records=records(leader), watermark=6), 0)
    assert follower.lag == 0
