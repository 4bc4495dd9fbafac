"""Where a log meets its role: who may write, what is acknowledged, what is shown."""

import pytest

from andiron.broker.replicas.replica_manager import close_all
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import Offset
from andiron.records.batch import stamp
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.replication.follower import FetchPartitionData
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk
from unit.broker.hosting import ALONE, hosted, leading, produce, refusal


def test_a_leader_alone_commits_what_it_writes():
    partition = leading()

    written = produce(partition, b"a", b"b")

    assert (written.base_offset, written.end, partition.watermark) == (0, 2, 2)
    assert partition.acknowledged(written, -1)


def test_a_partition_that_is_led_elsewhere_takes_nothing():
    partition = hosted()

    assert refusal(produce, partition) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refusal(partition.readable_end, False) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.watermark == 0


def test_acks_all_waits_for_the_followers_and_acks_1_does_not():
    partition = leading(replicas=frozenset({1, 2}), isr=frozenset({1, 2}))
    written = produce(partition)
    assert partition.acknowledged(written, 1)
    assert not partition.acknowledged(written, -1)

    partition.leader().fetched(2, 1, now=1)

    assert partition.acknowledged(written, -1)


def test_too_few_in_sync_refuse_acks_all_only():
    partition = leading(replicas=frozenset({1, 2}), min_insync_replicas=2)

    assert refusal(produce, partition, acks=-1) is ErrorCode.NOT_ENOUGH_REPLICAS
    assert produce(partition, acks=1).end == 1


def test_a_durable_partition_commits_what_is_on_its_disk():
    partition = leading(flush_messages=1)
    written = produce(partition)
    assert (partition.watermark, partition.needs_flush) == (0, True)
    assert not partition.acknowledged(written, 1)

    _, end = partition.log.unflushed_files()
    partition.note_flushed(end)

    assert partition.acknowledged(written, -1)
    assert (partition.watermark, partition.needs_flush) == (1, False)


def test_a_partition_that_need_not_be_durable_any_more_commits_what_it_holds():
    partition = leading(flush_messages=1)
    produce(partition)

    partition.replace_settings(LogSettings())

    assert partition.watermark == 1


def test_a_partition_that_becomes_durable_takes_nothing_back():
    partition = leading()
    produce(partition)

    partition.replace_settings(LogSettings(flush_messages=1))

    assert (partition.watermark, partition.needs_flush) == (1, True)


def test_a_leader_commits_anew_from_what_was_known_to_be_committed():
    partition = hosted()
    partition.lead(
        LeaderAndIsr(1, 0, frozenset({1, 2}), frozenset({1, 2})), watermark=0, now=0, lag_ms_max=1_000
    )
    produce(partition, acks=1)
    produce(partition, acks=1)

    partition.lead(
        LeaderAndIsr(1, 1, frozenset({1, 2}), frozenset({1, 2})), watermark=1, now=0, lag_ms_max=1_000
    )

    assert (partition.epoch, partition.watermark) == (1, 1)


@pytest.mark.parametrize("known", [-5, 99])
def test_what_is_said_to_be_committed_is_at_least_the_start_and_at_most_the_end(known):
    partition = leading(watermark=known, replicas=frozenset({1, 2}), isr=frozenset({1, 2}))

    assert partition.watermark == 0


def test_an_epoch_is_checked_where_one_is_named():
    partition = leading(epoch=3)

    for earlier in (2, -2):
        assert refusal(partition.check_epoch, earlier) is ErrorCode.FENCED_LEADER_EPOCH
    assert refusal(partition.check_epoch, 4) is ErrorCode.UNKNOWN_LEADER_EPOCH
    for fine in (3, -1):
        partition.check_epoch(fine)


def test_a_failed_partition_refuses_everything():
    partition = leading()
    written = produce(partition)

    partition.fail("the disk is on fire")

    for act in (partition.leader, lambda: produce(partition), lambda: partition.acknowledged(written, 1)):
        assert refusal(act) is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_failed_partition_is_not_closed_as_if_all_were_well():
    partition = leading()
    produce(partition)
    partition.fail("the disk is on fire")

    assert close_all(MemoryDisk(), [partition]) is False
    assert partition.log.flushed_end == 0


def test_a_retired_partition_is_not_here_any_more():
    partition = leading(flush_messages=1)
    written = produce(partition)

    partition.retire()

    assert refusal(produce, partition) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert refusal(partition.acknowledged, written, 1) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_partition_says_whether_only_sealed_segments_are_synced():
    settings = ({}, {"flush_messages": 5}, {"flush_ms": 5})

    assert [hosted(**each).syncs_by_roll_only for each in settings] == [True, False, False]


def test_its_own_records_are_committed_like_any_other():
    partition = leading()

    assert partition.append_own(build([Record(0, 0, None, b"x")]), 0).end == 1
    assert partition.watermark == 1


def test_its_own_records_too_need_enough_in_sync():
    partition = leading(replicas=frozenset({1, 2}), min_insync_replicas=2)

    code = refusal(partition.append_own, build([Record(0, 0, None, b"x")]), 0)

    assert (code, partition.log.end) == (ErrorCode.NOT_ENOUGH_REPLICAS, 0)


def test_where_epochs_end():
    partition = leading(epoch=0)
    produce(partition)
    partition.lead(LeaderAndIsr(1, 4, ALONE, ALONE), watermark=1, now=0, lag_ms_max=1_000)

    assert [tuple(partition.end_of_epoch(epoch)) for epoch in (0, 4, 5)] == [(0, 1), (4, 1), (-1, -1)]
    assert partition.epoch_at_start() == 0


def test_no_epoch_ends_below_the_log_start():
    """All records are deleted, and the log is opened anew under its leader, as after a move between directories."""
    partition = leading(epoch=4)
    produce(partition, b"a", b"b")
    partition.log.advance_start(Offset(2))
    partition.log.epochs.truncate_end(2)

    assert partition.end_of_epoch(3) == (3, 2)


def test_an_empty_log_would_start_in_the_present_epoch():
    assert leading(epoch=4).epoch_at_start() == 4


# ── several replicas ─────────────────────────────────────────────────────────────────

THREE = frozenset({1, 2, 3})


def fetched_by(partition, offset, *replicas, now=0):
    for replica in replicas:
        partition.leader().fetched(replica, offset, now)


def taken(partition, *values, epoch=0, watermark=0, start=0):
    """A follower takes in what its leader has after its end."""
    batch = build([Record(0, 0, None, value) for value in values])
    stamp(batch, 0, partition.log.end, epoch)
    return partition.take(FetchPartitionData(records=bytes(batch), watermark=watermark, log_start=start), 0)


def test_what_was_committed_when_too_few_became_in_sync_is_told_so():
    """The watermark had passed the batch, and then its holders left."""
    partition = leading(replicas=THREE, isr=THREE, min_insync_replicas=2)
    written = produce(partition)
    fetched_by(partition, 1, 2, 3)
    assert partition.acknowledged(written, -1)
    partition.settle(THREE, ALONE, 0)

    assert refusal(partition.acknowledged, written, -1) is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert partition.acknowledged(written, 1)


def test_the_watermark_stands_still_while_too_few_are_in_sync():
    partition = leading(replicas=THREE, isr=frozenset({1, 2}), min_insync_replicas=2)
    produce(partition)
    partition.settle(THREE, ALONE, 0)

    assert partition.watermark == 0
    partition.settle(THREE, frozenset({1, 2}), 0)
    fetched_by(partition, 1, 2)
    assert partition.watermark == 1


def test_no_more_are_asked_for_than_there_are_replicas():
    partition = leading(min_insync_replicas=3)

    assert partition.acknowledged(produce(partition), -1)


def test_a_follower_takes_what_its_leader_has_and_knows_what_is_committed():
    partition = hosted()
    partition.follow(0, 0)
    taken(partition, b"a", b"b", watermark=1)

    assert (partition.log.end, partition.watermark) == (2, 1)
    assert partition.position() == (2, 0, 0)
    assert refusal(partition.leader) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.follows
    assert not partition.leads


def test_a_followers_watermark_goes_no_further_than_its_log():
    partition = hosted()
    partition.follow(0, 0)
    taken(partition, b"a", watermark=100)

    assert partition.watermark == 1


def test_a_follower_of_a_durable_partition_fetches_on_when_it_is_flushed():
    partition = hosted(flush_messages=1)
    partition.follow(0, 0)
    taken(partition, b"a")

    assert partition.needs_flush
    assert partition.position() is None
    partition.note_flushed(1)
    assert partition.position() == (1, 0, 0)


def test_a_leader_that_follows_keeps_what_it_knew_to_be_committed():
    partition = leading()
    produce(partition)
    partition.follow(1, 0)

    assert partition.watermark == 1
    assert partition.epoch == 1


def test_a_follower_that_leads_begins_with_what_it_knew_to_be_committed():
    partition = hosted()
    partition.follow(0, 0)
    taken(partition, b"a", b"b", watermark=1)
    partition.lead(LeaderAndIsr(1, 1, THREE, THREE), watermark=0, now=0, lag_ms_max=1_000)

    assert partition.watermark == 1
    assert partition.leader().epoch_start == 2
    fetched_by(partition, 2, 2, 3)
    assert partition.watermark == 2


def test_a_failed_partition_neither_leads_nor_follows():
    follower, leader = hosted(), leading()
    follower.follow(0, 0)
    for partition in (follower, leader):
        partition.fail("its disk is gone")

    assert not follower.follows
    assert not leader.leads


def test_a_log_that_goes_where_its_leader_is_loses_what_the_leader_never_had():
    partition = hosted()
    partition.follow(0, 0)
    taken(partition, b"a")
    taken(partition, b"b", watermark=2)
    partition.go_to(0, 1, 0)

    assert (partition.log.end, partition.watermark) == (1, 1)


def test_a_log_whose_leader_begins_later_begins_there():
    partition = hosted()
    partition.follow(0, 0)
    taken(partition, b"a")
    partition.go_to(70, 90, 0)

    assert (partition.log.start, partition.log.end, partition.watermark) == (70, 70, 70)


def test_other_replicas_must_show_themselves_before_they_count():
    partition = leading(replicas=frozenset({1, 2}), isr=frozenset({1, 2}))
    partition.settle(THREE, frozenset({1, 2}), 0)

    assert partition.leader().propose(0) is None
    fetched_by(partition, 0, 3)
    assert partition.leader().propose(0) == THREE


def test_a_leader_that_has_written_nothing_yet_knows_where_all_earlier_epochs_ended():
    emptied = leading(epoch=7)  # by retention; a restart has forgotten who wrote what is gone
    emptied.log.restart_at(885_476, 0)
    emptied.lead(LeaderAndIsr(1, 8, ALONE, ALONE), watermark=885_476, now=0, lag_ms_max=1_000)

    assert emptied.divergence(5, 885_476) is None, "one that ends there goes on"
    assert emptied.divergence(5, 885_480) == (5, 885_476)


def test_what_another_wrote_in_an_epoch_that_is_not_known_here_is_taken_back_to_where_this_one_began():
    partition = leading(epoch=4)
    produce(partition, b"a", b"b")
    partition.lead(LeaderAndIsr(1, 7, ALONE, ALONE), watermark=0, now=0, lag_ms_max=1_000)

    assert partition.divergence(5, 6) == (4, 2)
    assert partition.divergence(4, 2) is None
