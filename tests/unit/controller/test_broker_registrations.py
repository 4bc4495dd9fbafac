"""A broker registers in one incarnation at a time, under rising epochs, changes, and is struck off."""

from __future__ import annotations

import pytest

from andiron.controller.broker_registrations import (
    check_broker_epoch,
    registered_broker,
    registration_change,
)
from andiron.controller.image import LOST, NO_LEADER
from andiron.model.errors import Refused
from andiron.model.ids import NodeId
from andiron.model.machine import LogLoaded
from andiron.wire.messages.broker_registration import Feature, Listener
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from controller.cluster import Cluster, directory, joined


def test_a_broker_registers_fenced_under_the_offset_of_its_record():
    cluster = Cluster(0)
    at = len(cluster.log)

    assert cluster.ask_in(1) == at

    broker = cluster.image.brokers[1]
    assert (broker.fenced, broker.epoch, broker.log_dirs) == (True, at, (directory(1),))
    assert broker.endpoint("PLAINTEXT") == ("host-1", 9092)
    assert broker.features["group.version"] == (0, 1)


def test_asking_again_in_the_same_incarnation_gives_the_same_epoch_and_writes_nothing():
    cluster = joined(1)
    before = len(cluster.log)

    assert cluster.ask_in(1) == cluster.image.brokers[1].epoch
    assert len(cluster.log) == before


def test_another_node_of_the_same_id_is_refused_while_the_first_is_heard_of():
    cluster = joined(1)
    cluster.now = 8_999

    with pytest.raises(Refused, match="DUPLICATE_BROKER_REGISTRATION"):
        cluster.ask_in(1, run=2, log_dirs=[directory(7)])

    cluster.now = 9_000
    assert cluster.ask_in(1, run=2, log_dirs=[directory(7)]) > 0


def test_one_that_was_killed_and_comes_with_its_own_directory_is_taken_in_at_once():
    cluster = joined(1)

    assert cluster.ask_in(1, run=2) > 0


def test_a_broker_that_is_shutting_down_may_come_back_at_once():
    cluster = joined(2)
    cluster.create("t", partitions=2)
    cluster.beat(1, want_shut_down=True)

    cluster.ask_in(1, run=2)

    assert (cluster.image.brokers[1].fenced, cluster.image.brokers[1].stopping) == (True, False)


def test_a_controller_that_has_taken_over_knows_whom_not_to_let_in_twice():
    cluster = Cluster(1)
    cluster.now = 1_000
    cluster.run(LogLoaded())

    with pytest.raises(Refused, match="DUPLICATE_BROKER_REGISTRATION"):
        cluster.ask_in(1, run=2, log_dirs=[directory(7)])


def test_a_broker_that_stopped_cleanly_stays_eligible():
    cluster = joined(2)
    cluster.place("t", [1, 2], min_insync_replicas="2")
    cluster.crash(1)
    epoch = cluster.image.brokers[1].epoch

    cluster.ask_in(1, run=2, previous_broker_epoch=epoch)

    assert cluster.partition("t").elr == (1,)


def test_a_broker_that_was_killed_does_not():
    cluster = joined(2)
    cluster.place("t", [1, 2], min_insync_replicas="2")
    cluster.crash(1)

    cluster.ask_in(1, run=2)

    assert cluster.partition("t").elr == ()


def test_what_only_a_killed_broker_had_it_leads_again_in_a_later_epoch():
    cluster = joined(2)
    cluster.place("t", [1])
    before = cluster.partition("t").leader_epoch
    cluster.now += 20_000

    cluster.join(1, run=2)

    after = cluster.partition("t")
    assert (after.leader, after.isr, after.recovering) == (1, (1,), True)
    assert after.leader_epoch > before


def test_a_broker_of_another_cluster_is_refused():
    cluster = Cluster(0)
    object.__setattr__(cluster.settings, "cluster_id", "here")

    with pytest.raises(Refused, match="INCONSISTENT_CLUSTER_ID"):
        cluster.ask_in(1, cluster_id="there")
    assert cluster.ask_in(1, cluster_id="here") > 0


@pytest.mark.parametrize(
    "fields",
    [
        {"broker_id": -5},
        {"listeners": []},
        {"listeners": [Listener("PLAINTEXT", "", 9092)]},
        {"listeners": [Listener("PLAINTEXT", "host", 0)]},
        {"listeners": [Listener("PLAINTEXT", "host", 1), Listener("PLAINTEXT", "host", 2)]},
    ],
)
def test_a_broker_that_no_client_could_find_is_refused(fields):
    cluster = Cluster(0)
    before = len(cluster.log)

    with pytest.raises(Refused, match="INVALID_REGISTRATION"):
        cluster.ask_in(1, **fields)
    assert len(cluster.log) == before


@pytest.mark.parametrize("features", [[], [Feature("metadata.version", 1, 7)]])
def test_a_broker_that_cannot_read_what_is_written_is_refused(features):
    with pytest.raises(Refused, match=r"UNSUPPORTED_VERSION: the cluster's metadata\.version is"):
        Cluster(0).ask_in(1, features=features)


@pytest.mark.parametrize(
    ("log_dirs", "complaint"),
    [
        ([], "no log directory"),
        ([directory(1)] * 2, "twice"),
        ([LOST], "stands for none"),
        ([directory(2)], "of broker 2"),
    ],
)
def test_a_directory_has_an_id_of_its_own(log_dirs, complaint):
    cluster = joined(0)
    cluster.join(2)

    with pytest.raises(Refused, match=complaint):
        cluster.ask_in(1, log_dirs=log_dirs)


def test_a_broker_that_is_struck_off_leads_nothing():
    cluster = joined(2)
    cluster.place("t", [1, 2])
    cluster.place("alone", [1])

    assert cluster.run(UnregisterBrokerRequest(1)) == UnregisterBrokerResponse()

    assert list(cluster.image.brokers) == [2]
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))
    assert cluster.partition("alone").leader == NO_LEADER


def test_only_a_registered_broker_is_struck_off():
    with pytest.raises(Refused, match="BROKER_ID_NOT_REGISTERED"):
        Cluster(1).run(UnregisterBrokerRequest(9))


# ── what follows from a registration, and from a change of one ───────────────────────


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
    cluster.register(1, run=2, fenced=True)
    assert cluster.partition("t").leader == NO_LEADER
    assert (cluster.partition("t").isr, cluster.partition("t").last_known_elr) == ((), (1,))

    cluster.beat(1)

    assert cluster.image.is_live(1)
    assert cluster.partition("t").leader == 1
    before = len(cluster.log)
    cluster.beat(1)
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
        cluster.beat(1, broker_epoch=stale)


def test_an_unknown_broker_is_refused():
    with pytest.raises(Refused, match="BROKER_ID_NOT_REGISTERED"):
        registered_broker(Cluster().image, NodeId(9))


def test_a_broker_of_an_earlier_epoch_is_refused():
    cluster = Cluster()
    epoch = cluster.image.brokers[1].epoch

    assert check_broker_epoch(cluster.image, 1, epoch).id == 1
    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        check_broker_epoch(cluster.image, 1, epoch - 1)


def test_a_broker_that_changes_is_told_in_what():
    cluster = Cluster()
    before = cluster.image.brokers[1]
    changed = before._replace(fenced=True, stopping=True, log_dirs=(b"e" * 16,))

    record, *_ = registration_change(changed, cluster.image, cluster.settings)

    assert (record.fenced, record.in_controlled_shutdown, record.log_dirs) == (1, 1, [b"e" * 16])
    cluster.append([record])
    assert cluster.image.brokers[1] == changed


def test_a_broker_that_does_not_change_has_no_record():
    cluster = Cluster()

    assert registration_change(cluster.image.brokers[1], cluster.image, cluster.settings) == []
