"""What followers fetch is noted: it moves the watermark, answers producers, and lets them join."""

import pytest

from andiron.broker.replicas.follower_states import FollowerFetch
from andiron.model.errors import ErrorCode, ProtocolError
from worlds.cluster_client import begin_produce, create, isr, produced, small_cluster


@pytest.fixture
def cluster():
    """Broker 1 leads t, and brokers 2 and 3 do not get to fetch of it."""
    made = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    made.cut |= {(1, 2), (2, 1), (1, 3), (3, 1)}
    create(made, "t", (1, 2, 3))
    return made


def fetched(cluster, replica, offset, start=0, life=None):
    life = cluster.broker(replica).lifecycle.epoch if life is None else life
    partition = cluster.partition(1, "t")
    cluster.broker(1).follower_states.fetched(
        partition, FollowerFetch(replica, life, offset, start, 99), cluster.now
    )
    return partition


def test_the_watermark_moves_when_the_last_in_sync_replica_has_it(cluster):
    begin_produce(cluster, "t", b"a", b"b")
    assert fetched(cluster, 2, 2).watermark == 0

    assert fetched(cluster, 3, 1).watermark == 1
    assert fetched(cluster, 3, 2).watermark == 2


def test_whoever_waits_for_the_watermark_is_answered_with_the_step(cluster):
    answers = begin_produce(cluster, "t", b"a")
    for replica in (2, 3):
        fetched(cluster, replica, 1)
    assert cluster.broker(1).step.has_facts
    cluster._carry_out(cluster.members[1], cluster.members[1].node.broker.end_step())

    assert produced(answers).error_code == 0


def test_a_fetch_that_moves_nothing_leaves_nothing_to_do(cluster):
    fetched(cluster, 2, 0)

    assert not cluster.broker(1).step.has_facts


def test_where_a_followers_log_begins_is_noted(cluster):
    begin_produce(cluster, "t", b"a", b"b")
    fetched(cluster, 2, 2, start=1)

    assert cluster.partition(1, "t").leader().start_of(2) == 1


def test_one_that_was_out_of_sync_and_has_caught_up_is_proposed(cluster):
    begin_produce(cluster, "t", b"a", timeout_ms=100_000)
    cluster.partition(1, "t").settle(frozenset({1, 2, 3}), frozenset({1, 2}), cluster.now)

    fetched(cluster, 3, 1)

    assert cluster.partition(1, "t").leader().proposed == {1, 2, 3}
    assert isr(cluster, "t") == [1, 2, 3]


def test_who_holds_no_replica_is_told_so(cluster):
    with pytest.raises(ProtocolError) as caught:
        fetched(cluster, 9, 0, life=1)

    assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_that_a_follower_fetches_at_all_is_heard(cluster):
    cluster.heal()
    cluster.pass_time(2_000)

    heard = cluster.broker(1).follower_states.heard
    assert sorted(heard) == [2, 3]
    assert all(cluster.now - at <= 600 for at in heard.values())


def test_it_is_known_on_which_connections_followers_fetch_until_these_are_gone(cluster):
    broker = cluster.broker(1)
    broker.follower_states.heard_of(2, 7, cluster.now)
    assert 7 in cluster.members[1].node.follower_connections

    broker.disconnected(7, cluster.now)
    assert 7 not in cluster.members[1].node.follower_connections
