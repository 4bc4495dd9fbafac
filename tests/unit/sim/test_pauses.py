"""Who stood still has not heard silence: nobody is deposed, fenced or expired by one that was not scheduled."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from andiron.controller.broker_sessions import BrokerSessions
from andiron.model.awake import AwakeTime
from andiron.quorum.quorum import Quorum
from andiron.sim.clustered import _combined
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from unit.sim.trio import Trio

PAUSE_MS = 10_000  # longer than every patience there is


@pytest.fixture
def trio():
    made = Trio()
    made.create()
    made.rest()
    return made


def quorums(trio):
    return [host.node.broker.raft.quorum for host in trio.hosts]


def controller(trio):
    return next(host for host in trio.hosts if host.node.broker.controller.is_active)


def asked_around(trio, ms):
    """Which nodes asked whether they would be voted for while time passed."""
    asked, ask_around = [], Quorum._ask_around

    def noted(self, now):
        asked.append(self.me)
        return ask_around(self, now)

    with patch.object(Quorum, "_ask_around", noted):
        trio.run(ms)
    return asked


def test_a_machine_that_stood_still_with_all_its_nodes_has_the_same_leader_afterwards(trio):
    before = [(each.epoch, each.leader) for each in quorums(trio)]
    for host in trio.hosts:
        host.pause(PAUSE_MS)

    assert asked_around(trio, 2 * PAUSE_MS) == []
    assert [(each.epoch, each.leader) for each in quorums(trio)] == before
    assert not any(broker.fenced for broker in trio.hosts[0].node.broker.image.brokers.values())


def test_a_follower_that_stood_still_does_not_give_up_the_leader_that_it_hears_again(trio):
    follower = next(host for host in trio.hosts if host is not controller(trio))
    follower.pause(PAUSE_MS)

    assert follower.number not in asked_around(trio, 2 * PAUSE_MS)


def test_a_controller_that_stood_still_fences_nobody_before_it_has_listened():
    patient = {"controller.quorum.fetch.timeout.ms": "60000", "controller.quorum.request.timeout.ms": "60000"}
    trio = Trio(properties=lambda common, nodes: _combined(common | patient, nodes))
    led, ended, over = controller(trio), BrokerSessions.ended, []

    def noted(self, now):
        over.extend(ended(self, now))
        return ended(self, now)

    with patch.object(BrokerSessions, "ended", noted):
        led.pause(PAUSE_MS)
        trio.run(PAUSE_MS + 3_000)

    assert controller(trio) is led
    assert over == []


def test_a_coordinator_that_stood_still_expires_no_member_before_it_has_listened(trio):
    def heartbeat(epoch, member="m"):
        body = ConsumerGroupHeartbeatRequest(
            "g", member, epoch, rebalance_timeout_ms=60_000, subscribed_topic_names=["orders"],
            topic_partitions=[] if not epoch else None,
        )  # fmt: skip
        return trio.ask(body, 1, coordinating)

    trio.create("__consumer_offsets", replicas=1)
    coordinating = trio.leader(("__consumer_offsets", 0))
    joined = heartbeat(0)
    assert joined.error_code == 0, joined
    session_ms = coordinating.settings.groups.group_consumer_session_timeout_ms
    coordinating.pause(session_ms + 20_000)
    trio.run(session_ms + 20_100)

    assert heartbeat(joined.member_epoch).error_code == 0


def test_without_that_they_would_all_stand_for_election(trio):
    with patch.object(AwakeTime, "at", lambda self, steady: steady):
        for host in trio.hosts:
            host.pause(PAUSE_MS)
        assert asked_around(trio, 2 * PAUSE_MS) != []
