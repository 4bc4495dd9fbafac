"""A broker that is gone for good is forgotten, whoever is asked."""

import pytest

from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from worlds.cluster_client import small_cluster
from worlds.controllers import NODES
from worlds.node import error_of


@pytest.mark.parametrize("number", NODES)
def test_whoever_is_asked_it_is_forgotten(number):
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))
    cluster.kill(4)
    cluster.until(lambda: not cluster.image.is_live(4))

    answer = cluster.answer(number, UnregisterBrokerRequest(4))

    assert error_of(answer) == "NONE"
    assert 4 not in cluster.image.brokers


def test_one_that_nobody_knows_cannot_be_forgotten(three):
    answer = three.ask_as_client(three.follower, UnregisterBrokerRequest(9))

    assert error_of(answer) == "BROKER_ID_NOT_REGISTERED"
    assert answer.error_message


def test_a_controllers_own_door_serves_it_too(three):
    assert three.error(three.leader, UnregisterBrokerRequest(9)) == "BROKER_ID_NOT_REGISTERED"
