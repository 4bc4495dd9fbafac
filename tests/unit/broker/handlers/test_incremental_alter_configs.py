"""Single settings change, and the running logs feel it."""

import logging

import pytest

from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from worlds.node import BROKER, TOPIC, error_of

SET, DELETE, APPEND, SUBTRACT = range(4)
LOGGERS = 8
DAY = 86_400_000


def alter(node, kind, name, *changes, version=1, validate_only=False):
    """Each change is (setting, operation, value)."""
    resource = AlterConfigsResource(kind, name, [AlterableConfig(*change) for change in changes])
    return node.ask(IncrementalAlterConfigsRequest([resource], validate_only), version).responses[0]


@pytest.mark.parametrize("version", [0, 1])
def test_what_is_not_named_stays(node, version):
    node.create("t", retention_ms=5)

    assert error_of(alter(node, TOPIC, "t", ("flush.ms", SET, "8"), version=version)) == "NONE"

    assert (node.log("t").settings.flush_ms, node.log("t").settings.retention_ms) == (8, 5)


def test_a_setting_that_is_deleted_goes_back_to_its_default(node):
    node.create("t", retention_ms=5)

    alter(node, TOPIC, "t", ("retention.ms", DELETE, None))

    assert node.log("t").settings.retention_ms == 7 * DAY


def test_lists_are_added_to_and_taken_from(node):
    node.create("t")
    policies = []
    for change in (
        ("compact", APPEND),
        ("delete", SUBTRACT),
        ("compact,delete", APPEND),
        ("compact", SUBTRACT),
    ):
        assert error_of(alter(node, TOPIC, "t", ("cleanup.policy", change[1], change[0]))) == "NONE"
        policies.append(node.log("t").settings.cleanup_policy)

    assert policies == [("delete", "compact"), ("compact",), ("compact", "delete"), ("delete",)]


def test_validate_only_changes_nothing(node):
    node.create("t")
    before = node.log("t").settings

    assert error_of(alter(node, TOPIC, "t", ("flush.ms", SET, "8"), validate_only=True)) == "NONE"
    assert node.log("t").settings == before


@pytest.mark.parametrize(
    ("change", "code"),
    [(("flush.ms", SET, "soon"), "INVALID_CONFIG"), (("no.such", SET, "1"), "INVALID_CONFIG"),
     (("flush.ms", SET, None), "INVALID_REQUEST"), (("flush.ms", APPEND, "1"), "INVALID_CONFIG"),
     (("flush.ms", 9, "1"), "INVALID_REQUEST"), (("cleanup.policy", SET, "burn"), "INVALID_CONFIG")],
)  # fmt: skip
def test_what_is_refused_changes_nothing(node, change, code):
    node.create("t")
    before = node.log("t").settings

    assert error_of(alter(node, TOPIC, "t", change)) == code
    assert node.log("t").settings == before


def test_a_setting_named_twice_is_refused(node):
    node.create("t")

    assert (
        error_of(alter(node, TOPIC, "t", ("flush.ms", SET, "1"), ("flush.ms", SET, "2"))) == "INVALID_REQUEST"
    )


# ── what it brings about ─────────────────────────────────────────────────────────────


def test_a_topics_limit_holds_for_the_next_batch(node):
    node.create("t")
    node.produce("t", bytes(200))

    alter(node, TOPIC, "t", ("max.message.bytes", SET, "100"))

    assert error_of(node.produce("t", bytes(200))) == "MESSAGE_TOO_LARGE"


def test_a_setting_of_all_brokers_reaches_the_topics_that_have_none_of_their_own(node):
    node.create("own", max_message_bytes=1_000)
    node.create("t")

    alter(node, BROKER, "", ("message.max.bytes", SET, "100"))

    assert error_of(node.produce("t", bytes(200))) == "MESSAGE_TOO_LARGE"
    assert error_of(node.produce("own", bytes(200))) == "NONE"
    node.create("later")
    assert error_of(node.produce("later", bytes(200))) == "MESSAGE_TOO_LARGE"


def test_a_setting_of_this_broker_is_stronger_than_one_of_all(node):
    node.create("t")
    alter(node, BROKER, "", ("message.max.bytes", SET, "100"))
    alter(node, BROKER, "1", ("message.max.bytes", SET, "1000"))
    assert error_of(node.produce("t", bytes(200))) == "NONE"

    alter(node, BROKER, "1", ("message.max.bytes", DELETE, None))

    assert error_of(node.produce("t", bytes(200))) == "MESSAGE_TOO_LARGE"


@pytest.mark.parametrize("clean", [True, False])
def test_settings_are_there_after_a_restart(node, clean):
    node.create("t")
    alter(node, TOPIC, "t", ("flush.ms", SET, "8"))
    alter(node, BROKER, "", ("log.retention.ms", SET, "9"))

    node.restart(clean)

    assert (node.log("t").settings.flush_ms, node.log("t").settings.retention_ms) == (8, 9)


def test_resources_of_one_request_fail_each_for_itself(node):
    node.create("t")
    changes = [AlterableConfig("flush.ms", SET, "8")]
    resources = [AlterConfigsResource(TOPIC, name, changes) for name in ("nope", "t")]

    results = node.ask(IncrementalAlterConfigsRequest(resources)).responses

    assert [error_of(result) for result in results] == ["UNKNOWN_TOPIC_OR_PARTITION", "NONE"]


@pytest.fixture
def fetcher_logger():
    """One of the node's loggers, and its level as it was."""
    logger = logging.getLogger("andiron.broker.replicas.directory_assignments")
    before = logger.level
    yield logger
    logger.setLevel(before)


def test_the_loggers_of_this_broker_are_set_here(node, fetcher_logger):
    assert error_of(alter(node, LOGGERS, "1", (fetcher_logger.name, SET, "DEBUG"))) == "NONE"

    assert fetcher_logger.level == logging.DEBUG


def test_those_of_another_broker_are_not(node, fetcher_logger):
    assert error_of(alter(node, LOGGERS, "2", (fetcher_logger.name, SET, "DEBUG"))) == "INVALID_REQUEST"

    assert fetcher_logger.level == logging.NOTSET


def test_loggers_and_topics_may_be_in_one_request(node, fetcher_logger):
    node.create("t")
    resources = [
        AlterConfigsResource(LOGGERS, "1", [AlterableConfig(fetcher_logger.name, SET, "ERROR")]),
        AlterConfigsResource(TOPIC, "t", [AlterableConfig("flush.ms", SET, "8")]),
    ]

    answers = node.ask(IncrementalAlterConfigsRequest(resources)).responses

    assert {(each.resource_type, error_of(each)) for each in answers} == {(LOGGERS, "NONE"), (TOPIC, "NONE")}
    assert (fetcher_logger.level, node.log("t").settings.flush_ms) == (logging.ERROR, 8)
