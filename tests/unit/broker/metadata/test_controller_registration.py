"""Every controller registers itself, once a life."""

from worlds.cluster_client import small_cluster
from worlds.node import SmallNode


def test_a_node_by_itself_registers_as_broker_and_as_controller():
    node = SmallNode()
    image = node.node.broker.image
    first = image.controllers[1]

    assert first.incarnation == image.brokers[1].incarnation
    assert first.endpoint("CONTROLLER") == ("localhost", 9093)
    assert ("kraft.version", 0, 1) in first.features

    node.restart()
    assert node.node.broker.image.controllers[1].incarnation != first.incarnation


def test_it_is_said_once_a_life(node):
    end = node.node.broker.raft.partition.log.end

    node.advance(60_000)

    assert node.node.broker.raft.partition.log.end == end


def test_all_controllers_of_a_cluster_are_known_to_all():
    cluster = small_cluster()

    for number in (1, 2, 3):
        assert sorted(cluster.broker(number).image.controllers) == [1, 2, 3]


def test_one_that_finds_no_leader_registers_when_there_is_one():
    cluster = small_cluster()
    cluster.kill(3)
    before = cluster.image.controllers[3].incarnation
    cluster.isolate(3)

    cluster.start(3)
    cluster.pass_time(40_000)
    assert cluster.image.controllers[3].incarnation == before

    cluster.heal()
    cluster.until(lambda: cluster.image.controllers[3].incarnation != before)
