from __future__ import annotations

from andiron.edge.metrics.replication import FAMILIES
from unit.edge.metrics.scraped import scraped
from worlds.cluster import SmallCluster
from worlds.node import SmallNode
from worlds.replicating import create, produce

T0 = '{topic="t",partition="0"}'


def of(cluster: SmallCluster, node: int) -> dict[str, float]:
    member = cluster.members[node]
    member.now = cluster.now
    return scraped(member)


def test_the_logs_bounds_and_size():
    world = SmallNode()
    world.create("t")
    world.produce("t", b"a", b"b", b"c")
    world.delete_records("t", 1)

    seen = scraped(world)

    assert seen[f"andiron_partition_log_start_offset{T0}"] == 1
    assert seen[f"andiron_partition_log_end_offset{T0}"] == seen[f"andiron_partition_high_watermark{T0}"] == 3
    assert seen[f"andiron_partition_log_size_bytes{T0}"] == world.log("t").size
    assert seen["andiron_partitions"] == seen["andiron_leaders"] == 1


def test_a_replica_that_cannot_be_used_is_offline():
    world = SmallNode()
    world.create("t", 2)
    world.partition("t").fail("a planted fault")

    assert scraped(world)["andiron_offline_replicas"] == 1


def test_leaders_tell_of_the_isr_and_followers_of_their_lag():
    cluster = SmallCluster()
    cluster.until(cluster.all_ready)
    create(cluster, "t")
    assert produce(cluster, "t", b"a") == 0
    cluster.pass_time(600)
    leader = cluster.leader_of("t")
    followers = [node for node in (1, 2, 3) if node != leader]

    seen = of(cluster, leader)
    assert seen[f"andiron_partition_in_sync_replicas{T0}"] == seen[f"andiron_partition_replicas{T0}"] == 3
    assert seen["andiron_under_replicated_partitions"] == 0
    for node in followers:
        assert seen[f'andiron_follower_lag_records{{topic="t",partition="0",follower="{node}"}}'] == 0
        told = of(cluster, node)
        assert told[f"andiron_replica_fetch_lag_records{T0}"] == 0
        assert f"andiron_partition_in_sync_replicas{T0}" not in told, "the leader tells"
        assert told["andiron_leaders"] == 0 and told["andiron_partitions"] == 1


def test_a_broker_that_is_killed_shows_at_once_and_until_it_is_back():
    cluster = SmallCluster(replica_lag_time_max_ms=3_000)
    cluster.until(cluster.all_ready)
    create(cluster, "t")
    lost = next(node for node in (1, 2, 3) if node != cluster.leader_of("t"))

    def under_replicated():
        return sum(of(cluster, each.number)["andiron_under_replicated_partitions"] for each in cluster.up())

    cluster.kill(lost)
    cluster.until(lambda: under_replicated() == 1)
    seen = of(cluster, cluster.leader_of("t"))
    assert (seen["andiron_at_min_isr_partitions"], seen["andiron_under_min_isr_partitions"]) == (1, 0)
    assert seen["andiron_isr_shrinks_total"] == 1
    assert seen[f"andiron_partition_in_sync_replicas{T0}"] == 2

    cluster.start(lost)
    cluster.until(lambda: under_replicated() == 0)


def test_every_row_says_what_it_means():
    assert all(family.meaning.endswith(".") for family in FAMILIES)
