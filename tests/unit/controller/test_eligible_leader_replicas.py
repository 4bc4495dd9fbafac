"""Nobody is eligible to lead any longer where fewer need be in sync (KIP-966)."""

from __future__ import annotations

from andiron.controller.eligible_leader_replicas import (
    clear_elr_by_configs,
    clear_needless_elr,
)
from andiron.controller.image import BROKER, TOPIC
from andiron.controller.leader_election import leader_and_isr_changes
from andiron.controller.records import ConfigRecord, PartitionChangeRecord
from andiron.model.machine import LogLoaded
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from controller.cluster import Cluster


def changed(cluster: Cluster, broker: int, **fields) -> None:
    after = cluster.image.brokers[broker]._replace(**fields)
    cluster.append(leader_and_isr_changes(cluster.image, cluster.settings, after))
    cluster.image.brokers[broker] = after


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

    cluster.append(
        clear_elr_by_configs(cluster.image, [ConfigRecord(BROKER, "", "min.insync.replicas", "1")])
    )

    assert (cluster.partition("t").elr, cluster.partition("u").elr) == ((), ())


def test_a_controller_that_takes_over_goes_by_its_own_server_properties():
    cluster = below_min()
    cluster.append([ConfigRecord(TOPIC, "t", "min.insync.replicas", "1")])
    assert cluster.partition("t").elr == (2,)

    cluster.run(LogLoaded())

    assert (cluster.partition("t").elr, cluster.partition("u").elr) == ((), (2,))
    assert clear_needless_elr(cluster.image, cluster.settings) == []


def test_the_eligible_stay_while_nobody_is_in_sync():
    cluster = below_min()
    changed(cluster, 1, fenced=True)

    assert clear_elr_by_configs(cluster.image, [ConfigRecord(TOPIC, "t", "min.insync.replicas", "1")]) == []


def test_other_settings_do_not_matter():
    cluster = below_min()

    assert clear_elr_by_configs(cluster.image, [ConfigRecord(TOPIC, "t", "retention.ms", "1")]) == []
    assert clear_elr_by_configs(cluster.image, [PartitionChangeRecord()]) == []
