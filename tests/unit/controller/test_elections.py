"""What becomes of partitions when a broker comes or goes."""

from __future__ import annotations

from andiron.controller.elections import elections, outgrown, without_eligible
from andiron.controller.image import BROKER, NO_LEADER, TOPIC
from andiron.controller.records import ConfigRecord, PartitionChangeRecord
from andiron.model.machine import Loaded
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from controller.cluster import Cluster


def changed(cluster: Cluster, broker: int, *, lost: bool = False, **fields) -> None:
    after = cluster.image.brokers[broker]._replace(**fields)
    cluster.append(elections(cluster.image, cluster.settings, after, lost=lost))
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


# ── min.insync.replicas changes ──────────────────────────────────────────────────────


def below_min() -> Cluster:
    """Topics t, and others that need two in sync and have one: the other is eligible."""
    cluster = Cluster(2)
    for name in ("t", "u"):
        cluster.place(name, [1, 2], min_insync_replicas="2")
    changed(cluster, 2, fenced=True)
    return cluster


def test_nobody_stays_eligible_when_fewer_need_be_in_sync():
    cluster = below_min()
    resource = AlterConfigsResource(TOPIC, "t", [AlterableConfig("min.insync.replicas", 0, "1")])

    cluster.run(IncrementalAlterConfigsRequest([resource]))

    assert (cluster.partition("t").elr, cluster.partition("u").elr) == ((), (2,))


def test_a_default_of_brokers_concerns_all_topics():
    cluster = below_min()

    cluster.append(without_eligible(cluster.image, [ConfigRecord(BROKER, "", "min.insync.replicas", "1")]))

    assert (cluster.partition("t").elr, cluster.partition("u").elr) == ((), ())


def test_a_controller_that_takes_over_goes_by_its_own_server_properties():
    cluster = below_min()
    cluster.append([ConfigRecord(TOPIC, "t", "min.insync.replicas", "1")])
    assert cluster.partition("t").elr == (2,)

    cluster.run(Loaded())

    assert (cluster.partition("t").elr, cluster.partition("u").elr) == ((), (2,))
    assert outgrown(cluster.image, cluster.settings) == []


def test_the_eligible_stay_while_nobody_is_in_sync():
    cluster = below_min()
    changed(cluster, 1, fenced=True)

    assert without_eligible(cluster.image, [ConfigRecord(TOPIC, "t", "min.insync.replicas", "1")]) == []


def test_other_settings_do_not_matter():
    cluster = below_min()

    assert without_eligible(cluster.image, [ConfigRecord(TOPIC, "t", "retention.ms", "1")]) == []
    assert without_eligible(cluster.image, [PartitionChangeRecord()]) == []
