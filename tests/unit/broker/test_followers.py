"""What followers fetch tells what they hold."""

import pytest

from andiron.broker.followers import Fetched
from andiron.model.errors import ProtocolError
from worlds.cluster_client import create, small_cluster, write


@pytest.fixture
def cluster():
    return small_cluster((1, 2, 3))


def seen(node, offset, *, start=0, broker_epoch=10**6):
    return Fetched(node, broker_epoch, offset, start, conn=1)


def led(cluster):
    create(cluster, "t", [(1, 2, 3)])
    write(cluster, "t", b"a")
    return cluster.broker(1).followers, cluster.partition(1, "t")


def test_a_follower_is_heard_of_though_its_partitions_do_not_move(cluster):
    followers, _ = led(cluster)
    cluster.pass_time(5_000)

    assert all(cluster.now - followers.heard[node] < 1_000 for node in (2, 3))


def test_what_both_followers_hold_is_committed(cluster):
    followers, partition = led(cluster)
    cluster.paused |= {2, 3}
    partition.leader().appended(partition.log.end + 5)

    followers.fetched(partition, seen(2, 6), cluster.now)
    assert partition.watermark == 1
    followers.fetched(partition, seen(3, 4), cluster.now)
    assert partition.watermark == 4


def test_one_that_holds_no_replica_is_told_so(cluster):
    followers, partition = led(cluster)

    with pytest.raises(ProtocolError, match="NOT_LEADER_OR_FOLLOWER"):
        followers.fetched(partition, seen(9, 1), cluster.now)


def test_a_fetch_of_an_earlier_life_shows_nothing(cluster):
    followers, partition = led(cluster)
    followers.fetched(partition, seen(2, 1), cluster.now)

    followers.fetched(partition, seen(2, 0, broker_epoch=1), cluster.now)

    assert partition.leader().progress()[2].offset == 1
