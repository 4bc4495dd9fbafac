from __future__ import annotations

from unit.edge.metrics.scraped import scraped
from worlds.cluster import SmallCluster
from worlds.coordinating import commit, consumer_heartbeat, coordinating, in_transaction
from worlds.node import SmallNode

LAG = '{group="g",topic="t",partition="0"}'


def test_a_node_by_itself_is_its_controller():
    world = SmallNode()
    world.create("t", 2)

    seen = scraped(world)

    assert (seen["andiron_active_controller"], seen["andiron_offline_partitions"]) == (1, 0)
    assert (seen["andiron_active_brokers"], seen["andiron_fenced_brokers"]) == (1, 0)
    assert (seen["andiron_cluster_topics"], seen["andiron_cluster_partitions"]) == (1, 2)
    assert seen["andiron_broker_state"] == 3
    assert seen['andiron_quorum_state{state="leader"}'] == 1
    assert seen["andiron_metadata_applied_offset"] == seen["andiron_quorum_high_watermark"]


def test_only_the_active_controller_tells_of_the_cluster():
    cluster = SmallCluster()
    cluster.until(cluster.all_ready)
    for node, member in cluster.members.items():
        member.now = cluster.now
        seen = scraped(member)
        leads = node == cluster.controller

        assert seen["andiron_active_controller"] == leads
        assert ("andiron_offline_partitions" in seen) == leads
        assert seen["andiron_quorum_leader_id"] == cluster.controller
        assert ('andiron_quorum_replica_lag_records{replica="1"}' in seen) == (leads and node != 1)


def test_lag_in_records_and_seconds():
    world = coordinating()
    world.produce("t", b"a", b"b", b"c")
    assert commit(world, 0) == "NONE"
    world.now += 2_500

    seen = scraped(world)

    assert seen[f"andiron_group_committed_offset{LAG}"] == 0
    assert seen[f"andiron_group_lag_records{LAG}"] == 3
    assert seen[f"andiron_group_lag_seconds{LAG}"] == 2.5
    assert seen['andiron_groups{protocol="classic",state="Empty"}'] == 1
    assert seen["andiron_group_lag_unmeasured"] == 0


def test_a_lag_that_is_not_known_here_is_left_out():
    world = coordinating()
    assert commit(world, 0) == "NONE"
    world.partition("t").fail("a planted fault")

    seen = scraped(world)

    assert seen[f"andiron_group_committed_offset{LAG}"] == 0
    assert f"andiron_group_lag_records{LAG}" not in seen


def test_what_was_never_committed_has_metrics_of_its_own():
    world = coordinating()
    world.produce("t", b"a", b"b", b"c")
    world.ask(consumer_heartbeat(group="g"))

    seen = scraped(world)

    assert seen[f"andiron_group_uncommitted{LAG}"] == 1
    assert seen[f"andiron_group_uncommitted_records{LAG}"] == 3
    assert f"andiron_group_committed_offset{LAG}" not in seen
    assert f"andiron_group_lag_records{LAG}" not in seen

    assert commit(world, 1, group="h") == "NONE"
    assert 'andiron_group_uncommitted{group="h",topic="t",partition="0"}' not in scraped(world)


def test_rebalances_are_told_by_group_and_reason():
    world = coordinating()
    world.ask(consumer_heartbeat(group="g"))

    assert scraped(world)['andiron_group_rebalances_total{group="g",reason="join"}'] == 1


def test_transactions():
    world = coordinating()
    in_transaction(world)

    seen = scraped(world)

    assert seen['andiron_transactional_ids{state="Ongoing"}'] == 1
    assert (seen["andiron_open_transactions"], seen["andiron_producer_ids"]) == (1, 1)
