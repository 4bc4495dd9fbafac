"""The table of partitions follows the metadata, whatever the disk does."""

import random

import pytest

from andiron.broker.node.patience import OPEN_AGAIN_MS
from andiron.broker.replicas.replica_manager import AT_A_TIME
from andiron.log.partition_metadata import encode
from andiron.model.ids import NEVER
from andiron.records.batch import stamp
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.replication.follower import FetchPartitionData
from andiron.sim.disk import Killed
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from worlds.cluster_client import create, delete, small_cluster, write
from worlds.coordinating import commit, committed, coordinating
from worlds.node import SmallNode, error_of

MINUTE = 60_000


def folders(node, path="/data"):
    return sorted(name.rstrip("/") for name in node.disk.names(path) if name.endswith("/"))


def names(node):
    return sorted(str(partition.name) for partition in node.node.broker.replica_manager)


def test_partitions_come_and_go_with_their_topics(node):
    node.create("t", partitions=2)
    node.create("u")
    assert names(node) == ["t-0", "t-1", "u-0"]
    assert folders(node) == ["__cluster_metadata-0", "t-0", "t-1", "u-0"]

    node.delete("t")

    assert names(node) == ["u-0"]


def test_a_partition_is_led_under_the_epoch_of_the_metadata(node):
    node.create("t")
    assert node.partition("t").epoch == 0

    node.restart(clean=False)

    assert node.partition("t").epoch == 2


def test_a_topics_settings_reach_all_of_its_partitions_and_no_other(node):
    node.create("t", partitions=2)
    node.create("u")

    node.alter_topic("t", flush_ms=5)

    assert [p.log.settings.flush_ms == 5 for p in node.node.broker.replica_manager] == [True, True, False]


def test_a_brokers_settings_reach_every_partition(node):
    node.create("t")
    node.create("u", max_message_bytes=7)

    node.alter_broker("1", message_max_bytes=5)
    node.alter_broker("", log_flush_interval_ms=9)

    assert [p.log.settings.max_message_bytes for p in node.node.broker.replica_manager] == [5, 7]
    assert [p.log.settings.flush_ms for p in node.node.broker.replica_manager] == [9, 9]


def test_ten_topics_in_one_request_are_all_there(node):
    for number in range(10):
        node.create(f"t{number}", partitions=3)

    node.restart()

    assert len(names(node)) == 30


# ── a disk that refuses ──────────────────────────────────────────────────────────────


def test_a_topic_made_on_a_disk_that_fills_up_meanwhile_is_there_when_there_is_room(node):
    node.create("t")
    node.flush_at_once = False
    ticket = node.send(node.create_request("u"))
    node.disk.fill_up()

    node.do_flushes()

    assert error_of(node.answer(ticket).topics[0]) == "NONE", "it is in the metadata"
    assert error_of(node.produce("u", b"a")) == "KAFKA_STORAGE_ERROR"
    assert error_of(node.fetch("u")) == "KAFKA_STORAGE_ERROR"
    node.disk.free_up()
    node.flush_at_once = True
    node.advance(2 * OPEN_AGAIN_MS)
    assert node.produce("u", b"a").base_offset == 0
    assert node.values("u") == [b"a"]


def refuse_files(node, folder):
    """Let no file be opened in a folder; returns what ends that."""
    opens = node.disk.open

    def refuse(path):
        if path.startswith(folder):
            raise OSError(5, "input/output error", path)
        return opens(path)

    def relent():
        node.disk.open = opens

    node.disk.open = refuse
    return relent


def test_a_coordinator_is_loaded_when_its_log_opens_late():
    coordinator = coordinating()
    assert commit(coordinator, 42) == "NONE"
    relent = refuse_files(coordinator, "/data/__consumer_offsets-")
    coordinator.restart()
    assert commit(coordinator, 43) == "NOT_COORDINATOR"

    relent()
    coordinator.advance(10 * OPEN_AGAIN_MS)

    assert committed(coordinator) == 42
    assert commit(coordinator, 43) == "NONE"


def test_logs_that_will_not_open_are_tried_a_few_a_second_and_all_at_once_when_one_does(caplog):
    node = SmallNode()
    node.create("t", partitions=3 * AT_A_TIME)
    relent = refuse_files(node, "/data/t-")
    node.restart()
    manager, directories = node.node.broker.replica_manager, node.node.broker.directories
    assert len(manager.unopened) == 3 * AT_A_TIME
    tried, open_log = [], directories.open_log
    directories.open_log = lambda name, *args, **more: tried.append(name) or open_log(name, *args, **more)

    node.advance(3 * OPEN_AGAIN_MS)
    assert len(tried) == len(set(tried)) == 3 * AT_A_TIME, "each in its turn"
    assert len([line for line in caplog.messages if "cannot be opened" in line]) == 3 * AT_A_TIME, (
        "once a minute"
    )

    relent()
    node.advance(OPEN_AGAIN_MS)
    assert manager.unopened == []
    assert len(manager) == 3 * AT_A_TIME


def test_a_log_that_will_not_open_keeps_nobody_else_from_being_served(node):
    for topic in ("t", "u"):
        node.create(topic)
        node.produce(topic, b"a")
    node.node.stop(node.now)
    node.disk.remove("/data/t-0/00000000000000000000.log")
    node.disk.make_directory("/data/t-0/00000000000000000000.log")

    node.start()

    assert error_of(node.produce("t", b"a")) == "KAFKA_STORAGE_ERROR"
    assert node.values("u") == [b"a"]


def test_a_log_that_did_not_open_is_recovered_when_it_does():
    """Its end was never vouched for, whatever the other logs were when the node stopped."""
    node = SmallNode()
    node.create("t")
    node.create("u")
    node.produce("t", b"a")
    node.restart(clean=False)
    broken = "/data/t-0/00000000000000000000.log"
    torn = node.disk.open(broken)
    torn.append(b"\x00" * 30)
    read = node.disk.open

    def refuse(path):
        if path == broken:
            raise OSError(5, "input/output error", path)
        return read(path)

    node.disk.open = refuse
    node.restart(clean=False)
    assert error_of(node.produce("t", b"b")) == "KAFKA_STORAGE_ERROR"
    node.disk.open = read
    node.restart()

    assert node.values("t") == [b"a"]
    assert node.produce("t", b"b").base_offset == 1


# ── folders of topics that are gone ──────────────────────────────────────────────────


def crash_after_the_deletion_is_committed(node, topic):
    """The metadata says that the topic is gone, and its folder still has its name."""
    node.flush_at_once = False
    node.send(node.delete_request(topic))
    for file in node.flushes[0].files:
        file.sync()
    node.flush_at_once = True
    node.restart(clean=False)


def test_a_deletion_that_a_crash_came_upon_is_finished(node):
    node.create("t")
    node.produce("t", b"old")

    crash_after_the_deletion_is_committed(node, "t")

    assert names(node) == []
    assert next(each for each in folders(node) if each.startswith("t-0")).endswith("-delete")
    node.advance(MINUTE)
    assert folders(node) == ["__cluster_metadata-0"]


def test_a_topic_made_after_such_a_crash_has_none_of_the_old_records(node):
    node.create("t")
    node.produce("t", b"old")
    crash_after_the_deletion_is_committed(node, "t")

    node.create("t")
    assert node.values("t") == []
    assert node.produce("t", b"new").base_offset == 0
    node.restart()

    assert node.values("t") == [b"new"]


def test_deletions_of_the_past_do_not_touch_the_folder_of_a_topic_that_came_later(node):
    for value in (b"first", b"second", b"third"):
        node.create("t")
        node.produce("t", value)
        if value != b"third":
            node.delete("t")

    for clean in (True, False):
        node.restart(clean)
        assert node.values("t") == [b"third"]


def test_a_folder_that_is_in_no_metadata_is_set_aside_and_kept(node):
    node.create("t")
    node.node.stop(node.now)
    node.disk.make_directory("/data/lost-3")
    node.disk.write_file("/data/lost-3/partition.metadata", encode(b"\x09" * 16))
    node.start()

    assert next(each for each in folders(node) if each.startswith("lost-3")).endswith("-stray")
    node.advance(10 * MINUTE)
    assert any(each.startswith("lost-3") for each in folders(node))
    node.create("lost", partitions=4)
    assert node.produce("lost", b"a", partition=3).base_offset == 0


def test_a_topic_whose_folder_belongs_to_another_gets_a_new_one(node):
    node.create("t")
    node.produce("t", b"old")
    node.node.stop(node.now)
    node.disk.write_file("/data/t-0/partition.metadata", encode(b"\x09" * 16))

    node.start()

    assert node.values("t") == []
    assert any(each.startswith("t-0.") and each.endswith("-stray") for each in folders(node))
    assert node.produce("t", b"new").base_offset == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_topic_made_anew_takes_nothing_from_the_checkpoints_of_the_old_one(node, seed):
    """The old log's recovery point would vouch for what a power loss has torn, its start would hide records."""
    node.create("t")
    for _ in range(50):
        node.produce("t", b"old")
    node.delete_records("t", 40)
    node.advance(MINUTE)  # checkpoints
    node.delete("t")
    node.create("t", flush_messages=1)
    for number in range(3):
        node.produce("t", b"%d" % number)

    node.disk.crash(random.Random(seed))
    node.restart(clean=False)

    assert node.values("t") == [b"0", b"1", b"2"]
    assert node.produce("t", b"3").base_offset == 3


def test_a_log_start_is_not_forgotten_because_the_log_did_not_open(node):
    node.create("t")
    node.create("u")
    for _ in range(5):
        node.produce("t", b"x")
    node.delete_records("t", 3)
    node.restart()
    read = node.disk.names

    def refuse(path):
        if path == "/data/t-0":
            raise OSError(5, "input/output error", path)
        return read(path)

    node.disk.names = refuse
    node.restart(clean=False)
    node.advance(2 * MINUTE)  # checkpoints
    node.disk.names = read
    node.restart(clean=False)

    assert node.log("t").start == 3


@pytest.mark.parametrize("power_loss", [False, True])
def test_a_topic_deleted_and_made_anew_has_its_own_records_wherever_the_process_dies(power_loss):
    """The process dies at the first change to the disk, at the second, and so on until it lives through all."""
    for fuse in range(1_000):
        node = SmallNode(log_dirs="/one,/two")
        node.create("t", partitions=2, flush_messages=1)
        for number in range(10):
            node.produce("t", b"old", partition=number % 2)
        node.delete_records("t", 3)
        node.advance(MINUTE)  # checkpoints
        node.disk.fuse = fuse
        acknowledged = []
        try:
            node.delete("t")
            node.create("t", partitions=2, flush_messages=1)
            acknowledged = [value for value in (b"a", b"b") if node.produce("t", value).error_code == 0]
            node.advance(2 * MINUTE)
            survived = True
        except Killed:
            survived = False
        node.disk.fuse = None
        if power_loss:
            node.disk.crash(random.Random(fuse))
        node.restart(clean=False)

        if "t" not in node.node.broker.image.topics:
            node.create("t", partitions=2)
        found = node.values("t")
        assert found[: len(acknowledged)] == acknowledged
        assert b"old" not in found or set(found) == {b"old"}, "it is the one or the other"
        if survived:
            break
    assert fuse > 20


# ── roles ────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def cluster():
    return small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))


def roles(cluster, topic="t", index=0):
    """What each node is to a partition."""
    held = {n: cluster.partition(n, topic, index) for n in (1, 2, 3)}
    return {
        n: "leads" if p.leads else "follows" if p.follows else "waits"
        for n, p in held.items()
        if p is not None
    }


def test_one_leads_the_other_replicas_follow_and_nobody_else_has_it(cluster):
    create(cluster, "t", [(1, 2), (3, 1)])

    assert roles(cluster) == {1: "leads", 2: "follows"}
    assert roles(cluster, index=1) == {1: "follows", 3: "leads"}


def test_roles_change_as_the_metadata_says(cluster):
    create(cluster, "t", (1, 2, 3))
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") == 2)

    assert (cluster.partition(2, "t").leads, cluster.partition(3, "t").follows) == (True, True)
    assert cluster.partition(2, "t").epoch == cluster.partition(3, "t").epoch == 1


def test_what_nobody_leads_is_followed_and_fetched_from_nobody(cluster):
    create(cluster, "t", (1, 2), min_insync_replicas=1)
    cluster.kill(2)
    cluster.until(lambda: cluster.image_of("t").isr == (1,))
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") == -1)
    cluster.start(2)
    cluster.until(lambda: cluster.image.brokers[2].live)
    cluster.pass_time(100)

    assert cluster.partition(2, "t").follows
    assert cluster.broker(2).fetcher_manager.next_deadline() == NEVER


def test_an_isr_that_the_leader_was_told_itself_is_not_taken_back_by_older_metadata(cluster):
    create(cluster, "t", (1, 2, 3))
    partition = cluster.partition(1, "t")
    older = cluster.broker(1).image.topics["t"].partitions[0]
    partition.confirm(5, frozenset({1, 2}))

    cluster.broker(1).replica_manager._take_role(partition, older, cluster.now)

    assert partition.leader().isr == {1, 2}


def test_a_replica_whose_log_opens_late_is_found_again_by_the_controller(cluster):
    """Nobody asks for it meanwhile: it leads nothing, so it is opened by the clock."""
    cluster.members[2].disk.use_up_inodes()
    create(cluster, "t", (2,))
    create(cluster, "u", (1, 2), min_insync_replicas=1)
    cluster.until(lambda: cluster.leader_of("t") == -1 and cluster.image_of("u").isr == (1,))

    cluster.members[2].disk.free_up()

    cluster.until(lambda: cluster.leader_of("t") == 2 and cluster.image_of("u").isr == (1, 2))
    assert write(cluster, "t", b"a") == 0
    assert write(cluster, "u", b"a") == 0


def test_a_log_that_never_opened_is_tried_no_more_when_its_topic_is_gone(cluster):
    cluster.members[2].disk.use_up_inodes()
    create(cluster, "t", (2,))
    manager = cluster.broker(2).replica_manager
    cluster.until(lambda: manager.unopened)

    delete(cluster, "t")
    cluster.until(lambda: not manager.unopened)
    cluster.pass_time(2 * OPEN_AGAIN_MS)

    assert manager.next_deadline() == NEVER


def test_what_is_taken_away_from_a_broker_is_removed_from_its_disk_in_time(cluster):
    create(cluster, "t", (1, 2))
    create(cluster, "u", (1, 3))
    write(cluster, "t", b"a")
    part = ReassignablePartition(0, [1, 3])
    cluster.answer(1, AlterPartitionReassignmentsRequest(topics=[ReassignableTopic("t", [part])]))
    cluster.until(lambda: cluster.image_of("t").replicas == (1, 3))
    cluster.pass_time(100)

    assert cluster.partition(2, "t") is None
    assert "t-0/" not in cluster.members[2].disk.names("/data")
    cluster.pass_time(70_000, step=500)
    assert not [name for name in cluster.members[2].disk.names("/data") if name.startswith("t-0")]


def test_a_checkpoint_of_the_watermark_counts_for_the_first_role_and_not_after_a_cut(node):
    """An unclean election takes back what was committed; what comes in its place is not committed by that."""
    node.create("t")
    for value in (b"a", b"b", b"c"):
        node.produce("t", value)
    node.node.broker.checkpoints.save_all()
    partition, image = node.partition("t"), node.node.broker.image.topics["t"].partitions[0]
    take = node.node.broker.replica_manager._take_role
    take(
        partition,
        image._replace(leader=2, leader_epoch=1, partition_epoch=1, replicas=(1, 2), isr=(2,)),
        node.now,
    )
    partition.go_to(0, 1, node.now)  # its leader has one record
    assert partition.watermark == 1
    batch = build([Record(0, node.now, None, b"d"), Record(0, node.now, None, b"e")])
    stamp(batch, 0, 1, 1)
    # It has two more, that are not committed
    partition.take(FetchPartitionData(records=bytes(batch), watermark=1), node.now)

    both = image._replace(leader=1, leader_epoch=2, partition_epoch=2, replicas=(1, 2), isr=(1, 2))
    take(partition, both, node.now)

    assert (partition.log.end, partition.watermark) == (3, 1)
