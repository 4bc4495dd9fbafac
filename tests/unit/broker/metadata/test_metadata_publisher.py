"""Committed metadata takes effect at a node: all that hangs on it hears of it."""

import pytest

from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from worlds.cluster_client import create, delete, small_cluster
from worlds.cluster_coordinators import GROUP, OFFSETS, coordinator_of
from worlds.node import SmallNode


@pytest.fixture
def cluster():
    return small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))


def test_a_node_is_settled_when_it_is_ready_for_the_first_time_and_stays_so(cluster):
    following = cluster.broker(3).metadata_publisher
    assert following.settled

    cluster.isolate(3)
    cluster.pass_time(20_000)
    cluster.heal()
    cluster.pass_time(20)

    assert following.settled


def test_housekeeping_begins_when_the_node_is_settled():
    node = SmallNode()

    assert node.node.broker.housekeeping.next_deadline() < node.now + 60_000


def test_folders_that_are_nobodys_are_set_aside_when_the_node_is_settled():
    node = SmallNode()
    node.disk.make_directory("/data/stray-0")
    node.disk.write_file("/data/stray-0/partition.metadata", b"")
    node.restart()

    assert "stray-0/" not in node.disk.names("/data")


def test_a_coordinator_comes_and_goes_with_the_lead_of_its_partition(cluster):
    keeper = coordinator_of(cluster, GROUP, "g")
    index = cluster.broker(keeper).groups.partition_of("g")
    cluster.kill(keeper)
    cluster.until(lambda: cluster.leader_of(OFFSETS, index) not in (keeper, -1))
    cluster.pass_time(100)
    after = cluster.leader_of(OFFSETS, index)
    cluster.start(keeper)
    cluster.until(lambda: keeper in cluster.image_of(OFFSETS, index).isr)

    answers = {
        n: cluster.answer(n, FindCoordinatorRequest(key_type=GROUP, coordinator_keys=["g"]))
        .coordinators[0]
        .node_id
        for n in (1, 2, 3)
    }
    assert set(answers.values()) == {after}


def test_a_flush_that_is_wanted_by_a_partition_that_is_deleted_is_wanted_no_more(cluster):
    create(cluster, "t", flush_messages=1)
    partition = cluster.partition(1, "t")
    cluster.broker(1).flush_queue.want(partition)

    delete(cluster, "t")
    cluster.pass_time(100)

    assert partition.retired
    assert partition not in cluster.broker(1).flush_queue._wanted


def test_what_waits_for_the_metadata_is_woken(cluster):
    broker, woken = cluster.broker(2), []
    from andiron.broker.node.waiting import Wait
    from andiron.model.ids import NEVER

    wait = Wait(
        (broker.raft.partition,), lambda: "t" in broker.image.topics, NEVER, lambda: "here", lambda: None
    )
    broker.waiting.later(wait, woken.append)
    create(cluster, "t")

    assert woken == ["here"]
