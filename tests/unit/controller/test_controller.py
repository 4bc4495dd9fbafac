"""The controller decides without changing, and changes by replay alone."""

from __future__ import annotations

import pytest

from andiron.model.errors import Refused
from andiron.model.ids import Millis
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.metadata import MetadataRequest
from controller.cluster import Cluster

REQUEST = CreateTopicsRequest([CreatableTopic("t", 5, 2)])


def test_deciding_changes_nothing_and_says_the_same_twice():
    cluster = Cluster(3)

    first = cluster.controller.decide(REQUEST, Millis(0))
    second = cluster.controller.decide(REQUEST, Millis(0))

    assert cluster.image.topics == {}
    assert first == second


def test_another_position_in_the_log_is_another_throw_of_the_dice():
    cluster = Cluster(3)
    first = cluster.controller.decide(REQUEST, Millis(0))
    cluster.create("other")

    assert cluster.controller.decide(REQUEST, Millis(0)) != first


def test_what_is_not_for_the_controller_is_refused():
    with pytest.raises(Refused, match="MetadataRequest is not for the controller"):
        Cluster().controller.decide(MetadataRequest(), Millis(0))
