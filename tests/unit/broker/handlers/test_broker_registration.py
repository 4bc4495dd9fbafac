"""A broker asks to be taken in, where the controller is."""

import pytest

from andiron.wire.messages.broker_registration import BrokerRegistrationRequest, Feature
from worlds.controllers import every_version_of, registering
from worlds.node import Closed, error_of


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_newcomer_is_registered_under_an_epoch_and_fenced_at_first(three, version):
    answer = three.ask(three.leader, registering(), version)

    known = three.cluster.image.brokers[7]
    assert (error_of(answer), answer.broker_epoch) == ("NONE", known.epoch)
    assert known.fenced
    assert known.endpoints == {"PLAINTEXT": ("node-7", 9092)}


@every_version_of(BrokerRegistrationRequest)
def test_every_version_is_answered(three, version):
    assert three.ask(three.leader, registering(), version) is not None


def test_the_same_life_may_ask_again(three):
    first = three.ask(three.leader, registering())
    again = three.ask(three.leader, registering())

    assert (error_of(first), error_of(again)) == ("NONE", "NONE")


def test_another_incarnation_is_refused_while_one_is_alive(three):
    taken = three.follower

    assert three.error(three.leader, registering(broker=taken)) == "DUPLICATE_BROKER_REGISTRATION"


def test_another_cluster_is_refused(three):
    assert three.error(three.leader, registering(cluster="another")) == "INCONSISTENT_CLUSTER_ID"


def test_one_that_speaks_older_metadata_is_refused(three):
    request = registering()
    request.features = [Feature("metadata.version", 1, 1)]

    assert three.error(three.leader, request) == "UNSUPPORTED_VERSION"


def test_who_is_not_the_controller_says_so(three):
    assert three.error(three.follower, registering()) == "NOT_CONTROLLER"
    assert 7 not in three.cluster.image.brokers


def test_clients_cannot_register(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, registering())
