"""Settings as they are, with where they come from."""

import pytest

from andiron.broker.settings.broker_settings import BROKER_ROWS, GROUP_ROWS, TOPIC_ROWS
from andiron.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from worlds.node import BROKER, TOPIC, SmallNode, error_of

TOPIC_ITSELF, THIS_BROKER, ALL_BROKERS, STATIC, DEFAULT = 1, 2, 3, 4, 5
OF_A_LOGGER, OF_A_SUBSCRIPTION, OF_THE_GROUP = 6, 7, 8
LOGGERS, CLIENT_METRICS, GROUP = 8, 16, 32


def describe(node, kind, name, *keys, version=4, synonyms=False, documentation=False):
    resource = DescribeConfigsResource(kind, name, list(keys) or None)
    return node.ask(DescribeConfigsRequest([resource], synonyms, documentation), version).results[0]


def source(node, kind, name, key):
    [config] = describe(node, kind, name, key).configs
    return config.value, config.config_source


@pytest.mark.parametrize("version", range(1, 5))
def test_every_setting_of_a_topic_is_shown(node, version):
    node.create("t")

    shown = [config.name for config in describe(node, TOPIC, "t", version=version).configs]

    assert sorted(shown) == sorted(name for name, row in TOPIC_ROWS.items() if not row.internal)


def test_every_setting_of_the_broker_is_shown(node):
    shown = {config.name: config for config in describe(node, BROKER, "1").configs}

    assert set(shown) == {name for name, row in BROKER_ROWS.items() if not row.internal}
    assert shown["node.id"].read_only
    assert not shown["message.max.bytes"].read_only


def test_only_what_is_asked_for_is_shown(node):
    node.create("t")

    shown = describe(node, TOPIC, "t", "flush.ms", "no.such").configs

    assert [config.name for config in shown] == ["flush.ms"]


def test_a_topics_value_comes_from_the_strongest_place_that_has_one():
    node = SmallNode(log_retention_ms="4")
    key = "retention.ms"
    node.create("t")
    seen = [source(node, TOPIC, "t", key)]
    node.alter_broker("", log_retention_ms=3)
    seen.append(source(node, TOPIC, "t", key))
    node.alter_broker("1", log_retention_ms=2)
    seen.append(source(node, TOPIC, "t", key))
    node.alter_topic("t", retention_ms=1)
    seen.append(source(node, TOPIC, "t", key))

    assert seen == [("4", STATIC), ("3", ALL_BROKERS), ("2", THIS_BROKER), ("1", TOPIC_ITSELF)]


def test_a_setting_that_nobody_gave_is_a_default(node):
    node.create("t")

    assert source(node, TOPIC, "t", "flush.messages") == (str((1 << 63) - 1), DEFAULT)


def test_synonyms_tell_all_places_the_strongest_first():
    node = SmallNode(log_retention_ms="4")
    node.create("t", retention_ms=1)
    node.alter_broker("", log_retention_ms=3)

    [config] = describe(node, TOPIC, "t", "retention.ms", synonyms=True).configs

    assert [(s.name, s.value, s.source) for s in config.synonyms][:3] == [
        ("retention.ms", "1", TOPIC_ITSELF),
        ("log.retention.ms", "3", ALL_BROKERS),
        ("log.retention.ms", "4", STATIC),
    ]


def test_synonyms_are_not_shown_unasked(node):
    node.create("t")

    assert describe(node, TOPIC, "t", "retention.ms").configs[0].synonyms == []


def test_documentation_is_shown_to_those_who_ask(node):
    node.create("t")

    [told] = describe(node, TOPIC, "t", "flush.ms", documentation=True).configs
    [untold] = describe(node, TOPIC, "t", "flush.ms").configs

    assert (told.documentation, untold.documentation) == (TOPIC_ROWS["flush.ms"].doc, None)


def test_types_are_kafkas(node):
    node.create("t")
    shown = {config.name: config.config_type for config in describe(node, TOPIC, "t").configs}

    names = ("cleanup.policy", "flush.ms", "segment.bytes", "min.cleanable.dirty.ratio", "compression.type")
    assert [shown[name] for name in names] == [7, 5, 3, 6, 2]


def test_what_was_given_to_all_brokers_is_shown_by_itself(node):
    def shown():
        return [(each.name, each.value, each.config_source) for each in describe(node, BROKER, "").configs]

    assert shown() == [("min.insync.replicas", "1", ALL_BROKERS)]  # which comes with ELR
    node.alter_broker("", message_max_bytes=100)

    assert ("message.max.bytes", "100", ALL_BROKERS) in shown()


def test_a_group_has_the_brokers_defaults_and_what_was_given_to_it(node):
    node.ask(node.alter_request(GROUP, "g", {"consumer.session.timeout.ms": "50000"}))

    shown = {
        config.name: (config.value, config.config_source) for config in describe(node, GROUP, "g").configs
    }

    assert shown.keys() == GROUP_ROWS.keys()
    assert (
        shown.items()
        >= {
            "consumer.session.timeout.ms": ("50000", OF_THE_GROUP),
            "consumer.heartbeat.interval.ms": ("5000", DEFAULT),
        }.items()
    )


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [(TOPIC, "nope", "UNKNOWN_TOPIC_OR_PARTITION"), (TOPIC, "a b", "INVALID_TOPIC_EXCEPTION"),
     (TOPIC, "", "INVALID_TOPIC_EXCEPTION"), (BROKER, "7", "INVALID_REQUEST"), (BROKER, "x", "INVALID_REQUEST"),
     (99, "t", "INVALID_REQUEST"), (32, "", "INVALID_REQUEST")],
)  # fmt: skip
def test_resources_without_settings_are_refused(node, kind, name, code):
    node.create("t")

    result = describe(node, kind, name)

    assert (error_of(result), result.configs) == (code, [])
    assert (result.resource_type, result.resource_name) == (kind, name)


def test_the_loggers_of_this_broker_are_shown_with_their_levels(node):
    shown = {config.name: config for config in describe(node, LOGGERS, "1").configs}

    assert shown["root"].value in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
    assert shown["andiron.broker.replicas.directory_assignments"].config_source == OF_A_LOGGER
    [one] = describe(node, LOGGERS, "1", "root").configs
    assert one.name == "root"


@pytest.mark.parametrize("name", ["2", "", "one"])
def test_the_loggers_of_others_are_not(node, name):
    assert error_of(describe(node, LOGGERS, name)) == "INVALID_REQUEST"


def test_a_subscription_to_clients_metrics_is_shown_with_its_defaults(node):
    node.ask(node.alter_request(CLIENT_METRICS, "m", {"metrics": "a.,b."}))

    assert source(node, CLIENT_METRICS, "m", "metrics") == ("a.,b.", OF_A_SUBSCRIPTION)
    assert source(node, CLIENT_METRICS, "m", "interval.ms") == ("300000", DEFAULT)
    assert error_of(describe(node, CLIENT_METRICS, "")) == "INVALID_REQUEST"
