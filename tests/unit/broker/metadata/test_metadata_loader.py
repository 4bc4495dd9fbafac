"""The metadata as committed: replayed at every start, and told only when it is on the disk of a majority."""

import random

import pytest

from andiron.broker.coordinators.shard import batches_between
from andiron.broker.metadata.raft_requests import METADATA, TOPIC_ID
from andiron.model.errors import ProtocolError
from andiron.sim.disk import MemoryDisk
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from worlds.cluster_client import create, small_cluster
from worlds.node import START, SmallNode

NODES = [1, 2, 3]


def metadata(node):
    return node.node.broker.metadata


def not_yet_started(disk=None):
    """A node whose first fsync has not been done."""

    class Waiting(SmallNode):
        def start(self):
            self.flush_at_once = False
            self.node = self.make_node()
            self.carry_out(self.node.start(self.now))

    return Waiting(disk)


def test_a_node_is_ready_when_its_registration_is_on_the_disk():
    node = not_yet_started()
    assert not node.node.ready
    assert metadata(node).image.brokers == {}

    node.do_flushes()

    assert node.node.ready
    assert list(metadata(node).image.brokers) == [1]
    assert node.node.broker.raft.leader == 1


def test_the_log_begins_with_the_leaders_own_record(node):
    [first, *_] = batches_between(metadata(node).partition, 0, metadata(node).partition.watermark)

    assert (first.base_offset, first.is_control) == (0, True)


def test_the_log_lies_where_kafka_has_it(node):
    assert str(METADATA) == "__cluster_metadata-0"
    assert "00000000000000000000.log" in node.disk.names("/data/__cluster_metadata-0")
    assert metadata(node).partition.topic_id == TOPIC_ID


def test_it_lies_in_a_directory_of_its_own_if_that_is_given():
    node = SmallNode(log_dirs="/one,/two", metadata_log_dir="/meta")

    assert node.disk.exists("/meta/__cluster_metadata-0")
    assert not node.disk.exists("/one/__cluster_metadata-0")
    node.create("t")
    node.restart()
    assert "t" in metadata(node).image.topics


@pytest.mark.parametrize("clean", [True, False])
def test_everything_is_replayed_after_a_restart(node, clean):
    node.create("t", partitions=3, retention_ms=5)
    node.alter_broker("", message_max_bytes=7)
    before = metadata(node).image

    node.restart(clean)

    image = metadata(node).image
    assert image is not before
    assert {name: (topic.id, len(topic.partitions)) for name, topic in image.topics.items()} == {
        "t": (before.topics["t"].id, 3)
    }
    assert image.configs == before.configs


def test_each_start_is_a_new_leader_epoch_and_a_new_broker_epoch(node):
    epochs = []
    for _ in range(3):
        epochs.append((metadata(node).partition.epoch, node.node.broker.lifecycle.epoch))
        node.restart()

    assert sorted(set(epochs)) == epochs


def test_what_is_not_on_the_disk_is_told_to_nobody(node):
    node.flush_at_once = False
    node.send(node.create_request("t"))

    assert "t" not in metadata(node).image.topics
    assert not metadata(node).has_news()
    node.do_flushes()
    assert "t" in metadata(node).image.topics


def test_what_was_not_on_the_disk_may_be_gone_after_a_power_loss(node):
    """And then the controller decides anew, under another epoch."""
    node.create("kept")
    node.flush_at_once = False
    node.send(node.create_request("lost"))
    node.disk.crash(random.Random(3))
    node.flush_at_once = True
    node.restart(clean=False)

    assert "kept" in metadata(node).image.topics
    assert node.create("later").error_code == 0


def test_a_start_on_a_full_disk_fails_with_the_reason():
    disk = MemoryDisk()
    SmallNode(disk).node.stop(START)
    disk.fill_up()

    with pytest.raises((ProtocolError, OSError), match="no space"):
        SmallNode(disk)


# ── among other nodes ────────────────────────────────────────────────────────────────


@pytest.fixture
def cluster():
    return small_cluster()


def of(cluster, number):
    return cluster.broker(number).metadata


def test_what_is_not_committed_is_applied_nowhere(cluster):
    before = cluster.controller
    cluster.isolate(before)
    applied = of(cluster, before).applied
    request = AllocateProducerIdsRequest(before, cluster.broker(before).lifecycle.epoch)
    cluster.broker(before).controller.decide(request, cluster.now, 1_000)
    cluster.pass_time(100)

    assert of(cluster, before).applied == applied
    assert of(cluster, before).image.next_producer_id == 0


def test_a_controller_that_led_and_comes_back_replays_nothing_that_its_snapshot_told():
    keeping = {"metadata.log.max.record.bytes.between.snapshots": 500}
    cluster = small_cluster((1, 2, 3), voters=(2, 3), without_broker=(2, 3), **keeping)
    controller = cluster.controller
    for number in range(12):
        create(cluster, f"t{number}", replicas=[1])
    cluster.pass_time(1_000)
    member = cluster.broker(controller).raft
    assert member.partition.log.start < member.snapshots.table.committed, "there is something to replay"

    cluster.kill(controller)
    cluster.start(controller)

    assert of(cluster, controller).applied == cluster.broker(controller).raft.snapshots.table.committed


def test_all_images_are_the_same(cluster):
    create(cluster, "t", [(1, 2, 3), (2, 3, 1)])
    cluster.pass_time(100)

    images = [of(cluster, n).image for n in NODES]
    assert len({of(cluster, n).applied for n in NODES}) == 1
    assert images[0].topics == images[1].topics == images[2].topics
    assert images[0].brokers == images[1].brokers == images[2].brokers


def test_nothing_can_be_decided_where_most_voters_have_stopped(cluster):
    assert all(cluster.members[number].node.broker.metadata.can_be_decided_on for number in NODES)
    last = cluster.members[cluster.controller].node.broker.metadata

    for number in [each for each in NODES if each != cluster.controller]:
        cluster.stop(number)

    assert not last.can_be_decided_on
