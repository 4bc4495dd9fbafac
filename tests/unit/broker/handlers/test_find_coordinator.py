"""Who coordinates: it follows from the name, and its topic is made when it is first needed."""

import logging

import pytest

from andiron.broker.coordinators.coordinator import partition_of
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from worlds.node import SmallNode, error_of

TOPICS = {0: "__consumer_offsets", 1: "__transaction_state"}


@pytest.mark.parametrize(("kind", "version"), [(0, 0), *((k, v) for k in TOPICS for v in (1, 2, 3))])
def test_the_first_to_ask_has_the_topic_made_and_is_told(node, version, kind):
    response = node.ask(FindCoordinatorRequest(key="g", key_type=kind), version)

    assert (error_of(response), response.node_id) == ("NONE", 1)
    assert (response.host, response.port) == ("localhost", 9092)
    assert len(node.node.broker.image.topics[TOPICS[kind]].partitions) == 50


@pytest.mark.parametrize("version", [4, 5, 6])
def test_of_several_each_is_answered(node, version):
    response = node.ask(FindCoordinatorRequest(coordinator_keys=["g", "h"]), version)

    assert [(c.key, error_of(c), c.node_id) for c in response.coordinators] == [
        ("g", "NONE", 1), ("h", "NONE", 1),
    ]  # fmt: skip


def test_keys_without_a_coordinator_are_refused(node):
    old = node.ask(FindCoordinatorRequest(key="g", key_type=9), 3)
    new = node.ask(FindCoordinatorRequest(key_type=9, coordinator_keys=["g"]), 4)

    assert (error_of(old), error_of(new.coordinators[0])) == ("INVALID_REQUEST", "INVALID_REQUEST")


def test_a_topic_that_needs_more_brokers_than_there_are_is_not_made():
    node = SmallNode(offsets_topic_replication_factor="3")

    response = node.ask(FindCoordinatorRequest(key="g"), 3)

    assert (error_of(response), response.node_id) == ("COORDINATOR_NOT_AVAILABLE", -1)
    assert response.error_message == (
        "__consumer_offsets cannot be made: a partition was to have 3 replicas, and only 1 brokers are registered"
    )


def test_that_a_coordinator_cannot_have_its_topic_is_in_the_log_once_and_when_it_can(node, caplog):
    node.disk.fill_up()
    for _ in range(5):
        answer = node.ask(FindCoordinatorRequest(key="g"), 3)
        assert error_of(answer) == "COORDINATOR_NOT_AVAILABLE"
    [told] = [
        each
        for each in caplog.records
        if each.levelno == logging.ERROR and "cannot be created" in each.message
    ]
    assert answer.error_message.removeprefix("__consumer_offsets cannot be made: ") in told.message

    node.disk.free_up()
    caplog.clear()
    with caplog.at_level(logging.INFO):
        assert error_of(node.ask(FindCoordinatorRequest(key="g"), 3)) == "NONE"
    assert "Internal topic __consumer_offsets is created after all" in caplog.messages
    assert node.node.broker.internal_topic_errors == {}


def test_the_topic_has_the_settings_it_needs(node):
    node.ask(FindCoordinatorRequest(key="g"), 3)

    settings = node.node.broker.partition_by_name("__consumer_offsets", partition_of("g", 50)).log.settings

    assert settings.cleanup_policy == ("compact",)
    assert settings.segment_bytes == 100 << 20


def test_while_the_disk_takes_nothing_nobody_coordinates(node):
    node.disk.fill_up()
    assert error_of(node.ask(FindCoordinatorRequest(key="g"), 3)) == "COORDINATOR_NOT_AVAILABLE"

    node.disk.free_up()

    assert error_of(node.ask(FindCoordinatorRequest(key="g"), 3)) == "NONE"
