"""A new cluster begins with its features, and changes them where everybody can follow."""

from __future__ import annotations

import pytest

from andiron.controller.controller import BeginCluster
from andiron.controller.features import KEPT, METADATA_LEAST, METADATA_LEVEL, OFFERED, SUPPORTED, unsupported
from andiron.controller.image import NO_LEADER
from andiron.controller.records import ConfigRecord, FeatureLevelRecord
from andiron.model.errors import ErrorCode
from andiron.wire.messages.broker_registration import Feature
from andiron.wire.messages.controller_registration import ControllerRegistrationRequest, Listener
from andiron.wire.messages.controller_registration import Feature as ControllerFeature
from andiron.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from controller.cluster import AT_FIRST, Cluster, joined


def test_a_cluster_begins_with_the_newest_level_once():
    cluster = Cluster(brokers=0)
    newest = {"metadata.version": METADATA_LEVEL, "group.version": 1, "transaction.version": 2}
    assert cluster.image.features == {**newest, "eligible.leader.replicas.version": 1}
    assert (len(cluster.log), cluster.image.configs) == (5, AT_FIRST)

    cluster.run(BeginCluster())

    assert len(cluster.log) == 5


def test_the_number_that_comes_with_elr_is_that_of_the_settings():
    cluster = Cluster(brokers=0, min_insync_replicas="2")

    assert cluster.image.configs == {(4, ""): {"min.insync.replicas": "2"}}


def test_what_a_cluster_begins_with_is_supported():
    for name, level in Cluster().image.features.items():
        least, most = SUPPORTED[name]
        assert least <= level <= most


# ── changing them ────────────────────────────────────────────────────────────────────

ELR, GROUPS = "eligible.leader.replicas.version", "group.version"
UPGRADE, DOWNGRADE = 1, 2


def update(cluster: Cluster, *updates: tuple[str, int, int], **fields) -> ErrorCode:
    asked = [FeatureUpdateKey(name, level, upgrade_type=kind) for name, level, kind in updates]
    response = cluster.run(UpdateFeaturesRequest(feature_updates=asked, **fields))
    assert all(result.error_code == response.error_code for result in response.results)
    return ErrorCode.of(response.error_code)


def test_a_level_is_lowered_and_raised_again():
    cluster = joined(1)

    assert update(cluster, (GROUPS, 0, DOWNGRADE)) is ErrorCode.NONE
    assert GROUPS not in cluster.image.features
    assert update(cluster, (GROUPS, 1, UPGRADE)) is ErrorCode.NONE
    assert cluster.image.features[GROUPS] == 1


def test_a_trial_changes_nothing():
    cluster = joined(1)

    assert update(cluster, (GROUPS, 0, DOWNGRADE), validate_only=True) is ErrorCode.NONE
    assert cluster.image.features[GROUPS] == 1


@pytest.mark.parametrize(
    ("updates", "code"),
    [
        ([(GROUPS, 0, UPGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([(GROUPS, 2, UPGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([(GROUPS, -1, DOWNGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([("metadata.version", 0, DOWNGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([("metadata.version", 29, DOWNGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([("metadata.version", 29, 3)], ErrorCode.INVALID_UPDATE_VERSION),
        ([("nonesuch", 1, UPGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([("nonesuch", 0, DOWNGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
        ([("kraft.version", 1, UPGRADE)], ErrorCode.INVALID_UPDATE_VERSION),  # it is the quorum's
        ([(GROUPS, 1, 7)], ErrorCode.INVALID_UPDATE_VERSION),
        ([(GROUPS, 0, DOWNGRADE)] * 2, ErrorCode.INVALID_REQUEST),
        ([(ELR, 0, DOWNGRADE), (GROUPS, 2, UPGRADE)], ErrorCode.INVALID_UPDATE_VERSION),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(updates, code):
    cluster = joined(1)
    before = len(cluster.log)

    assert update(cluster, *updates) is code
    assert len(cluster.log) == before


def test_a_level_that_a_controller_does_not_support_is_refused():
    cluster = joined(1)
    update(cluster, (GROUPS, 0, DOWNGRADE))
    knows = [ControllerFeature(GROUPS, 0, 0)]
    cluster.run(
        ControllerRegistrationRequest(9, bytes(16), listeners=[Listener("C", "h", 1)], features=knows)
    )

    assert update(cluster, (GROUPS, 1, UPGRADE)) is ErrorCode.INVALID_UPDATE_VERSION
    assert update(cluster, (ELR, 0, DOWNGRADE)) is ErrorCode.NONE


def test_a_cluster_of_an_older_level_is_raised_to_the_newest():
    cluster = Cluster(brokers=0)
    cluster.append([FeatureLevelRecord("metadata.version", METADATA_LEAST)])
    cluster.join(1)

    assert update(cluster, ("metadata.version", METADATA_LEVEL, UPGRADE)) is ErrorCode.NONE
    assert cluster.image.features["metadata.version"] == METADATA_LEVEL


def test_with_elr_turned_on_brokers_lose_numbers_of_their_own():
    cluster = joined(2)
    update(cluster, (ELR, 0, DOWNGRADE))
    cluster.append([ConfigRecord(4, "", "min.insync.replicas", None)])
    cluster.append([ConfigRecord(4, "2", "min.insync.replicas", "7")])

    assert update(cluster, (ELR, 1, UPGRADE)) is ErrorCode.NONE
    assert cluster.image.configs == AT_FIRST


def test_a_level_that_a_broker_does_not_support_is_refused():
    cluster = joined(0)
    update(cluster, (GROUPS, 0, DOWNGRADE))
    old = [Feature(name, *(SUPPORTED[name] if name != GROUPS else (0, 0))) for name in SUPPORTED]
    cluster.join(1, features=old)

    assert update(cluster, (GROUPS, 1, UPGRADE)) is ErrorCode.INVALID_UPDATE_VERSION
    assert update(cluster, (GROUPS, 1, DOWNGRADE)) is ErrorCode.INVALID_UPDATE_VERSION


def test_without_eligible_replicas_those_who_were_count_as_in_sync():
    cluster = joined(1)
    cluster.create("t")
    cluster.crash(1)
    assert (cluster.partition("t").isr, cluster.partition("t").elr) == ((), (1,))

    assert update(cluster, (ELR, 0, DOWNGRADE)) is ErrorCode.NONE

    partition = cluster.partition("t")
    assert (partition.isr, partition.elr, partition.leader) == ((1,), (), NO_LEADER)
    cluster.beat(1)
    assert cluster.partition("t").leader == 1


# ── those that are not served ────────────────────────────────────────────────────────


def made_by_kafka() -> Cluster:
    cluster = joined(2)
    for name in KEPT:
        cluster.append([FeatureLevelRecord(name, 1)])
    return cluster


def test_a_broker_registers_where_kafka_has_finalized_what_is_not_served_here():
    cluster = made_by_kafka()

    cluster.ask_in(3, features=[Feature(name, *levels) for name, levels in OFFERED.items()])

    assert 3 in cluster.image.brokers


def test_a_level_that_is_kept_is_not_raised_and_may_be_taken_back():
    cluster = made_by_kafka()
    assert update(cluster, ("share.version", 0, DOWNGRADE)) is ErrorCode.NONE
    assert "share.version" not in cluster.image.features

    assert update(cluster, ("share.version", 1, UPGRADE)) is ErrorCode.INVALID_UPDATE_VERSION


def test_what_is_not_known_is_named_with_its_level():
    assert unsupported({"metadata.version": 30, "share.version": 1}, OFFERED, "this") is None
    assert unsupported({"share.version": 2}, OFFERED, "this") == (
        "the cluster's share.version is 2, and this knows 0 to 1"
    )
    assert unsupported({"new.version": 1}, OFFERED, "this") == (
        "the cluster's new.version is 1, and this knows no such feature"
    )
