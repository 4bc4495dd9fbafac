"""What time brings: checkpoints, retention, compaction, late flushes, and rest where there is nothing to do."""

import logging
from collections import Counter
from unittest.mock import patch

import pytest

from andiron.broker.replicas.housekeeping import most_deleted
from andiron.log.checkpoints import LOG_STARTS, RECOVERY_POINTS, WATERMARKS
from andiron.model.effects import Woken
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER
from worlds.cluster_client import create, small_cluster, write
from worlds.compacting import fill_compacted
from worlds.node import SmallNode, error_of

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def checkpoint(node, name, path="/data"):
    """The lines of a checkpoint: partition → offset."""
    if not node.disk.exists(f"{path}/{name}"):
        return {}
    lines = node.disk.read_file(f"{path}/{name}").decode().splitlines()[2:]
    return {f"{topic}-{number}": int(offset) for topic, number, offset in map(str.split, lines)}


def produce_many(node, topic, count, size=50, **how):
    for _ in range(count):
        assert error_of(node.produce(topic, bytes(size), **how)) == "NONE"


# ── checkpoints ──────────────────────────────────────────────────────────────────────


def test_once_a_minute_it_is_written_down_how_far_each_log_is(node):
    node.create("plain")
    node.create("durable", flush_messages=1)
    for topic in ("plain", "durable"):
        produce_many(node, topic, 3)

    node.advance(MINUTE)

    assert checkpoint(node, WATERMARKS) == {"plain-0": 3, "durable-0": 3}
    assert checkpoint(node, RECOVERY_POINTS) == {"plain-0": 0, "durable-0": 3}


def test_a_log_start_is_written_down_where_records_were_deleted(node):
    node.create("t")
    produce_many(node, "t", 3)
    node.delete_records("t", 2)

    node.advance(MINUTE)

    assert checkpoint(node, LOG_STARTS) == {"t-0": 2}


def test_a_log_start_is_written_down_where_whole_segments_are_gone(node):
    node.create("t", internal_segment_bytes=200, retention_ms=1_000)
    produce_many(node, "t", 3)

    node.advance(2 * MINUTE)

    assert node.log("t").start == node.log("t").segments[0].base == 3
    assert checkpoint(node, LOG_STARTS) == {"t-0": 3}


def test_a_checkpoint_that_cannot_be_written_is_in_the_log_once_a_minute(caplog):
    node = SmallNode(replica_high_watermark_checkpoint_interval_ms="5000")
    node.create("t")
    produce_many(node, "t", 3)

    with patch.object(node.disk, "write_file", side_effect=OSError(28, "No space left on device")):
        node.advance(66 * SECOND)

    told = [each for each in caplog.messages if each.startswith("High watermarks cannot be written")]
    assert [each.rpartition(" ")[2] for each in told] == ["suppressed=0", "suppressed=11"]


def test_a_start_that_takes_long_writes_down_nothing_before_it_knows_its_partitions(node):
    node.create("t")
    node.produce("t", b"a")
    node.node.stop(node.now)
    written = node.disk.read_file(f"/data/{RECOVERY_POINTS}")
    starting = node.make_node()

    starting.start(node.now)  # and its first fsync takes two minutes
    starting.step(Woken(), node.now + 120_000)

    assert not starting.ready
    assert node.disk.read_file(f"/data/{RECOVERY_POINTS}") == written


def test_the_intervals_are_the_brokers():
    node = SmallNode(
        log_flush_offset_checkpoint_interval_ms="2000",
        log_flush_start_offset_checkpoint_interval_ms="5000",
        replica_high_watermark_checkpoint_interval_ms="1000",
    )
    node.create("t")
    produce_many(node, "t", 3)
    node.log("t").advance_start(2)  # as retention does

    node.advance(SECOND)
    assert checkpoint(node, WATERMARKS) == {"t-0": 3}
    assert checkpoint(node, RECOVERY_POINTS) == checkpoint(node, LOG_STARTS) == {}
    node.advance(SECOND)
    assert checkpoint(node, RECOVERY_POINTS) == {"t-0": 0}
    assert checkpoint(node, LOG_STARTS) == {}
    node.advance(3 * SECOND)
    assert checkpoint(node, LOG_STARTS) == {"t-0": 2}


def test_checkpoints_of_a_full_disk_come_when_there_is_room(node):
    node.create("t")
    produce_many(node, "t", 3)
    node.disk.fill_up()
    node.advance(MINUTE)
    assert checkpoint(node, WATERMARKS) == {}

    node.disk.free_up()
    node.advance(MINUTE)

    assert checkpoint(node, WATERMARKS) == {"t-0": 3}


def test_each_directory_has_its_own_checkpoints():
    node = SmallNode(log_dirs="/one,/two")
    node.create("t", partitions=2)
    node.advance(MINUTE)

    assert checkpoint(node, WATERMARKS, "/one") == {"t-0": 0}
    assert checkpoint(node, WATERMARKS, "/two") == {"t-1": 0}


# ── retention ────────────────────────────────────────────────────────────────────────


def test_segments_older_than_retention_ms_are_deleted_and_their_files_a_minute_later(node):
    node.create("t", retention_ms=HOUR, internal_segment_bytes=200, segment_ms=10 * DAY)
    produce_many(node, "t", 5)
    node.advance(HOUR)
    produce_many(node, "t", 1)
    assert node.log("t").start == 0

    node.advance(MINUTE)

    assert node.log("t").start == 5
    assert any(name.endswith(".deleted") for name in node.disk.names("/data/t-0"))
    node.advance(MINUTE)
    assert not any(name.endswith(".deleted") for name in node.disk.names("/data/t-0"))
    assert error_of(node.fetch("t", 0)) == "OFFSET_OUT_OF_RANGE"
    assert len(node.values("t")) == 1


def test_what_a_round_has_deleted_is_one_line_of_the_log(node, caplog):
    for topic in ("t", "u"):
        node.create(topic, retention_ms=HOUR, internal_segment_bytes=200, segment_ms=10 * DAY)
        produce_many(node, topic, 5)
    node.advance(HOUR)
    with caplog.at_level(logging.INFO):
        node.advance(MINUTE)

    deleted = [each for each in caplog.messages if "deleted" in each]
    most = '["5 of t by retention.ms","5 of u by retention.ms"]'
    assert deleted == [f"Retention has deleted segments segments=10 most={most}"]


def test_of_many_topics_those_with_the_most_are_named():
    gone = Counter({(f"t{number}", "retention.bytes"): number for number in range(1, 9)})

    assert most_deleted(gone) == [f"{number} of t{number} by retention.bytes" for number in (8, 7, 6, 5, 4)]


def test_followers_hear_where_their_leaders_log_starts_though_nothing_is_written():
    """Their own clocks may be late, and the next record far away."""
    cluster = small_cluster()
    create(cluster, "t", retention_ms=SECOND, internal_segment_bytes=200)
    for _ in range(5):
        write(cluster, "t", bytes(100))
    cluster.pass_time(3 * SECOND)
    leader = cluster.leader_of("t")
    held = cluster.partition(leader, "t")

    cluster.broker(leader).housekeeping._retain_one(held, Counter(), cluster.now)

    assert held.log.start > 0
    logs = [cluster.partition(number, "t").log for number in (1, 2, 3)]
    cluster.until(lambda: all(log.start == held.log.start for log in logs), ms=600)


def test_the_oldest_segments_go_while_what_remains_is_retention_bytes(node):
    node.create("t", retention_bytes=500, internal_segment_bytes=200)
    produce_many(node, "t", 20)
    before = node.log("t").size

    node.advance(5 * MINUTE)

    assert 500 <= node.log("t").size < 500 + 200 < before
    assert node.log("t").end == 20


def test_what_is_kept_for_ever_is_kept(node):
    node.create("t", retention_ms=-1, internal_segment_bytes=200)
    produce_many(node, "t", 20)

    node.now += 30 * DAY
    node.advance(5 * MINUTE)

    assert node.log("t").start == 0


def test_what_is_not_committed_is_not_deleted(node):
    node.create("t", flush_messages=1, retention_ms=HOUR, internal_segment_bytes=200)
    node.flush_at_once = False
    for _ in range(5):
        node.send(node.produce_request("t", [bytes(50)]), version=9)

    node.advance(2 * HOUR)

    assert node.log("t").start == 0


def test_a_segment_that_has_been_open_for_segment_ms_is_sealed(node):
    node.create("t", segment_ms=HOUR)
    produce_many(node, "t", 1)

    node.advance(HOUR + 5 * MINUTE)

    assert [segment.base for segment in node.log("t").segments] == [0, 1]


def test_the_first_look_is_half_a_minute_after_the_start_and_then_every_five_minutes():
    node = SmallNode(log_retention_check_interval_ms=str(HOUR))
    node.create("t", retention_ms=1, internal_segment_bytes=200)
    produce_many(node, "t", 5)
    node.advance(30 * SECOND)
    assert node.log("t").start > 0

    produce_many(node, "t", 5)
    start = node.log("t").start
    node.advance(59 * MINUTE)
    assert node.log("t").start == start
    node.advance(2 * MINUTE)
    assert node.log("t").start > start


def test_a_round_over_many_partitions_lets_others_have_their_turn(node):
    node.create("t", partitions=450, retention_ms=1)
    node.now += 30 * SECOND
    turns = 0
    while node.node.next_deadline() <= node.now:
        node.wake()
        turns += 1

    assert turns == 3


def test_a_topic_deleted_in_the_midst_of_a_round_is_left_alone(node):
    node.create("t", partitions=450, segment_ms=1)
    for number in (0, 449):
        node.produce("t", b"a", partition=number)
    node.now += 30 * SECOND
    node.wake()

    node.delete("t")
    node.advance(10 * MINUTE)

    assert [name for name in node.disk.names("/data") if name.startswith("t-")] == []


def test_producers_that_have_been_silent_are_forgotten():
    node = SmallNode(producer_id_expiration_ms=str(HOUR))
    node.create("t")
    node.produce("t", b"a", producer_id=7, producer_epoch=0, base_sequence=0)
    node.advance(30 * MINUTE)
    node.produce("t", b"b", producer_id=8, producer_epoch=0, base_sequence=0)

    node.advance(35 * MINUTE)

    assert [producer.id for producer in node.log("t").producers] == [8]
    assert error_of(node.produce("t", b"c", producer_id=7, producer_epoch=0, base_sequence=5)) == "NONE"


# ── late flushes ─────────────────────────────────────────────────────────────────────


def test_what_has_waited_flush_ms_is_brought_to_the_disk(node):
    node.create("t", flush_ms=SECOND)
    produce_many(node, "t", 2)

    node.advance(999)
    assert node.log("t").flushed_end == 0
    produce_many(node, "t", 1)
    node.advance(1)

    assert node.log("t").flushed_end == 3


def test_after_that_it_counts_anew_from_the_next_record(node):
    node.create("t", flush_ms=SECOND)
    produce_many(node, "t", 1)
    node.advance(5 * SECOND)
    produce_many(node, "t", 1)

    node.advance(999)
    assert node.log("t").flushed_end == 1
    node.advance(1)

    assert node.log("t").flushed_end == 2


def test_a_flush_that_came_by_other_means_is_not_done_again(node):
    node.create("t", flush_ms=SECOND, flush_messages=2)
    produce_many(node, "t", 2)
    assert node.log("t").flushed_end == 2
    node.flush_at_once = False

    node.advance(SECOND)

    assert node.flushes == []


def test_a_flush_that_is_needed_and_could_not_begin_is_tried_again(node):
    node.create("t", flush_messages=1)
    log = node.log("t")
    with patch.object(type(log), "unflushed_files", side_effect=ErrorCode.KAFKA_STORAGE_ERROR.error("full")):
        node.produce("t", b"a")
        node.advance(3 * SECOND)
    assert log.flushed_end == 0

    node.advance(SECOND)

    assert log.flushed_end == 1


def test_a_topic_deleted_before_its_flush_is_due_is_not_flushed(node):
    node.create("t", flush_ms=5 * MINUTE)
    produce_many(node, "t", 1)
    node.delete("t")

    node.advance(10 * MINUTE)

    assert error_of(node.produce("t", b"a")) == "UNKNOWN_TOPIC_OR_PARTITION"


# ── rest ─────────────────────────────────────────────────────────────────────────────


def test_a_thousand_idle_partitions_want_nothing_until_the_next_interval():
    node = SmallNode()
    node.create("t", partitions=500)
    node.create("u", partitions=500)
    node.advance(MINUTE)

    wakings = 0
    until = node.now + MINUTE
    while node.node.next_deadline() <= until:
        node.now = max(node.now, node.node.next_deadline())
        node.wake()
        wakings += 1

    assert node.work == node.flushes == []
    assert wakings <= 8 + 34, (
        "checkpoints once, the cleaner four times, the heartbeat every two seconds, in sync twice"
    )


@pytest.mark.parametrize("fault", ["fill_up", "fail_syncs"])
def test_whatever_the_disk_does_the_house_is_kept_on(node, fault):
    fill_compacted(node)
    node.create("gone")
    node.create("old", retention_ms=1, internal_segment_bytes=200)
    produce_many(node, "old", 5)
    node.delete("gone")
    getattr(node.disk, fault)()

    node.advance(HOUR)
    node.disk.free_up()
    node.disk.fail_syncs(False)
    node.advance(HOUR)
    node.do_work()

    assert node.node.next_deadline() < NEVER
    assert node.log("old").start > 0
    assert checkpoint(node, WATERMARKS)["t-0"] == 30
