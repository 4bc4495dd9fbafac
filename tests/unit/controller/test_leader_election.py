"""Leaders are elected when a broker comes or goes, on request, and given back from time to time."""

from __future__ import annotations

import dataclasses

import pytest

from andiron.controller.image import NO_LEADER, TOPIC
from andiron.controller.leader_election import leader_and_isr_changes, periodic_elections
from andiron.controller.records import ConfigRecord
from andiron.model.errors import ErrorCode, Refused
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from controller.cluster import Cluster, joined

PREFERRED, UNCLEAN = 0, 1


def elect(cluster: Cluster, kind: int, *partitions: tuple[str, int]) -> list[ErrorCode]:
    asked = [TopicPartitions(topic, [number]) for topic, number in partitions]
    response = cluster.run(ElectLeadersRequest(kind, asked))
    return [ErrorCode.of(each.partition_result[0].error_code) for each in response.replica_election_results]


def moved() -> Cluster:
    """Broker 1 was away: broker 2 leads what 1 should."""
    cluster = joined(2)
    cluster.place("t", [1, 2])
    cluster.beat(1, want_fence=True)
    cluster.beat(1)
    cluster.alter("t", [2, 1])
    assert cluster.partition("t").leader == 2
    return cluster


def test_the_preferred_leader_is_elected_when_it_is_in_sync():
    cluster = moved()
    epoch = cluster.partition("t").leader_epoch

    assert elect(cluster, PREFERRED, ("t", 0)) == [ErrorCode.NONE]

    assert (cluster.partition("t").leader, cluster.partition("t").leader_epoch) == (1, epoch + 1)
    assert elect(cluster, PREFERRED, ("t", 0)) == [ErrorCode.ELECTION_NOT_NEEDED]


def test_a_preferred_leader_that_is_not_in_sync_is_not_available():
    cluster = moved()
    cluster.alter("t", [2])

    assert elect(cluster, PREFERRED, ("t", 0)) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]


def leaderless() -> Cluster:
    """Only broker 1 was in sync, and it is gone."""
    cluster = joined(2)
    cluster.place("t", [1, 2])
    cluster.alter("t", [1])
    cluster.beat(1, want_fence=True)
    assert cluster.partition("t").leader == NO_LEADER
    return cluster


def test_an_unclean_leader_is_elected_when_there_is_none():
    cluster = leaderless()

    assert elect(cluster, UNCLEAN, ("t", 0)) == [ErrorCode.NONE]

    partition = cluster.partition("t")
    assert (partition.leader, partition.isr, partition.elr, partition.recovering) == (2, (2,), (), True)
    assert elect(cluster, UNCLEAN, ("t", 0)) == [ErrorCode.ELECTION_NOT_NEEDED]


def test_nobody_can_be_elected_when_no_replica_is_live():
    cluster = leaderless()
    cluster.beat(2, want_fence=True)

    assert elect(cluster, UNCLEAN, ("t", 0)) == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]


def test_what_is_not_known_is_refused():
    codes = elect(moved(), PREFERRED, ("t", 7), ("nonesuch", 0))

    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2
    with pytest.raises(Refused, match="type 2"):
        elect(moved(), 2)


def test_null_asks_for_all_and_is_answered_for_those_that_needed_it():
    cluster = moved()
    cluster.place("fine", [2, 1])

    response = cluster.run(ElectLeadersRequest(PREFERRED, None))

    assert [each.topic for each in response.replica_election_results] == ["t"]
    assert cluster.partition("t").leader == 1


# ── from time to time ────────────────────────────────────────────────────────────────


def beat_until(cluster: Cluster, end: int) -> None:
    while cluster.now < end:
        cluster.now += 3_000
        for broker in cluster.image.brokers.values():
            if not broker.fenced:
                cluster.beat(broker.id)
        cluster.wake()


def test_leaders_are_given_back_at_the_interval():
    cluster = moved()

    beat_until(cluster, 297_000)
    assert cluster.partition("t").leader == 2
    beat_until(cluster, 300_000)

    assert cluster.partition("t").leader == 1


def test_they_are_not_where_it_is_switched_off():
    cluster = moved()
    settings = dataclasses.replace(cluster.settings, auto_leader_rebalance_enable=False)

    assert periodic_elections(cluster.image, settings) == []


def test_a_little_imbalance_is_left_alone():
    cluster = moved()
    settings = dataclasses.replace(cluster.settings, leader_imbalance_per_broker_percentage=50)
    cluster.place("u", [1, 2])

    assert periodic_elections(cluster.image, settings) == []
    assert len(periodic_elections(cluster.image, cluster.settings)) == 1


def test_a_partition_without_a_leader_gets_one_once_its_topic_allows_any():
    cluster = leaderless()
    assert periodic_elections(cluster.image, cluster.settings) == []
    cluster.append([ConfigRecord(TOPIC, "t", "unclean.leader.election.enable", "true")])

    cluster.append(periodic_elections(cluster.image, cluster.settings))

    assert (cluster.partition("t").leader, cluster.partition("t").recovering) == (2, True)


# ── a broker comes or goes ───────────────────────────────────────────────────────────


def changed(cluster: Cluster, broker: int, *, lost: bool = False, **fields) -> None:
    after = cluster.image.brokers[broker]._replace(**fields)
    cluster.append(leader_and_isr_changes(cluster.image, cluster.settings, after, lost=lost))
    cluster.image.brokers[broker] = after


def two_replicas(**configs: str) -> Cluster:
    cluster = Cluster(2)
    cluster.place("t", [1, 2], **configs)
    return cluster


def test_a_fenced_broker_leaves_the_isr_and_another_leads():
    cluster = two_replicas()

    changed(cluster, 1, fenced=True)

    assert (cluster.partition("t").isr, cluster.partition("t").leader) == ((2,), 2)


def test_a_follower_that_is_fenced_leaves_the_isr_and_the_leader_stays():
    cluster = two_replicas()

    changed(cluster, 2, fenced=True)

    partition = cluster.partition("t")
    assert (partition.isr, partition.leader, partition.leader_epoch) == ((1,), 1, 0)


def test_a_broker_that_may_have_lost_records_leaves_even_if_it_is_live():
    cluster = two_replicas()

    changed(cluster, 1, lost=True)

    assert (cluster.partition("t").isr, cluster.partition("t").leader) == ((2,), 2)


def test_a_broker_that_may_have_lost_records_is_not_eligible_any_more():
    cluster = two_replicas(min_insync_replicas="2")
    changed(cluster, 2, fenced=True)
    assert cluster.partition("t").elr == (2,)

    changed(cluster, 2, lost=True)

    assert cluster.partition("t").elr == ()


def test_what_lies_in_a_directory_that_has_failed_is_led_by_others():
    cluster = two_replicas()

    changed(cluster, 1, log_dirs=(b"e" * 16,))

    assert (cluster.partition("t").isr, cluster.partition("t").leader) == ((2,), 2)


def test_a_broker_that_is_let_in_leads_what_nobody_led_and_joins_no_isr():
    cluster = Cluster(2, fenced=(2,))
    cluster.place("alone", [1])
    cluster.place("both", [1, 2])
    changed(cluster, 1, fenced=True)
    assert cluster.partition("alone").leader == cluster.partition("both").leader == NO_LEADER

    changed(cluster, 2, fenced=False)
    assert cluster.partition("both").leader == NO_LEADER
    changed(cluster, 1, fenced=False)

    assert cluster.partition("alone").leader == cluster.partition("both").leader == 1
    assert cluster.partition("both").isr == (1,)


def test_partitions_of_others_are_left_alone():
    cluster = Cluster(2)
    cluster.place("t", [2])
    before = len(cluster.log)

    changed(cluster, 1, fenced=True)

    assert len(cluster.log) == before
