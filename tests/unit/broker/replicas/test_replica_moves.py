"""Replicas move between the directories of a node: copied, brought to the disk, put in place, come what may."""

import random

import pytest

from andiron.broker.replicas import replica_moves
from andiron.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from andiron.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from worlds.node import SmallNode, error_of, records_in

DYING = ("rename", "sync_directory", "write_file")
SMALL_SEGMENTS = {"internal_segment_bytes": 2000}


@pytest.fixture
def two():
    """A node with two directories, and a topic with 40 records in the first."""
    node = SmallNode(log_dirs="/one,/two")
    node.create("t", **SMALL_SEGMENTS)
    for number in range(40):
        node.produce("t", bytes([number]) * 100)
    assert node.log("t").directory == "/one/t-0"
    return node


def move(node, path, topic="t", partition=0):
    wanted = AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(topic, [partition])])
    return error_of(node.ask(AlterReplicaLogDirsRequest([wanted])).results[0].partitions[0])


def shown(node):
    """(directory, is it a future one) of each replica of t-0, with its lag."""
    return {
        (result.log_dir, each.is_future_key): each.offset_lag
        for result in node.ask(DescribeLogDirsRequest(None)).results
        for topic in result.topics
        if topic.name == "t"
        for each in topic.partitions
    }


def values(node):
    """What the partition holds, from the disk's own bytes."""
    log, read = node.log("t"), []
    offset = log.start
    while (part := log.read(offset, 1 << 20, log.end)) is not None:
        records = records_in(part.read())
        read += [(each.offset, bytes(each.value)) for each in records]
        offset = records[-1].offset + 1
    return read


def expected(count=40):
    return [(number, bytes([number]) * 100) for number in range(count)]


def test_a_replica_is_moved_with_all_that_it_holds(two):
    assert move(two, "/two") == "NONE"
    assert shown(two) == {("/one", False): 0, ("/two", True): 40}

    two.settle()

    assert shown(two) == {("/two", False): 0}
    assert two.log("t").directory == "/two/t-0"
    assert values(two) == expected()
    two.advance(120_000)
    assert not [name for name in two.disk.names("/one") if name.startswith("t-0")]


def test_what_is_written_meanwhile_moves_too(two, monkeypatch):
    monkeypatch.setattr(replica_moves, "SLICE_BYTES", 1000)
    move(two, "/two")
    for number in range(40, 60):
        two.wake()
        two.produce("t", bytes([number]) * 100)

    two.settle()

    assert two.log("t").directory == "/two/t-0"
    assert values(two) == expected(60)
    assert two.produce("t", b"more").base_offset == 60


def test_a_large_copy_is_brought_to_the_disk_beside_the_loop(two, monkeypatch):
    monkeypatch.setattr(replica_moves, "REST_BYTES", 100)
    two.flush_at_once = False
    move(two, "/two")
    two.settle()
    assert two.log("t").directory == "/one/t-0"
    assert two.flushes

    two.do_flushes()
    two.settle()

    assert two.log("t").directory == "/two/t-0"


def test_a_copy_whose_fsync_fails_is_given_up_and_the_replica_goes_on(two, monkeypatch):
    monkeypatch.setattr(replica_moves, "REST_BYTES", 100)
    two.flush_at_once = False
    move(two, "/two")
    two.settle()

    two.do_flushes(error="the disk is ill")
    two.settle()

    assert shown(two) == {("/one", False): 0}
    assert two.produce("t", b"more").base_offset == 40


def test_a_full_disk_leaves_the_replica_where_it_is(two):
    move(two, "/two")
    two.disk.fill_up()
    two.settle()
    two.disk.free_up()

    assert shown(two) == {("/one", False): 0}
    assert values(two) == expected()


def test_a_second_request_changes_the_destination_or_takes_the_move_back(two):
    move(two, "/two")
    assert move(two, "/one") == "NONE"
    two.settle()

    assert shown(two) == {("/one", False): 0}
    assert values(two) == expected()


def test_where_the_log_starts_goes_along(two):
    two.delete_records("t", 25)

    move(two, "/two")
    two.settle()

    assert two.log("t").start == 25
    assert two.log("t").directory == "/two/t-0"
    assert values(two)[-15:] == expected()[-15:]
    two.restart(clean=False)
    assert two.log("t").start == 25


def test_an_idempotent_producer_is_known_after_the_move(two):
    batches = [{"producer_id": 7, "producer_epoch": 0, "base_sequence": number} for number in range(3)]
    offsets = [two.produce("t", b"once", **batch).base_offset for batch in batches]
    move(two, "/two")
    two.settle()

    assert [two.produce("t", b"once", **batch).base_offset for batch in batches] == offsets
    two.restart()
    assert two.produce("t", b"once", **batches[-1]).base_offset == offsets[-1]


def test_it_stays_there_after_a_restart(two):
    move(two, "/two")
    two.settle()

    two.restart()

    assert two.log("t").directory == "/two/t-0"
    assert values(two) == expected()


def test_a_move_that_a_stop_interrupted_begins_again(two, monkeypatch):
    monkeypatch.setattr(replica_moves, "SLICE_BYTES", 500)
    move(two, "/two")
    two.wake()
    two.wake()

    two.restart(clean=False)
    assert two.log("t").directory == "/one/t-0"
    two.advance(60_000)

    assert two.log("t").directory == "/two/t-0"
    assert values(two) == expected()
    assert not [name for name in two.disk.names("/two") if "-future" in name]


@pytest.mark.parametrize("power", [False, True])
def test_a_crash_at_any_point_of_the_swap_loses_nothing(power):
    survived = 0
    for survives in range(60):
        node = SmallNode(log_dirs="/one,/two")
        node.create("t", **SMALL_SEGMENTS)
        for number in range(40):
            node.produce("t", bytes([number]) * 100)
        if power:
            node.node.broker.replica_manager.get(("t", 0)).log.close()  # what was acknowledged is on the disk
            node.restart()
        move(node, "/two")
        crashes_after(node, survives)
        try:
            node.settle()
            survived += 1
        except Crash:
            pass
        for name in DYING:
            delattr(node.disk, name)
        if power:
            node.disk.crash(random.Random(survives))
        node.restart(clean=False)

        assert values(node) == expected(), f"after {survives} changes of names"
    assert 0 < survived < 60


class Crash(BaseException):
    """The process is gone."""


def crashes_after(node, count):
    """Let the node die at the `count`th time that it makes a name or a small file certain."""
    left = [count]

    def dying(do):
        def done(*arguments):
            if left[0] == 0:
                raise Crash
            left[0] -= 1
            return do(*arguments)

        return done

    for name in DYING:
        setattr(node.disk, name, dying(getattr(node.disk, name)))


def test_a_topic_that_is_deleted_takes_its_copy_along(two):
    move(two, "/two")

    two.delete("t")
    two.advance(120_000)

    assert not [name for path in ("/one", "/two") for name in two.disk.names(path) if name.startswith("t-0")]


def test_moves_keep_to_their_rate(two):
    two.alter_broker(replica_alter_log_dirs_io_max_bytes_per_second="1000")
    move(two, "/two")

    two.advance(1_000)
    assert ("/two", True) in shown(two)
    two.advance(60_000)

    assert shown(two) == {("/two", False): 0}


def test_the_log_is_moved_though_compaction_left_holes():
    node = SmallNode(log_dirs="/one,/two")
    node.create("t", cleanup_policy="compact", **SMALL_SEGMENTS, min_cleanable_dirty_ratio="0.01")
    for number in range(60):
        node.produce("t", records=node.keyed(b"k", bytes([number]) * 100))
    node.advance(60_000)
    node.do_work()
    before = values(node)
    assert len(before) < 60

    move(node, "/two")
    node.settle()

    assert node.log("t").directory == "/two/t-0"
    assert values(node) == before
    assert node.log("t").end == 60


def test_leader_epochs_go_along_though_compaction_left_nothing_of_some():
    """A leader that has forgotten an epoch tells a follower whose last record is of it that the two logs part there,
    and the follower truncates what is committed."""
    node = SmallNode(log_dirs="/one,/two")
    node.create("t", cleanup_policy="compact", **SMALL_SEGMENTS, min_cleanable_dirty_ratio="0.01")
    for number in range(60):
        node.partition("t").epoch = number // 20
        node.produce("t", records=node.keyed(b"k", bytes([number]) * 100))
    node.advance(60_000)
    node.do_work()
    assert values(node)[0][0] > 40

    move(node, "/two")
    node.settle()

    assert node.log("t").directory == "/two/t-0"
    assert node.log("t").epochs.entries() == [(0, 0), (1, 20), (2, 40)]
    assert node.partition("t").divergence(last_epoch=1, offset=40) is None
    node.restart()
    assert node.log("t").epochs.entries() == [(0, 0), (1, 20), (2, 40)]
