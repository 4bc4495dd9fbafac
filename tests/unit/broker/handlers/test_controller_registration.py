"""A controller makes itself known, where the controller is that leads."""

import pytest

from andiron.wire.messages.controller_registration import ControllerRegistrationRequest, Feature, Listener
from worlds.node import Closed, error_of


def registering(controller=9, life=1, listeners=(("CONTROLLER", "node-9", 9093, 0),)):
    return ControllerRegistrationRequest(
        controller,
        bytes([life]) * 16,
        listeners=[Listener(*each) for each in listeners],
        features=[Feature("metadata.version", 7, 30)],
    )


def test_it_stands_in_the_metadata_from_then_on(three):
    assert error_of(three.ask(three.leader, registering())) == "NONE"

    known = three.cluster.image.controllers[9]
    assert known.endpoint("CONTROLLER") == ("node-9", 9093)
    assert known.endpoint("ANOTHER") is None
    assert known.features == (("metadata.version", 7, 30),)


def test_said_again_in_the_same_life_it_is_no_news(three):
    three.ask(three.leader, registering())
    end = three.raft(three.leader).partition.log.end

    three.ask(three.leader, registering())
    assert three.raft(three.leader).partition.log.end == end

    three.ask(three.leader, registering(life=2))
    assert three.raft(three.leader).partition.log.end == end + 1


@pytest.mark.parametrize("how", [{"controller": -1}, {"listeners": ()}])
def test_one_that_nobody_could_find_is_refused(three, how):
    assert three.error(three.leader, registering(**how)) == "INVALID_REQUEST"


def test_who_does_not_lead_says_so(three):
    assert three.error(three.follower, registering()) == "NOT_CONTROLLER"


def test_clients_have_no_part_in_it(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, registering())
