"""What has settings of its own."""

import pytest

from andiron.wire.messages.list_config_resources import ListConfigResourcesRequest
from worlds.node import BROKER, TOPIC, error_of

LOGGERS, METRICS, GROUPS = 8, 16, 32


def told(response):
    assert error_of(response) == "NONE"
    return {(each.resource_type, each.resource_name) for each in response.config_resources}


@pytest.fixture
def filled(node):
    node.create("t")
    node.create("u")
    return node


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [([], {(TOPIC, "t"), (TOPIC, "u"), (BROKER, "1"), (LOGGERS, "1")}), ([TOPIC], {(TOPIC, "t"), (TOPIC, "u")}),
     ([BROKER, LOGGERS], {(BROKER, "1"), (LOGGERS, "1")}), ([GROUPS, METRICS], set())],
)  # fmt: skip
def test_resources_by_their_kinds(filled, kinds, expected):
    assert told(filled.ask(ListConfigResourcesRequest(kinds), 1)) == expected


def test_a_group_is_listed_that_was_given_settings(filled):
    filled.ask(filled.alter_request(GROUPS, "g", {"consumer.session.timeout.ms": "50000"}))

    assert told(filled.ask(ListConfigResourcesRequest([GROUPS]), 1)) == {(GROUPS, "g")}


def test_a_kind_asked_for_twice_is_told_once(filled):
    assert len(filled.ask(ListConfigResourcesRequest([TOPIC, TOPIC]), 1).config_resources) == 2


def test_version_0_asks_for_client_metrics_and_there_are_none(filled):
    assert told(filled.ask(ListConfigResourcesRequest(), 0)) == set()


def test_a_kind_that_does_not_exist(filled):
    response = filled.ask(ListConfigResourcesRequest([TOPIC, 99]), 1)

    assert (error_of(response), response.config_resources) == ("UNSUPPORTED_VERSION", [])
