"""Brokers come, go and hand over: controlled shutdown, elections that are asked for, moves, topics meanwhile."""

import pytest

from andiron.wire.messages.describe_cluster import DescribeClusterRequest
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from andiron.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from worlds.cluster_client import (
    all_in_sync,
    begin_produce,
    create,
    delete,
    ends,
    in_log,
    isr,
    move,
    produce,
    produced,
    read,
    ready,
    small_cluster,
    write,
)
from worlds.node import error_of

NODES = [1, 2, 3]
PREFERRED, UNCLEAN = 0, 1


@pytest.fixture
def cluster():
    return small_cluster()


@pytest.fixture
def four():
    """Four brokers and a controller of its own."""
    return small_cluster((1, 2, 3, 4, 9), voters=(9,), without_broker=(9,))


def elect(cluster, kind, topic="t", partition=0, node=1):
    request = ElectLeadersRequest(kind, [TopicPartitions(topic, [partition])])
    answer = cluster.answer(node, request)
    assert answer.error_code == 0
    return error_of(answer.replica_election_results[0].partition_result[0])


# ── leaving ──────────────────────────────────────────────────────────────────────────


def test_a_broker_that_stops_hands_over_first_and_nobody_is_refused(cluster):
    create(cluster, "t", (1, 2, 3))
    write(cluster, "t", b"before")
    member = cluster.members[1]
    cluster._carry_out(member, member.node.leave(cluster.now))
    cluster.settle()
    cluster.until(lambda: member.node.has_left)

    assert cluster.leader_of("t") in (2, 3)
    assert 1 not in isr(cluster, "t")
    assert write(cluster, "t", b"after") == 1  # with the old leader still there


def test_a_stop_leaves_no_gap(cluster):
    """Whenever one looks, somebody leads that takes writes."""
    create(cluster, "t", (1, 2, 3))
    member = cluster.members[1]
    cluster._carry_out(member, member.node.leave(cluster.now))
    written = 0
    while not member.node.has_left:
        cluster.pass_time(10)
        answer = produce(cluster, "t", b"%d" % written, timeout_ms=500)
        if error_of(answer) == "NOT_LEADER_OR_FOLLOWER":
            continue  # it has moved on in this very moment: a client asks for metadata, and tries again
        assert answer.error_code == 0, error_of(answer)
        written += 1

    assert len(read(cluster, "t")) == written


def test_the_controller_that_stops_is_followed_at_once(cluster):
    before = cluster.controller
    cluster.stop(before)
    began = cluster.now

    cluster.until(lambda: cluster.controller not in (None, before))

    assert cluster.now - began < 500


def test_who_stopped_in_order_is_trusted_when_it_comes_back(cluster):
    create(cluster, "t", (1, 2, 3))
    write(cluster, "t", b"a")
    for number in (2, 3):
        cluster.stop(number)
    assert isr(cluster, "t") == [1]

    cluster.stop(1)  # the last one: nobody can take over
    for number in NODES:
        cluster.start(number)
    ready(cluster)
    cluster.until(lambda: cluster.leader_of("t") > 0 and all_in_sync(cluster, "t"))

    assert read(cluster, "t") == [b"a"]


# ── unclean ──────────────────────────────────────────────────────────────────────────


def left_behind(cluster, **configs):
    """A topic whose newest records only broker 1 has, which is gone; broker 2 is back without them."""
    create(cluster, "t", (1, 2), min_insync_replicas=1, **configs)
    write(cluster, "t", b"both")
    cluster.kill(2)
    cluster.until(lambda: isr(cluster, "t") == [1])
    write(cluster, "t", b"lost")
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") == -1)
    cluster.start(2)
    cluster.until(lambda: cluster.image.brokers[2].live)


def test_nobody_leads_who_may_not_have_everything(four):
    left_behind(four)

    four.pass_time(30_000)

    assert four.leader_of("t") == -1
    assert error_of(produce(four, "t", b"c", to=2)) == "NOT_LEADER_OR_FOLLOWER"


def test_who_has_everything_leads_when_it_is_back(four):
    left_behind(four)

    four.start(1)
    four.until(lambda: four.leader_of("t") == 1 and all_in_sync(four, "t"))

    assert read(four, "t") == [b"both", b"lost"]


def test_an_unclean_election_is_made_where_the_topic_allows_it(four):
    left_behind(four, unclean_leader_election_enable="true")

    four.until(lambda: four.leader_of("t") == 2)

    assert read(four, "t") == [b"both"]


def test_an_unclean_election_that_is_asked_for_is_made(four):
    left_behind(four)

    assert elect(four, UNCLEAN, node=2) == "NONE"
    four.until(lambda: four.leader_of("t") == 2)
    write(four, "t", b"instead")
    four.start(1)
    four.until(lambda: all_in_sync(four, "t"))

    assert in_log(four, 1, "t") == in_log(four, 2, "t") == [b"both", b"instead"]


def test_an_unclean_election_where_somebody_leads_is_not_needed(four):
    create(four, "t", (1, 2))

    assert elect(four, UNCLEAN) == "ELECTION_NOT_NEEDED"


# ── preferred ────────────────────────────────────────────────────────────────────────


def test_the_first_replica_leads_again_when_that_is_asked_for(cluster):
    create(cluster, "t", (1, 2, 3))
    cluster.stop(1)
    cluster.start(1)
    ready(cluster)
    cluster.until(lambda: all_in_sync(cluster, "t"))
    assert cluster.leader_of("t") != 1

    assert elect(cluster, PREFERRED) == "NONE"
    cluster.until(lambda: cluster.leader_of("t") == 1)
    assert elect(cluster, PREFERRED) == "ELECTION_NOT_NEEDED"
    assert write(cluster, "t", b"a") == 0


def test_the_first_replica_is_not_elected_while_it_is_away(cluster):
    create(cluster, "t", (1, 2, 3))
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))

    assert elect(cluster, PREFERRED, node=2) == "PREFERRED_LEADER_NOT_AVAILABLE"


def test_leaders_come_home_by_themselves_after_a_while():
    cluster = small_cluster(leader_imbalance_check_interval_seconds=5)
    create(cluster, "t", (1, 2, 3))
    cluster.stop(1)
    cluster.start(1)
    ready(cluster)

    cluster.until(lambda: cluster.leader_of("t") == 1)

    assert write(cluster, "t", b"a") == 0


# ── topics while somebody is away ────────────────────────────────────────────────────


def test_a_topic_deleted_while_a_node_is_away_is_gone_when_it_is_back(cluster):
    create(cluster, "t")
    write(cluster, "t", b"old")
    away = next(n for n in NODES if n != cluster.controller)
    cluster.kill(away)
    delete(cluster, "t")

    cluster.start(away)
    ready(cluster)
    cluster.pass_time(2_000)

    assert cluster.partition(away, "t") is None
    assert not [name for name in cluster.members[away].disk.names("/data") if name == "t-0/"]


def test_a_topic_made_again_while_a_node_is_away_has_nothing_of_the_old_one(cluster):
    create(cluster, "t", (1, 2, 3))
    for number in range(10):
        write(cluster, "t", b"old %d" % number)
    cluster.kill(3)
    cluster.until(lambda: cluster.controller in (1, 2))
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    delete(cluster, "t")
    id = create(cluster, "t", (1, 2))
    write(cluster, "t", b"new")
    move(cluster, (1, 2, 3))

    cluster.start(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2, 3])

    assert cluster.partition(3, "t").topic_id == id
    assert in_log(cluster, 3, "t") == [b"new"]


def test_a_producer_that_waits_for_a_topic_that_is_deleted_is_told_so(cluster):
    controller = cluster.controller
    leader, silent = (n for n in NODES if n != controller)
    create(cluster, "t", (leader, silent, controller))
    cluster.cut |= {(leader, silent), (silent, leader)}
    answers = begin_produce(cluster, "t", b"a", timeout_ms=60_000)
    delete(cluster, "t")
    cluster.until(lambda: answers)

    assert error_of(produced(answers)) == "UNKNOWN_TOPIC_OR_PARTITION"


# ── other shapes of clusters ─────────────────────────────────────────────────────────


def test_brokers_that_do_not_vote_follow_the_one_that_does():
    cluster = small_cluster((1, 2, 3), voters=(1,))
    create(cluster, "t")
    write(cluster, "t", b"a")
    cluster.kill(2)
    cluster.until(lambda: isr(cluster, "t") == [1, 3])
    cluster.start(2)
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert ends(cluster, "t") == {1: 1, 2: 1, 3: 1}
    assert {member.node.broker.raft.leader for member in cluster.up()} == {1}


def test_brokers_go_on_while_their_only_controller_is_away():
    cluster = small_cluster((1, 2, 3), voters=(1,))
    create(cluster, "t", (2, 3), min_insync_replicas=2)
    cluster.kill(1)
    cluster.pass_time(15_000)

    assert write(cluster, "t", b"a") == 0
    cluster.start(1)
    ready(cluster)
    assert write(cluster, "t", b"b") == 1


def test_a_controller_alone_hosts_nothing_and_decides_everything():
    cluster = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    create(cluster, "t")
    write(cluster, "t", b"a")

    assert cluster.controller == 4
    assert len(cluster.broker(4).replica_manager) == 0
    assert 4 not in cluster.image.brokers


def test_clients_are_sent_to_a_broker_where_the_controller_serves_none():
    cluster = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))

    told = {n: cluster.answer(n, MetadataRequest([])).controller_id for n in NODES}

    assert told == {1: 1, 2: 2, 3: 3}


def test_a_broker_that_is_unregistered_is_forgotten():
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))
    cluster.kill(4)
    cluster.until(lambda: not cluster.image.is_live(4))

    answer = cluster.answer(1, UnregisterBrokerRequest(4))

    assert answer.error_code == 0
    cluster.until(lambda: all(4 not in cluster.broker(n).image.brokers for n in NODES))
    nodes = [b.node_id for b in cluster.answer(2, MetadataRequest([])).brokers]
    assert nodes == [1, 2, 3]


def test_metadata_tells_the_same_wherever_it_is_asked_for(cluster):
    create(cluster, "t", [(1, 2, 3), (2, 3, 1)])
    request = MetadataRequest([MetadataRequestTopic(name="t")])

    answers = [cluster.answer(number, request) for number in NODES]

    assert answers[0].topics == answers[1].topics == answers[2].topics
    assert [part.leader_id for part in answers[0].topics[0].partitions] == [1, 2]
    described = [cluster.answer(number, DescribeClusterRequest()) for number in NODES]
    assert {answer.controller_id for answer in described} == {cluster.controller}
