"""Brokers are let in, stop, and are fenced when nothing is heard of them."""

from __future__ import annotations

import pytest

from andiron.controller.image import NO_LEADER
from andiron.model.errors import Refused
from andiron.model.ids import Millis
from andiron.model.machine import LogLoaded, TimePassed
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from controller.cluster import Cluster, directory, joined


def test_a_broker_is_let_in_once_it_has_read_its_registration():
    cluster = Cluster(0)
    epoch = cluster.ask_in(1)

    early = cluster.beat(1, current_metadata_offset=epoch - 1)
    assert early == BrokerHeartbeatResponse(is_caught_up=False, is_fenced=True)

    assert cluster.beat(1) == BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
    assert cluster.image.is_live(1)


def test_a_broker_that_wants_to_stay_fenced_does():
    cluster = Cluster(0)
    cluster.ask_in(1)

    assert cluster.beat(1, want_fence=True).is_fenced
    assert not cluster.image.is_live(1)


def test_a_live_broker_may_ask_to_be_fenced():
    cluster = joined(2)
    cluster.place("t", [1, 2])

    assert cluster.beat(1, want_fence=True) == BrokerHeartbeatResponse(is_caught_up=True, is_fenced=True)
    assert cluster.partition("t").leader == 2


def test_a_heartbeat_that_changes_nothing_writes_nothing():
    cluster = joined(2)
    before = len(cluster.log)

    assert not cluster.beat(1).is_fenced
    assert len(cluster.log) == before


def test_a_heartbeat_of_an_earlier_life_is_refused():
    cluster = joined(1)

    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        cluster.beat(1, broker_epoch=0)


def test_a_heartbeat_of_a_broker_that_was_struck_off_is_refused():
    with pytest.raises(Refused, match="BROKER_ID_NOT_REGISTERED"):
        Cluster(0).run(BrokerHeartbeatRequest(9))


# ── silence ──────────────────────────────────────────────────────────────────────────


def test_a_silent_broker_is_fenced_when_its_session_runs_out():
    cluster = joined(3)
    cluster.place("t", [1, 2, 3])
    assert cluster.controller.next_deadline() == 9_000

    cluster.crash(1)

    assert [cluster.image.is_live(broker) for broker in (1, 2, 3)] == [False, True, True]
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2, 3))


def test_a_fenced_broker_has_no_session():
    cluster = joined(1)
    cluster.crash(1)

    assert cluster.controller.next_deadline() > cluster.now + 9_000


def test_brokers_that_fall_silent_together_are_fenced_one_after_the_other():
    cluster = joined(3)
    cluster.place("t", [1, 2, 3])
    cluster.now = 9_000

    cluster.wake()

    assert not any(cluster.image.is_live(broker) for broker in (1, 2, 3))
    partition = cluster.partition("t")
    assert (partition.leader, partition.isr, partition.elr) == (NO_LEADER, (), (3,))


def test_a_decision_that_could_not_be_written_is_made_again():
    cluster = joined(1)
    cluster.now = 9_000

    lost = cluster.controller.decide(TimePassed(), Millis(9_000))

    assert cluster.controller.decide(TimePassed(), Millis(9_000)) == lost
    assert len(lost.records) == 1


def test_a_controller_that_takes_over_gives_everybody_a_full_session():
    cluster = Cluster(2)
    cluster.now = 50_000
    cluster.run(LogLoaded())

    assert cluster.controller.next_deadline() == 59_000
    cluster.now = 59_000
    cluster.wake()
    assert not any(cluster.image.is_live(broker) for broker in (1, 2))


def test_a_controller_that_was_not_told_to_begin_fences_nobody():
    cluster = Cluster(2)

    assert cluster.controller.next_deadline() > 1 << 60


# ── shutting down ────────────────────────────────────────────────────────────────────


def test_a_broker_that_leads_hands_over_before_it_may_shut_down():
    cluster = joined(3)
    cluster.place("t", [1, 2, 3])

    first = cluster.beat(1, want_shut_down=True)
    assert (first.is_fenced, first.should_shut_down) == (False, False)
    assert cluster.image.brokers[1].stopping
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2, 3))

    assert not cluster.beat(1, want_shut_down=True).should_shut_down
    cluster.beat(2)
    assert not cluster.beat(1, want_shut_down=True).should_shut_down
    cluster.beat(3)
    last = cluster.beat(1, want_shut_down=True)
    assert (last.is_fenced, last.should_shut_down) == (True, True)
    assert cluster.image.brokers[1].fenced


def test_a_broker_that_leads_nothing_may_shut_down_at_once():
    cluster = joined(2)
    cluster.place("t", [2, 1])

    assert cluster.beat(1, want_shut_down=True).should_shut_down
    assert cluster.partition("t").isr == (2,)


def test_a_fenced_broker_may_shut_down_at_once():
    cluster = Cluster(0)
    cluster.ask_in(1)

    assert cluster.beat(1, want_shut_down=True).should_shut_down


def test_a_broker_that_was_stopping_is_let_in_again_only_in_another_life():
    cluster = joined(2)
    cluster.place("t", [1, 2])
    cluster.beat(1, want_shut_down=True)
    cluster.crash(1)

    assert cluster.beat(1).is_fenced
    cluster.join(1, run=2)
    assert cluster.image.is_live(1)


def test_the_only_broker_may_shut_down_and_leads_again_after_a_clean_stop():
    cluster = joined(1)
    cluster.create("t")
    cluster.beat(1, want_shut_down=True)
    assert cluster.beat(1, want_shut_down=True).should_shut_down
    assert (cluster.partition("t").leader, cluster.partition("t").elr) == (NO_LEADER, (1,))

    cluster.join(1, run=2, previous_broker_epoch=cluster.image.brokers[1].epoch)

    partition = cluster.partition("t")
    assert (partition.leader, partition.isr, partition.elr, partition.recovering) == (1, (1,), (), False)


# ── directories ──────────────────────────────────────────────────────────────────────


def test_what_lies_in_a_directory_that_fails_is_led_by_others():
    cluster = joined(1)
    cluster.join(2, log_dirs=[directory(2), directory(20)])
    cluster.place("t", [2, 1])
    topic = cluster.image.topics["t"]
    topic.partitions[0] = topic.partitions[0]._replace(directories=(directory(20), directory(1)))

    cluster.beat(2, offline_log_dirs=[directory(20)])

    assert cluster.image.brokers[2].log_dirs == (directory(2),)
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (1, (1,))
    assert cluster.image.offline_replicas(cluster.partition("t")) == [2]


def test_a_failure_that_is_told_again_changes_nothing():
    cluster = joined(0)
    cluster.join(1, log_dirs=[directory(1), directory(10)])
    cluster.beat(1, offline_log_dirs=[directory(10)])
    before = len(cluster.log)

    cluster.beat(1, offline_log_dirs=[directory(10)])

    assert len(cluster.log) == before


def test_a_broker_without_a_directory_that_works_is_fenced():
    cluster = joined(1)

    assert cluster.beat(1, offline_log_dirs=[directory(1)]).is_fenced
