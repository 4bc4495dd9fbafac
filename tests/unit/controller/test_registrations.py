"""A broker registers in one life at a time, and is struck off."""

from __future__ import annotations

import pytest

from andiron.controller.image import LOST, NO_LEADER
from andiron.model.errors import Refused
from andiron.model.machine import Loaded
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


def test_asking_again_in_the_same_life_gives_the_same_epoch_and_writes_nothing():
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
    cluster.run(Loaded())

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
