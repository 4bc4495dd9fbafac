"""Brokers register under rising epochs; what they led gets a new leader epoch."""

from __future__ import annotations

import pytest

from andiron.controller.brokers import UnfenceBroker, altered, registered, registered_at
from andiron.controller.image import NO_LEADER
from andiron.model.errors import Refused
from andiron.model.ids import NodeId
from controller.cluster import Cluster, directory


def test_a_broker_is_known_by_what_it_registered_with():
    cluster = Cluster(racks={1: "north"})

    broker = cluster.image.brokers[1]
    assert (broker.endpoints, broker.rack) == ({"PLAINTEXT": ("host-1", 9092)}, "north")
    assert (broker.fenced, broker.log_dirs) == (False, (directory(1),))


def test_every_registration_has_a_higher_epoch():
    cluster = Cluster()
    first = cluster.image.brokers[1].epoch

    second = cluster.register(1, run=2)

    assert second > first
    assert cluster.image.brokers[1].epoch == second


def test_registering_again_without_a_restart_changes_nothing():
    cluster = Cluster()
    before = len(cluster.log)

    assert cluster.register(1) == cluster.image.brokers[1].epoch
    assert len(cluster.log) == before


def test_a_restarted_broker_goes_on_leading_in_a_new_epoch():
    cluster = Cluster()
    cluster.create("t", partitions=2)

    cluster.register(1, run=2)

    assert [cluster.partition("t", number).leader for number in (0, 1)] == [1, 1]
    assert [cluster.partition("t", number).leader_epoch for number in (0, 1)] == [1, 1]


def test_a_broker_that_stopped_cleanly_goes_on_in_the_same_epoch():
    cluster = Cluster()
    cluster.create("t")

    cluster.register(1, run=2, clean=True)

    assert (cluster.partition("t").leader, cluster.partition("t").leader_epoch) == (1, 0)


def test_a_fenced_broker_leads_again_when_it_is_let_in():
    cluster = Cluster()
    cluster.create("t")
    epoch = cluster.register(1, run=2, fenced=True)
    assert cluster.partition("t").leader == NO_LEADER
    assert (cluster.partition("t").isr, cluster.partition("t").last_known_elr) == ((), (1,))

    assert cluster.run(UnfenceBroker(NodeId(1), epoch)) is None

    assert cluster.image.is_live(1)
    assert cluster.partition("t").leader == 1
    before = len(cluster.log)
    cluster.run(UnfenceBroker(NodeId(1), epoch))
    assert len(cluster.log) == before


def test_another_replica_in_sync_takes_over_from_a_broker_that_comes_back_fenced():
    cluster = Cluster(2)
    cluster.create("t", replicas=2)
    leader = cluster.partition("t").leader

    cluster.register(leader, run=2, fenced=True)

    assert cluster.partition("t").leader == 3 - leader


def test_an_earlier_incarnation_is_not_let_in():
    cluster = Cluster()
    stale = cluster.image.brokers[1].epoch
    cluster.register(1, run=2, fenced=True)

    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        cluster.run(UnfenceBroker(NodeId(1), stale))


def test_an_unknown_broker_is_refused():
    with pytest.raises(Refused, match="BROKER_ID_NOT_REGISTERED"):
        registered(Cluster().image, NodeId(9))


def test_a_broker_in_another_life_is_refused():
    cluster = Cluster()
    epoch = cluster.image.brokers[1].epoch

    assert registered_at(cluster.image, 1, epoch).id == 1
    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        registered_at(cluster.image, 1, epoch - 1)


def test_a_broker_that_changes_is_told_in_what():
    cluster = Cluster()
    before = cluster.image.brokers[1]
    changed = before._replace(fenced=True, stopping=True, log_dirs=(b"e" * 16,))

    record, *_ = altered(changed, cluster.image, cluster.settings)

    assert (record.fenced, record.in_controlled_shutdown, record.log_dirs) == (1, 1, [b"e" * 16])
    cluster.append([record])
    assert cluster.image.brokers[1] == changed


def test_a_broker_that_does_not_change_has_no_record():
    cluster = Cluster()

    assert altered(cluster.image.brokers[1], cluster.image, cluster.settings) == []
