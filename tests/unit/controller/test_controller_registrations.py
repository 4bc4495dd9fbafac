"""A controller says where it is and what it knows, and it is written once."""

from __future__ import annotations

import pytest

from andiron.controller.controller_registrations import register_controller
from andiron.model.errors import Refused
from andiron.wire.messages.controller_registration import ControllerRegistrationRequest, Feature, Listener
from controller.cluster import Cluster

REQUEST = ControllerRegistrationRequest(
    9,
    bytes(16),
    listeners=[Listener("CONTROLLER", "host", 9093, 0)],
    features=[Feature("group.version", 0, 1)],
)


def test_a_controller_is_found_where_it_said_and_says_nothing_new_twice():
    cluster = Cluster()

    cluster.run(REQUEST)

    assert cluster.image.controllers[9].endpoint("CONTROLLER") == ("host", 9093)
    assert register_controller(REQUEST, cluster.image).records == []


@pytest.mark.parametrize("fields", [{"controller_id": -1}, {"listeners": []}])
def test_a_controller_that_cannot_be_found_is_refused(fields):
    given = {"controller_id": 9, "listeners": REQUEST.listeners}

    with pytest.raises(Refused, match="INVALID_REQUEST"):
        Cluster().run(ControllerRegistrationRequest(**{**given, **fields}))
