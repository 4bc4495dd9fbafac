"""Nodes die, one or several, and what was acknowledged is there afterwards.

Three nodes, each a broker and a voter, in memory; their clock is moved by hand.
"""

import pytest

from andiron.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from worlds.cluster import SmallCluster
from worlds.cluster_client import (
    all_in_sync,
    begin_produce,
    create,
    ends,
    fetch,
    in_log,
    isr,
    produce,
    produced,
    read,
    ready,
    small_cluster,
    write,
)
from worlds.node import error_of

NODES = [1, 2, 3]


@pytest.fixture
def cluster():
    return small_cluster()


def other_than(*numbers):
    return next(number for number in NODES if number not in numbers)


def led_apart(cluster):
    """A topic that another node leads than the controller's; both, the leader first."""
    controller = cluster.controller
    leader = other_than(controller)
    create(cluster, "t", (leader, controller, other_than(leader, controller)))
    return leader, controller


def test_a_controller_that_is_killed_is_followed_by_another_within_a_second(cluster):
    before, began = cluster.controller, cluster.now

    cluster.kill(before)
    cluster.until(lambda: cluster.controller not in (None, before))

    assert cluster.now - began < 1_000


def test_brokers_that_live_stay_let_in_when_the_controller_goes(cluster):
    before = cluster.controller
    cluster.kill(before)
    cluster.pass_time(3_000)

    fenced = [broker.id for broker in cluster.image.brokers.values() if broker.fenced]

    assert fenced == [before]


def test_a_leader_that_is_killed_is_followed_by_another_within_a_second(cluster):
    leader, _ = led_apart(cluster)
    write(cluster, "t", b"a", b"b")
    began = cluster.now

    cluster.kill(leader)
    cluster.until(lambda: cluster.leader_of("t") not in (leader, -1))

    assert cluster.now - began < 1_000
    assert read(cluster, "t") == [b"a", b"b"]
    assert write(cluster, "t", b"c") == 2


def test_a_controller_that_leads_a_partition_takes_nothing_with_it(cluster):
    before = cluster.controller
    create(cluster, "t", (before, *[n for n in NODES if n != before]))
    write(cluster, "t", b"a")

    cluster.kill(before)
    cluster.until(lambda: cluster.leader_of("t") not in (before, -1))

    assert read(cluster, "t") == [b"a"]
    assert write(cluster, "t", b"b") == 1


def test_without_a_majority_nobody_is_elected_and_nothing_is_decided(cluster):
    leader, controller = led_apart(cluster)
    write(cluster, "t", b"a")

    cluster.kill(leader, controller)
    cluster.pass_time(30_000)

    [last] = cluster.up()
    assert last.node.broker.raft.leader == -1
    assert cluster.leader_of("t") == leader  # nobody could say otherwise


def test_controller_and_leader_die_at_once_and_come_back_to_all_that_was_acknowledged(cluster):
    leader, controller = led_apart(cluster)
    written = [b"%d" % number for number in range(20)]
    for value in written:
        write(cluster, "t", value)

    cluster.kill(leader, controller)
    cluster.pass_time(1_000)
    for number in (leader, controller):
        cluster.start(number)
    ready(cluster)
    cluster.until(lambda: cluster.leader_of("t") > 0 and all_in_sync(cluster, "t"))

    assert read(cluster, "t") == written
    assert write(cluster, "t", b"after") == 20


@pytest.mark.parametrize("victim", NODES)
def test_whoever_is_killed_and_comes_back_holds_everything_again(cluster, victim):
    create(cluster, "t", [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
    for partition in range(3):
        write(cluster, "t", b"before", partition=partition)
    cluster.kill(victim)
    cluster.until(lambda: all(cluster.leader_of("t", p) not in (victim, -1) for p in range(3)))
    for partition in range(3):
        write(cluster, "t", b"meanwhile", partition=partition)

    cluster.start(victim)
    cluster.until(lambda: all(all_in_sync(cluster, "t", p) for p in range(3)))

    for partition in range(3):
        assert in_log(cluster, victim, "t", partition) == [b"before", b"meanwhile"]


def test_a_producer_that_waits_when_its_leader_loses_the_lead_is_told_so(cluster):
    leader, _ = led_apart(cluster)
    others = [n for n in NODES if n != leader]
    cluster.isolate(leader)
    waiting = begin_produce(cluster, "t", b"lost", to=leader, timeout_ms=60_000)
    cluster.until(lambda: cluster.leader_of("t") in others)
    assert not waiting

    cluster.heal()
    cluster.until(lambda: waiting)

    assert error_of(produced(waiting)) == "NOT_LEADER_OR_FOLLOWER"


def test_a_leader_cut_off_loses_what_only_it_took_with_acks_1_and_nothing_else(cluster):
    leader, _ = led_apart(cluster)
    write(cluster, "t", b"both")
    cluster.isolate(leader)

    assert produce(cluster, "t", b"only here", to=leader, acks=1).error_code == 0
    cluster.until(lambda: cluster.leader_of("t") not in (leader, -1))
    write(cluster, "t", b"there")
    assert in_log(cluster, leader, "t") == [b"both", b"only here"]

    cluster.heal()
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert in_log(cluster, leader, "t") == [b"both", b"there"]
    assert read(cluster, "t") == [b"both", b"there"]


def test_a_longer_log_of_an_older_epoch_is_cut_where_the_epochs_part(cluster):
    leader, _ = led_apart(cluster)
    write(cluster, "t", b"both")
    cluster.isolate(leader)
    for number in range(30):
        produce(cluster, "t", b"only here %d" % number, to=leader, acks=1)
    cluster.until(lambda: cluster.leader_of("t") not in (leader, -1))
    write(cluster, "t", b"there")

    cluster.heal()
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert in_log(cluster, leader, "t") == [b"both", b"there"]
    assert ends(cluster, "t") == dict.fromkeys(NODES, 2)


def test_what_a_leader_cut_off_takes_with_acks_all_is_never_acknowledged(cluster):
    leader, _ = led_apart(cluster)
    write(cluster, "t", b"both")
    cluster.isolate(leader)

    answer = produce(cluster, "t", b"lost", to=leader, timeout_ms=3_000)
    assert error_of(answer) == "REQUEST_TIMED_OUT"
    assert fetch(cluster, "t", frm=leader).high_watermark == 1  # consumers there do not see it either

    cluster.until(lambda: cluster.leader_of("t") not in (leader, -1))
    cluster.heal()
    cluster.until(lambda: all_in_sync(cluster, "t"))
    assert read(cluster, "t") == [b"both"]


def test_a_leader_cut_off_for_long_still_acknowledges_nothing(cluster):
    """It knows that nobody follows, and can drop nobody without its controller."""
    leader, _ = led_apart(cluster)
    cluster.isolate(leader)
    cluster.pass_time(60_000)

    answer = produce(cluster, "t", b"lost", to=leader, timeout_ms=3_000)

    assert error_of(answer) == "REQUEST_TIMED_OUT"


def test_a_controller_cut_off_steps_down_and_follows_the_next_when_it_is_back(cluster):
    before = cluster.controller
    cluster.isolate(before)
    cluster.pass_time(10_000)

    assert not cluster.broker(before).controller.is_active
    others = {cluster.broker(n).raft.leader for n in NODES if n != before}
    assert len(others) == 1
    assert before not in others

    cluster.heal()
    cluster.until(lambda: cluster.controller in others)


def test_a_paused_controller_that_comes_to_itself_learns_that_it_is_none(cluster):
    before = cluster.controller
    cluster.paused.add(before)
    cluster.until(
        lambda: len({cluster.broker(n).raft.leader for n in NODES if n != before} - {before, -1}) == 1
    )

    cluster.heal()
    cluster.until(lambda: cluster.controller not in (None, before), ms=5_000)
    ready(cluster)


def test_all_are_stopped_in_order_and_start_again_with_everything(cluster):
    create(cluster, "t", [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
    for partition in range(3):
        write(cluster, "t", b"kept", partition=partition)

    clean = [cluster.stop(number) for number in NODES]
    for number in NODES:
        cluster.start(number)
    ready(cluster)
    cluster.until(
        lambda: all(cluster.leader_of("t", p) > 0 and all_in_sync(cluster, "t", p) for p in range(3))
    )

    assert clean == [True, True, True]
    for partition in range(3):
        assert read(cluster, "t", partition=partition) == [b"kept"]
        assert write(cluster, "t", b"more", partition=partition) == 1


def test_all_are_killed_at_once_and_start_again_with_everything(cluster):
    create(cluster, "t", [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
    for partition in range(3):
        write(cluster, "t", b"kept", partition=partition)

    cluster.kill(*NODES)
    for number in NODES:
        cluster.start(number)
    ready(cluster)
    cluster.until(
        lambda: all(cluster.leader_of("t", p) > 0 and all_in_sync(cluster, "t", p) for p in range(3))
    )

    for partition in range(3):
        assert read(cluster, "t", partition=partition) == [b"kept"]


def test_all_lose_power_at_once_and_durable_topics_keep_what_was_acknowledged(cluster):
    create(cluster, "t", flush_messages=1)
    written = [b"%d" % number for number in range(10)]
    for value in written:
        write(cluster, "t", value)

    cluster.lose_power(*NODES)
    for number in NODES:
        cluster.start(number)
    ready(cluster)
    cluster.until(lambda: cluster.leader_of("t") > 0 and all_in_sync(cluster, "t"))

    assert read(cluster, "t") == written


def test_one_that_starts_with_an_empty_disk_fetches_everything(cluster):
    create(cluster, "t", (1, 2, 3))
    for number in range(10):
        write(cluster, "t", b"%d" % number)
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    cluster.members[3].disk = cluster._disk(3)

    cluster.start(3)
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert in_log(cluster, 3, "t") == in_log(cluster, cluster.leader_of("t"), "t")


def test_the_node_that_leads_the_quorum_tells_how_far_everybody_is(cluster):
    request = DescribeQuorumRequest(
        [DescribeQuorumRequestTopic("__cluster_metadata", [DescribeQuorumRequestPartition(0)])]
    )
    cluster.kill(other_than(cluster.controller))
    cluster.pass_time(2_000)

    described = cluster.answer(cluster.controller, request).topics[0].partitions[0]

    behind = {v.replica_id: described.high_watermark - v.log_end_offset for v in described.current_voters}
    assert described.leader_id == cluster.controller
    assert [number for number, lag in behind.items() if lag > 0] == [other_than(cluster.controller)]


def test_a_restart_of_one_after_another_loses_nothing():
    cluster = ready(SmallCluster())
    create(cluster, "t", [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
    written = {partition: [] for partition in range(3)}
    for round in range(2):
        for number in NODES:
            for partition in range(3):
                value = b"%d-%d" % (round, number)
                write(cluster, "t", value, partition=partition)
                written[partition].append(value)
            assert cluster.stop(number)
            cluster.start(number)
            ready(cluster)
            cluster.until(lambda: all(all_in_sync(cluster, "t", p) for p in range(3)))

    assert {p: read(cluster, "t", partition=p) for p in range(3)} == written
