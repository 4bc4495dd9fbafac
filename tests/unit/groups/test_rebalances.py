"""Why groups rebalance, counted by the first cause of each."""

from __future__ import annotations

from andiron.groups.rebalances import FORGOTTEN_MAX, REASONS, Rebalances
from groups.classic import REBALANCE_MS, SESSION_MS, Classic
from groups.consumers import INTERVAL_MS, Consumer, Coordinator, OldConsumer
from groups.consumers import REBALANCE_MS as TO_GIVE_UP_MS
from groups.consumers import SESSION_MS as TO_BE_HEARD_MS


def of(rebalances: Rebalances) -> dict[str, int]:
    counts = {reason: count for _, reason, count in rebalances}
    assert set(counts) <= set(REASONS)
    return counts


# ── classic groups ───────────────────────────────────────────────────────────────────


def test_a_crowd_that_comes_at_once_is_one_rebalance():
    classic = Classic()
    classic.stable(3)

    assert of(classic.context.rebalances) == {"join": 1}


def test_who_comes_and_who_goes_is_told_apart():
    classic = Classic(group_initial_rebalance_delay_ms=0)
    _, second = classic.stable(2)
    before = of(classic.context.rebalances)["join"]
    classic.leave(second)

    assert of(classic.context.rebalances) == {"join": before, "leave": 1}


def test_who_falls_silent_is_another_matter_than_who_leaves():
    classic = Classic()
    classic.stable(1)
    classic.pass_time(SESSION_MS)

    assert of(classic.context.rebalances) == {"join": 1, "session_timeout": 1}


def test_a_member_that_never_asks_for_its_share_costs_a_rebalance():
    classic = Classic()
    first, _ = classic.arrive(session_ms=300_000)
    classic.arrive(session_ms=300_000)
    classic.pass_time(6_000)
    classic.sync(first, 1, {})
    classic.pass_time(REBALANCE_MS)

    assert of(classic.context.rebalances) == {"join": 1, "rebalance_timeout": 1}


def test_a_leader_that_joins_again_has_seen_its_topics_change():
    classic = Classic()
    (leader,) = classic.stable(1)
    classic.join(leader)

    assert of(classic.context.rebalances) == {"join": 1, "metadata": 1}


def test_a_member_that_wants_something_else_says_so():
    classic = Classic()
    _, follower = classic.stable(2)
    classic.join(follower, {"range": b"other", "robin": b"b"})

    assert of(classic.context.rebalances) == {"join": 1, "subscription": 1}


# ── consumer groups ──────────────────────────────────────────────────────────────────


def test_a_consumer_group_counts_each_change_of_its_epoch():
    coordinator = Coordinator()
    one, other = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    one.beat()
    other.beat()
    assert of(coordinator.shard.rebalances) == {"join": 2}

    coordinator.topics.put("t", 8)
    one.beat()
    one.beat(subscribed_topic_names=["t", "u"])
    other.leave()

    assert of(coordinator.shard.rebalances) == {"join": 2, "metadata": 1, "subscription": 1, "leave": 1}


def test_a_heartbeat_that_says_nothing_new_is_no_rebalance():
    coordinator = Coordinator()
    one = Consumer(coordinator, "a", "t")
    for _ in range(5):
        one.beat()

    assert of(coordinator.shard.rebalances) == {"join": 1}


def test_a_consumer_that_is_not_heard_from_and_one_that_does_not_let_go():
    coordinator = Coordinator()
    one, other = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    one.beat()
    one.slow = True
    other.beat()
    for _ in range(TO_GIVE_UP_MS // INTERVAL_MS + 1):
        coordinator.pass_time(INTERVAL_MS)
        other.beat()
        if "a" in coordinator.group.members:
            one.beat(topic_partitions=None)
    assert of(coordinator.shard.rebalances) == {"join": 2, "rebalance_timeout": 1}

    coordinator.pass_time(TO_BE_HEARD_MS)
    assert of(coordinator.shard.rebalances)["session_timeout"] == 1


def test_a_group_that_goes_on_as_a_classic_one_says_that():
    coordinator = Coordinator(group_consumer_migration_policy="bidirectional")
    new, old = Consumer(coordinator, "a", "t"), OldConsumer(coordinator, "t")
    new.beat()
    old.join()
    new.leave()

    assert of(coordinator.shard.rebalances)["protocol"] == 1


# ── memory ───────────────────────────────────────────────────────────────────────────


def test_groups_that_are_gone_are_not_told_and_not_kept_for_ever():
    groups = {"kept": None}
    rebalances = Rebalances(groups)
    for number in range(3 * FORGOTTEN_MAX):
        rebalances.begins(f"gone-{number}", "join")
        rebalances.begins("kept", "join")

    assert list(rebalances) == [("kept", "join", 3 * FORGOTTEN_MAX)]
    assert len(rebalances._counts) <= FORGOTTEN_MAX + 3
