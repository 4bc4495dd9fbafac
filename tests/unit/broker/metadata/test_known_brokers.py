"""Which brokers clients are told of."""

import pytest

from andiron.broker.metadata.known_brokers import KnownBrokers
from andiron.controller.image import BrokerImage, Image
from andiron.model.ids import Millis, NodeId
from andiron.wire.messages.metadata import MetadataRequest
from worlds.cluster_client import small_cluster

SESSION_MS = 9_000


class World:
    def __init__(self):
        self.image, self.told_of = Image(), KnownBrokers(SESSION_MS)

    def see(self, at, **brokers):
        """Which are let in now: b1=True is, b2=False is not."""
        for name, is_in in brokers.items():
            node = NodeId(int(name[1:]))
            self.image.brokers[node] = BrokerImage(node, 1, b"", {}, None, fenced=not is_in)
        self.told_of.moved(self.image, Millis(at))

    def told(self, at):
        return [each.id for each in self.told_of.told(self.image, Millis(at))]


@pytest.fixture
def world():
    return World()


def test_one_that_was_never_let_in_is_not_told(world):
    world.see(0, b1=True)
    world.see(0, b2=False)

    assert world.told(1) == [1]


def test_at_the_start_everybody_may_have_been_there_a_moment_ago(world):
    world.see(0, b1=True, b2=False)

    assert world.told(SESSION_MS - 1) == [1, 2]
    assert world.told(SESSION_MS) == [1]


def test_one_that_is_gone_is_told_for_a_session_longer(world):
    world.see(0, b1=True, b2=True)
    world.see(1_000, b2=False)

    assert world.told(1_000 + SESSION_MS - 1) == [1, 2]
    assert world.told(1_000 + SESSION_MS) == [1]


def test_time_begins_anew_when_one_was_back(world):
    world.see(0, b1=True)
    world.see(1_000, b1=False)
    world.see(2_000, b1=True)
    world.see(8_000, b1=False)

    assert world.told(8_000 + SESSION_MS - 1) == [1]


def test_one_that_is_no_broker_any_more_is_not_told(world):
    world.see(0, b1=True, b2=True)
    del world.image.brokers[2]
    world.see(1_000)

    assert world.told(1_001) == [1]


def test_a_client_does_not_lose_sight_of_a_broker_that_is_back_soon():
    cluster = small_cluster()
    away = next(node for node in (1, 2, 3) if node != cluster.controller)
    asked = cluster.controller
    cluster.kill(away)
    cluster.until(lambda: cluster.image.brokers[away].fenced)

    def told():
        return sorted(each.node_id for each in cluster.answer(asked, MetadataRequest([]), 12).brokers)

    assert told() == [1, 2, 3]
    cluster.pass_time(10_000)
    assert told() == [node for node in (1, 2, 3) if node != away]


def test_who_has_been_gone_for_long_is_forgotten(world):
    for number in range(100):
        world.see(SESSION_MS * number, **{f"b{number}": True})
        world.see(SESSION_MS * number, **{f"b{number}": False})

    assert len(world.told_of) <= 2
