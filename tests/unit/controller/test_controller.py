"""The controller decides without changing, and changes by replay alone."""

from __future__ import annotations

import pytest

from andiron.controller.controller import BeginCluster, Controller
from andiron.controller.records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    RegisterBrokerRecord,
    decode_record,
)
from andiron.model.errors import Refused, StaleMetadata
from andiron.model.ids import NEVER, Millis, Offset
from andiron.model.machine import LogLoaded, TimePassed
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.metadata import MetadataRequest
from controller.cluster import Cluster, joined

REQUEST = CreateTopicsRequest([CreatableTopic("t", 5, 2)])


def test_deciding_changes_nothing_and_says_the_same_twice():
    cluster = Cluster(3)

    first = cluster.controller.decide(REQUEST, Millis(0))
    second = cluster.controller.decide(REQUEST, Millis(0))

    assert cluster.image.topics == {}
    assert first == second


def test_another_position_in_the_log_is_another_throw_of_the_dice():
    cluster = Cluster(3)
    first = cluster.controller.decide(REQUEST, Millis(0))
    cluster.create("other")

    assert cluster.controller.decide(REQUEST, Millis(0)) != first


def test_the_clock_counts_from_taking_over():
    cluster = Cluster(1)
    assert cluster.controller.next_deadline() == NEVER

    cluster.now = 1_000
    assert cluster.run(LogLoaded()) is None

    assert cluster.controller.next_deadline() == 10_000


def test_without_brokers_only_leaders_are_looked_at():
    cluster = Cluster(0)
    cluster.run(LogLoaded())

    assert cluster.controller.next_deadline() == 300_000
    cluster.now = 300_000
    cluster.wake()
    assert cluster.controller.next_deadline() == 600_000


def test_another_controller_goes_on_from_the_log():
    cluster = joined(2)
    cluster.create("t", partitions=4, replicas=2)
    other = Controller(cluster.settings, seed=1)
    for offset, value in enumerate(cluster.log):
        other.replay(decode_record(value), Offset(offset))

    assert other.image == cluster.image


def test_what_is_not_for_the_controller_is_refused():
    with pytest.raises(Refused, match="MetadataRequest is not for the controller"):
        Cluster().controller.decide(MetadataRequest(), Millis(0))


# ── a log that ends inside a transaction ─────────────────────────────────────────────


def begun_by_kafka(*records: MetadataRecord) -> Cluster:
    """A controller that has read a log of Kafka's, and not yet begun."""
    cluster = Cluster(0)
    cluster.controller, cluster.log = Controller(cluster.settings, seed=1), []
    cluster.append([BeginTransactionRecord("Bootstrap records"), *records])
    return cluster


def test_a_controller_that_takes_over_aborts_what_the_one_before_it_began():
    cluster = begun_by_kafka(FeatureLevelRecord("share.version", 1))

    cluster.run(BeginCluster())

    assert isinstance(decode_record(cluster.log[2]), AbortTransactionRecord)
    assert "share.version" not in cluster.image.features
    assert "metadata.version" in cluster.image.features
    assert not cluster.image.transaction.is_open
    cluster.register(1)
    assert cluster.image.brokers[1].epoch == len(cluster.log) - 1


def test_until_that_is_written_nothing_else_is_decided():
    cluster = begun_by_kafka()

    with pytest.raises(StaleMetadata, match="NOT_CONTROLLER"):
        cluster.controller.decide(REQUEST, Millis(0))
    assert cluster.run(TimePassed()) is None
    assert isinstance(decode_record(cluster.log[1]), AbortTransactionRecord)

    cluster.register(1)
    assert not cluster.run(CreateTopicsRequest([CreatableTopic("t", 1, 1)])).topics[0].error_code


def test_a_broker_that_registers_inside_a_transaction_is_heard_of_from_its_end_on():
    cluster = joined(1)
    cluster.append([BeginTransactionRecord(), RegisterBrokerRecord(9, fenced=False, broker_epoch=7)])
    assert 9 not in cluster.image.brokers

    cluster.append([EndTransactionRecord()])

    assert cluster.image.brokers[9].epoch == 7
