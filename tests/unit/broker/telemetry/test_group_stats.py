"""How far groups are behind, and what it costs to know."""

import pytest

from andiron.broker.telemetry import group_stats
from andiron.broker.telemetry.group_stats import Lag, LagWatch, _Asking, group_states, transaction_states
from andiron.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from worlds.cluster import SmallCluster
from worlds.coordinating import GROUP, commit, consumer_heartbeat, in_transaction, joined
from worlds.replicating import create, produce


def lags(node, watch=None):
    return [lag for piece in (watch or LagWatch()).lags(node.node.broker, node.now) for lag in piece]


def fill(node, times, partition=0):
    for time in times:
        node.now = time
        node.produce("t", b"a", b"b", partition=partition)


@pytest.fixture
def behind(coordinator):
    """A group that has committed the first of three batches, each a second after the one before."""
    fill(coordinator, [coordinator.now + each for each in (0, 1_000, 2_000)])
    assert commit(coordinator, 2) == "NONE"
    coordinator.now += 500
    return coordinator


def test_lag_is_told_in_records_and_in_seconds(behind):
    assert lags(behind) == [Lag("g", "t", 0, 2, 4, 1_500)]


def test_a_group_that_has_read_everything_is_not_behind(behind):
    assert commit(behind, 6) == "NONE"
    behind.now += 60_000

    assert lags(behind) == [Lag("g", "t", 0, 6, 0, 0)]


def test_a_record_in_the_middle_of_a_batch_is_as_old_as_its_first(behind):
    assert commit(behind, 3) == "NONE"

    assert lags(behind) == [Lag("g", "t", 0, 3, 3, 1_500)]


def test_what_was_deleted_before_it_was_read_still_counts_in_records(behind):
    behind.delete_records("t", 4)

    assert lags(behind) == [Lag("g", "t", 0, 2, 4, 500)]


def test_an_offset_beyond_the_end_is_no_lag(behind):
    assert commit(behind, 99) == "NONE"

    assert lags(behind) == [Lag("g", "t", 0, 99, 0, 0)]


def test_a_clock_that_runs_ahead_makes_no_negative_lag(behind):
    behind.now -= 10_000

    assert lags(behind)[0].age_ms == 0


def test_a_time_is_looked_up_once_for_as_long_as_the_offset_stands(behind, monkeypatch):
    asked, look_up, watch = [], group_stats.time_of, LagWatch()
    monkeypatch.setattr(
        group_stats, "time_of", lambda log, offset: (asked.append(offset), look_up(log, offset))[1]
    )

    for _ in range(3):
        lags(behind, watch)
    assert asked == [2]

    behind.now += 1_000
    assert lags(behind, watch)[0].age_ms == 2_500
    assert commit(behind, 4) == "NONE"
    lags(behind, watch)
    assert asked == [2, 4]


def test_there_is_a_limit_to_what_is_looked_up(behind):
    for group in ("a", "b", "c"):
        assert commit(behind, 2, group=group) == "NONE"
    watch = LagWatch(lookups_max=3)

    first = lags(behind, watch)
    assert (sum(lag.age_ms is None for lag in first), watch.unmeasured) == (1, 1)
    assert all(lag.records == 4 for lag in first)

    assert all(lag.age_ms == 1_500 for lag in lags(behind, watch)), "the rest comes with the next asking"
    assert watch.unmeasured == 0


def test_groups_come_in_pieces(behind):
    for number in range(50):
        assert commit(behind, 2, group=f"g{number}") == "NONE"

    pieces = list(LagWatch().lags(behind.node.broker, behind.now))

    assert len(pieces) > 2 and sum(map(len, pieces)) == 51


def test_a_partition_that_is_elsewhere_or_cannot_be_read_has_its_committed_offset_alone(behind):
    behind.partition("t").fail("a planted fault")

    assert lags(behind) == [Lag("g", "t", 0, 2, None, None)]


def test_a_follower_in_sync_knows_the_lag_and_one_that_is_not_does_not():
    cluster = SmallCluster()
    cluster.until(cluster.all_ready)
    create(cluster, "t")
    assert produce(cluster, "t", b"a", b"b") == 0
    cluster.pass_time(1_000)
    leader = cluster.leader_of("t")
    follower = next(node for node in (1, 2, 3) if node != leader)
    broker = cluster.broker(follower)

    def lag():
        return _Asking(broker, cluster.now, {}, 10).lag(("g", "t", 0), 0)

    assert lag() == Lag("g", "t", 0, 0, 2, 1_000)
    partitions = broker.image.topics["t"].partitions
    partitions[0] = partitions[0]._replace(isr=(leader,))
    assert lag() == Lag("g", "t", 0, 0, None, None)


def test_what_a_group_reads_and_has_never_committed_is_told_without_a_lag(coordinator):
    fill(coordinator, [coordinator.now])
    coordinator.ask(consumer_heartbeat(group="g"))

    first, *others = lags(coordinator)
    assert first == Lag("g", "t", 0, None, 2, None)
    assert others == [Lag("g", "t", index, None, 0, None) for index in (1, 2)]

    coordinator.delete_records("t", 1)
    assert lags(coordinator)[0].records == 1


def test_a_group_without_members_reads_the_topics_of_which_it_has_committed_a_part(coordinator):
    member = joined(coordinator)
    assert commit(coordinator, 0, member=member) == "NONE"
    coordinator.ask(LeaveGroupRequest(GROUP, "", [MemberIdentity(member.id)]))
    assert commit(coordinator, 0, group="by-hand") == "NONE"

    told = [(lag.group, lag.partition, lag.committed) for lag in lags(coordinator)]
    assert sorted(told, key=str) == [
        ("by-hand", 0, 0),  # who only commits assigns partitions to itself
        (GROUP, 0, 0), (GROUP, 1, None), (GROUP, 2, None),
    ]  # fmt: skip


def test_groups_are_counted_by_protocol_and_state(coordinator):
    joined(coordinator)
    coordinator.ask(consumer_heartbeat(group="new"))
    assert commit(coordinator, 0, group="offsets-alone") == "NONE"

    seen = group_states(coordinator.node.broker)

    assert seen["classic", "Stable"] == 1
    assert seen["classic", "Empty"] == 1
    assert sum(count for (protocol, _), count in seen.items() if protocol == "consumer") == 1


def test_transactional_ids_are_counted_by_state(coordinator):
    in_transaction(coordinator)

    assert transaction_states(coordinator.node.broker) == {"Ongoing": 1}
