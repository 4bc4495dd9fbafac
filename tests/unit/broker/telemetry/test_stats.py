"""How a broker is, in Kafka's meaning."""

import pytest

from andiron.broker.telemetry.stats import (
    PIECE,
    BrokerTotals,
    all_partitions,
    broker_state,
    controller_totals,
    partition_stats,
    quorum_stats,
)
from worlds.cluster import SmallCluster
from worlds.replicating import create, produce


@pytest.fixture
def cluster():
    made = SmallCluster(replica_lag_time_max_ms=3_000)
    made.until(made.all_ready)
    create(made, "t")
    return made


def stats(cluster, node, topic="t"):
    broker = cluster.broker(node)
    return partition_stats(cluster.partition(node, topic), broker.image, cluster.now)


def totals(broker, now):
    found = BrokerTotals()
    for piece in all_partitions(broker, now):
        for each in piece:
            found.add(each)
    return found


def sum_over(cluster, name):
    return sum(getattr(totals(member.node.broker, cluster.now), name) for member in cluster.up())


def test_a_partition_tells_of_its_log(node):
    node.create("t")
    node.produce("t", b"a", b"b")
    node.delete_records("t", 1)

    seen = partition_stats(node.partition("t"), node.node.broker.image, node.now)

    assert (seen.start, seen.end, seen.watermark, seen.last_stable_lag) == (1, 2, 2, 0)
    assert (seen.size, seen.segments) == (node.log("t").size, 1)
    assert (seen.leads, seen.replicas, seen.isr, seen.least) == (True, 1, 1, 1)
    assert seen.at_min_isr and not seen.under_replicated and not seen.failed


def test_an_open_transaction_is_told(coordinator):
    from worlds.coordinating import in_transaction

    in_transaction(coordinator)
    seen = partition_stats(coordinator.partition("t"), coordinator.node.broker.image, coordinator.now)

    assert (seen.transactions, seen.producers, seen.last_stable_lag) == (1, 1, 1)


def test_a_partition_that_failed_is_not_led_any_more(node):
    node.create("t")
    node.partition("t").fail("a planted fault")

    assert totals(node.node.broker, node.now).failed == 1
    assert totals(node.node.broker, node.now).leaders == 0


def test_leaders_see_their_followers_and_followers_their_lag(cluster):
    leader = cluster.leader_of("t")
    slow = next(node for node in (1, 2, 3) if node != leader)
    cluster.cut |= {(leader, slow), (slow, leader)}

    assert produce(cluster, "t", b"a", b"b", b"c", acks=1) == 0
    cluster.pass_time(500)

    lags = {each.node: each.lag for each in stats(cluster, leader).followers}
    assert lags == {node: 3 if node == slow else 0 for node in (1, 2, 3) if node != leader}
    assert max(each.behind_ms for each in stats(cluster, leader).followers) >= 500
    assert totals(cluster.broker(leader), cluster.now).follower_lag_max == 3


def test_nobody_lags_in_an_idle_and_healthy_cluster():
    cluster = SmallCluster()
    cluster.until(cluster.all_ready)
    create(cluster, "t")
    produce(cluster, "t", b"a")

    for _ in range(10):
        cluster.pass_time(7_000)
        assert (
            max(totals(cluster.broker(node), cluster.now).follower_behind_ms_max for node in (1, 2, 3)) == 0
        )


def test_a_follower_knows_how_much_is_committed_that_it_lacks(cluster):
    leader = cluster.leader_of("t")
    follower = cluster.partition(next(node for node in (1, 2, 3) if node != leader), "t")

    follower._follower.leader_watermark = 7

    assert follower.fetch_lag == 7
    assert cluster.partition(leader, "t").fetch_lag == 0


def test_a_broker_that_is_gone_leaves_partitions_under_replicated_until_it_is_back(cluster):
    assert (sum_over(cluster, "under_replicated"), sum_over(cluster, "leaders")) == (0, 1)
    lost = next(node for node in (1, 2, 3) if node != cluster.leader_of("t"))

    cluster.kill(lost)
    cluster.until(lambda: sum_over(cluster, "under_replicated") == 1)

    assert sum_over(cluster, "at_min_isr") == 1 and sum_over(cluster, "under_min_isr") == 0
    assert sum(m.node.broker.alter_partition_manager.shrinks for m in cluster.up()) == 1
    assert stats(cluster, cluster.leader_of("t")).isr == 2

    cluster.start(lost)
    cluster.until(lambda: sum_over(cluster, "under_replicated") == 0)
    assert stats(cluster, cluster.leader_of("t")).isr == 3
    assert sum(m.node.broker.alter_partition_manager.expands for m in cluster.up()) == 1


def test_when_the_leader_is_gone_the_next_one_counts_what_was_lost(cluster):
    cluster.kill(cluster.leader_of("t"))
    cluster.until(lambda: sum_over(cluster, "under_replicated") == 1)

    leader = cluster.leader_of("t")
    assert cluster.broker(leader).alter_partition_manager.shrinks == 1


def test_two_that_are_gone_are_one_too_many(cluster):
    leader = cluster.leader_of("t")
    controller = cluster.controller
    lost = [node for node in (1, 2, 3) if node != leader]
    for node in lost:
        cluster.cut |= {(leader, node), (node, leader)} if node != controller else set()
    leads = cluster.partition(leader, "t").leader()
    leads.confirmed(frozenset({leader}))

    seen = stats(cluster, leader)

    assert seen.under_min_isr and seen.under_replicated and not seen.at_min_isr


def test_only_the_controller_is_one_and_it_knows_all_brokers(cluster):
    controller = cluster.controller
    assert [quorum_stats(cluster.broker(node)).leads for node in (1, 2, 3)] == [
        node == controller for node in (1, 2, 3)
    ]
    lost = next(node for node in (1, 2, 3) if node != controller)
    cluster.kill(lost)

    def fenced():
        *_, seen = controller_totals(cluster.broker(controller).image)
        return seen.fenced_brokers, seen.active_brokers

    cluster.until(lambda: fenced() == (1, 2))


def test_the_controller_counts_partitions_without_a_leader(cluster):
    image = cluster.broker(cluster.controller).image
    topic = image.topics["t"]
    topic.partitions[0] = topic.partitions[0]._replace(leader=-1)

    *_, seen = controller_totals(image)

    assert (seen.topics, seen.partitions, seen.offline, seen.not_preferred) == (1, 1, 1, 1)


def test_the_quorums_leader_tells_how_far_behind_the_others_are(cluster):
    controller = cluster.controller
    led = quorum_stats(cluster.broker(controller))
    other = quorum_stats(cluster.broker(next(node for node in (1, 2, 3) if node != controller)))

    assert (led.role, other.role, led.voters) == ("leader", "follower", 3)
    assert led.lags == {node: 0 for node in (1, 2, 3) if node != controller}
    assert (other.lags, other.leader, other.epoch) == ({}, controller, led.epoch)
    assert led.applied == led.watermark == led.end


def test_a_broker_that_does_not_vote_observes():
    cluster = SmallCluster((1, 2), voters=(1,), default_replication_factor=1, min_insync_replicas=1)
    cluster.until(cluster.all_ready)

    assert quorum_stats(cluster.broker(2)).role == "observer"
    assert quorum_stats(cluster.broker(1)).lags == {2: 0}


def test_replicas_that_are_still_to_come_are_not_missing(node):
    node.create("t")
    image = node.node.broker.image
    partitions = image.topics["t"].partitions
    partitions[0] = partitions[0]._replace(replicas=(1, 2), adding=(2,))
    node.partition("t").leader().reassigned(frozenset({1, 2}), node.now)

    seen = partition_stats(node.partition("t"), image, node.now)

    assert (seen.replicas, seen.isr, seen.under_replicated) == (1, 1, False)


def test_many_partitions_come_in_pieces(node):
    node.create("t", PIECE + 1)

    assert [len(piece) for piece in all_partitions(node.node.broker, node.now)] == [PIECE, 1]


def test_a_broker_that_serves_is_running(node):
    assert broker_state(node.node.broker) == 3
