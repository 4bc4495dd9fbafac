"""Followers hold what their leaders have: who is in sync, what that allows, and a follower that cannot go on."""

import pytest

from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from worlds.cluster_client import (
    all_in_sync,
    begin_produce,
    create,
    ends,
    fetch,
    fetch_request,
    in_log,
    isr,
    latest,
    produce,
    produced,
    read,
    small_cluster,
    write,
)
from worlds.node import error_of

TOPIC, SET = 2, 0


@pytest.fixture
def cluster():
    """Three brokers and a controller of its own, so that brokers can die and nobody votes about it."""
    return small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))


def alter(cluster, topic, name, value):
    change = AlterConfigsResource(TOPIC, topic, [AlterableConfig(name, SET, str(value))])
    answer = cluster.answer(1, IncrementalAlterConfigsRequest([change]))
    assert answer.responses[0].error_code == 0
    cluster.pass_time(50)


def delete_records(cluster, topic, offset):
    wanted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])
    answers = cluster.ask(cluster.leader_of(topic), DeleteRecordsRequest([wanted], 5_000))
    cluster.until(lambda: answers)
    return answers[0].topics[0].partitions[0]


# ── what is acknowledged ─────────────────────────────────────────────────────────────


def test_followers_have_a_batch_before_its_producer_is_told(cluster):
    create(cluster, "t")

    write(cluster, "t", b"a", b"b")

    assert ends(cluster, "t") == {1: 2, 2: 2, 3: 2}


def test_a_producer_that_asks_for_one_ack_does_not_wait_for_followers(cluster):
    create(cluster, "t")
    cluster.isolate(1)

    answers = begin_produce(cluster, "t", b"a", acks=1)

    assert produced(answers).error_code == 0
    assert ends(cluster, "t") == {1: 1, 2: 0, 3: 0}


def test_a_consumer_sees_nothing_that_only_the_leader_has(cluster):
    create(cluster, "t")
    write(cluster, "t", b"a")
    cluster.isolate(1)
    produce(cluster, "t", b"only here", acks=1)

    assert read(cluster, "t", frm=1) == [b"a"]


def test_the_slowest_in_sync_replica_holds_up_acks_all(cluster):
    create(cluster, "t")
    cluster.paused.add(3)

    answers = begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.pass_time(5_000)
    assert not answers
    cluster.until(lambda: answers)

    assert produced(answers).error_code == 0
    assert isr(cluster, "t") == [1, 2]


def test_records_come_to_followers_as_they_were_written(cluster):
    create(cluster, "t", compression_type="gzip")
    write(cluster, "t", *[b"x" * 100] * 10)

    logs = [cluster.partition(number, "t").log for number in (1, 2, 3)]
    one, two, three = [held.read(0, 1 << 20, held.end).read() for held in logs]

    assert one == two == three


# ── min.insync.replicas ──────────────────────────────────────────────────────────────


def test_with_too_few_in_sync_acks_all_is_refused_and_acks_1_is_not(cluster):
    create(cluster, "t", min_insync_replicas=3)
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])

    assert error_of(produce(cluster, "t", b"a")) == "NOT_ENOUGH_REPLICAS"
    assert produce(cluster, "t", b"b", acks=1).error_code == 0
    assert in_log(cluster, 1, "t") == [b"b"]


def test_while_too_few_are_in_sync_nothing_becomes_committed(cluster):
    create(cluster, "t", min_insync_replicas=3)
    write(cluster, "t", b"a")
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    produce(cluster, "t", b"b", acks=1)
    cluster.pass_time(2_000)
    assert fetch(cluster, "t").high_watermark == 1

    cluster.start(3)
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert read(cluster, "t") == [b"a", b"b"]


def test_an_isr_that_shrinks_below_the_minimum_leaves_a_producer_waiting_until_its_time_is_up(cluster):
    """What too few hold never becomes committed, and so it is never acknowledged."""
    create(cluster, "t", min_insync_replicas=3)
    cluster.paused.add(3)
    answers = begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    cluster.pass_time(1_000)
    assert not answers

    cluster.until(lambda: answers, ms=120_000)

    assert error_of(produced(answers)) == "REQUEST_TIMED_OUT"


def test_a_minimum_that_comes_down_lets_go_what_was_held_up_by_it(cluster):
    create(cluster, "t", min_insync_replicas=3)
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    produce(cluster, "t", b"a", acks=1)
    cluster.pass_time(1_000)
    assert read(cluster, "t") == []

    alter(cluster, "t", "min.insync.replicas", 2)

    assert read(cluster, "t") == [b"a"]
    assert write(cluster, "t", b"b") == 1


# ── who is in sync ───────────────────────────────────────────────────────────────────


def test_a_follower_that_lags_leaves_the_isr_and_joins_again_when_it_has_caught_up(cluster):
    create(cluster, "t")
    cluster.cut |= {(3, 1), (1, 3)}
    write_without_waiting = begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    assert produced(write_without_waiting).error_code == 0
    assert cluster.broker(1).alter_partition_manager.shrinks == 1

    cluster.heal()
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert cluster.broker(1).alter_partition_manager.expands == 1
    assert ends(cluster, "t") == {1: 1, 2: 1, 3: 1}


def test_a_follower_with_nothing_to_fetch_stays_in_sync(cluster):
    create(cluster, "t")

    cluster.pass_time(100_000, step=50)

    assert all_in_sync(cluster, "t")
    assert cluster.image_of("t").partition_epoch == 0


def test_many_partitions_of_a_broker_that_is_gone_leave_their_isrs_together(cluster):
    create(cluster, "t", [(1, 2, 3)] * 40)
    cluster.cut |= {(3, 1), (1, 3)}  # it lives, and cannot fetch
    end = cluster.broker(4).raft.partition.log.end

    cluster.until(lambda: all(isr(cluster, "t", p) == [1, 2] for p in range(40)))

    log = cluster.broker(4).raft.partition.log
    assert log.end - end == 40
    assert cluster.broker(1).alter_partition_manager.shrinks == 40


# ── followers that cannot go on ──────────────────────────────────────────────────────


def test_a_follower_whose_next_record_is_deleted_goes_on_where_the_leader_begins(cluster):
    create(cluster, "t")
    write(cluster, "t", b"0")
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    for number in range(1, 10):
        write(cluster, "t", b"%d" % number)
    assert delete_records(cluster, "t", 7).low_watermark == 7

    cluster.start(3)
    cluster.until(lambda: all_in_sync(cluster, "t"))

    held = cluster.partition(3, "t").log
    assert (held.start, held.end) == (7, 10)
    assert in_log(cluster, 3, "t") == [b"7", b"8", b"9"]


def test_what_is_deleted_at_the_leader_is_deleted_at_followers(cluster):
    create(cluster, "t")
    for number in range(10):
        write(cluster, "t", b"%d" % number)

    assert delete_records(cluster, "t", 4).low_watermark == 4
    cluster.pass_time(1_000)

    assert [cluster.partition(number, "t").log.start for number in (1, 2, 3)] == [4, 4, 4]


def test_what_is_deleted_does_not_come_back_at_followers_that_are_killed_at_once(cluster):
    create(cluster, "t")
    for number in range(10):
        write(cluster, "t", b"%d" % number)
    assert delete_records(cluster, "t", 4).low_watermark == 4

    cluster.kill(1, 2, 3)
    for number in (2, 3):
        cluster.start(number)
    cluster.until(lambda: all(cluster.partition(number, "t") is not None for number in (2, 3)))

    assert [cluster.partition(number, "t").log.start for number in (2, 3)] == [4, 4]


def test_a_follower_that_lost_a_record_it_had_acknowledged_gets_it_again(cluster):
    create(cluster, "t")
    for number in range(5):
        write(cluster, "t", b"%d" % number)
    cluster.lose_power(3)

    cluster.start(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2, 3] and cluster.partition(3, "t") is not None)
    cluster.pass_time(1_000)

    assert in_log(cluster, 3, "t") == [b"0", b"1", b"2", b"3", b"4"]


def test_a_new_leader_does_not_tell_an_end_before_it_knows_what_was_committed(cluster):
    """KIP-207: what the old leader had committed and told, the new one must hear from its followers first."""
    create(cluster, "t")
    write(cluster, "t", b"a")
    cluster.pass_time(600)  # all know of it
    write(cluster, "t", b"b")  # that this is committed only the leader knows
    cluster.cut |= {(2, 3), (3, 2)}

    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") == 2)
    cluster.pass_time(100)
    told = [error_of(latest(cluster, "t", node=2, version=version)) for version in (4, 5, 9)]
    known = latest(cluster, "t", node=2, timestamp=-2), latest(cluster, "t", node=2, timestamp=0)
    beyond = fetch(cluster, "t", 2, frm=2)  # a consumer that has read to the end
    behind = fetch(cluster, "t", 0, frm=2)
    of_old = fetch(cluster, "t", 2, frm=2, version=10)
    cluster.heal()
    cluster.until(lambda: latest(cluster, "t", node=2).error_code == 0)

    assert told == ["LEADER_NOT_AVAILABLE", "OFFSET_NOT_AVAILABLE", "OFFSET_NOT_AVAILABLE"]
    assert [(error_of(each), each.offset) for each in known] == [("NONE", 0)] * 2, (
        "the first, and the first since 1970"
    )
    assert (error_of(beyond), beyond.high_watermark, beyond.last_stable_offset) == (
        "OFFSET_NOT_AVAILABLE",
        -1,
        -1,
    )
    assert (error_of(behind), len(behind.records) > 0) == ("NONE", True), (
        "what it knows to be committed it gives"
    )
    assert (error_of(of_old), len(of_old.records or b"")) == ("NONE", 0), "which has no word for it"
    assert latest(cluster, "t", node=2).offset == 2
    assert (error_of(fetch(cluster, "t", 2, frm=2)), fetch(cluster, "t", 2, frm=2).high_watermark) == (
        "NONE",
        2,
    )


def test_a_consumer_that_waits_at_the_end_of_a_new_leader_is_answered_when_it_knows_its_watermark(cluster):
    create(cluster, "t")
    write(cluster, "t", b"a")
    cluster.pass_time(600)
    write(cluster, "t", b"b")
    cluster.cut |= {(2, 3), (3, 2)}
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") == 2)
    cluster.pass_time(100)

    answers = cluster.ask(2, fetch_request(cluster, "t", 1, wait_ms=60_000), 17)
    cluster.pass_time(500)
    assert answers == []
    cluster.heal()
    cluster.until(lambda: answers)

    [found] = answers[0].responses[0].partitions
    assert (error_of(found), found.high_watermark) == ("NONE", 2)
    assert len(found.records) > 0
