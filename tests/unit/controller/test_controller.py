"""The controller decides without changing, and changes by replay alone."""

from __future__ import annotations

import pytest

from andiron.controller.controller import Controller
from andiron.controller.records import decode_record
from andiron.model.errors import Refused
from andiron.model.ids import NEVER, Millis, Offset
from andiron.model.machine import Loaded
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.metadata import MetadataRequest
from controller.cluster import Cluster, joined

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


def test_the_clock_counts_from_taking_over():
    cluster = Cluster(1)
    assert cluster.controller.next_deadline() == NEVER

    cluster.now = 1_000
    assert cluster.run(Loaded()) is None

    assert cluster.controller.next_deadline() == 10_000


def test_without_brokers_only_leaders_are_looked_at():
    cluster = Cluster(0)
    cluster.run(Loaded())

    assert cluster.controller.next_deadline() == 300_000
    cluster.now = 300_000
    cluster.wake()
    assert cluster.controller.next_deadline() == 600_000


def test_another_controller_goes_on_from_the_log():
    cluster = joined(2)
    cluster.create("t", partitions=4, replicas=2)
    other = Controller(cluster.settings, seed=1)
    for offset, value in enumerate(cluster.log):
        other.replay(decode_record(value), Offset(offset))

    assert other.image == cluster.image


def test_what_is_not_for_the_controller_is_refused():
    with pytest.raises(Refused, match="MetadataRequest is not for the controller"):
        Cluster().controller.decide(MetadataRequest(), Millis(0))
