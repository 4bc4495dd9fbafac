"""Settings change one by one or all at once, and only to what they may be."""

from __future__ import annotations

import pytest

from andiron.controller.configs import Operation
from andiron.controller.image import BROKER, CLIENT_METRICS, GROUP, TOPIC
from andiron.controller.records import FeatureLevelRecord
from andiron.model.errors import ErrorCode
from andiron.wire.messages import alter_configs as legacy
from andiron.wire.messages import incremental_alter_configs as incremental
from controller.cluster import AT_FIRST, Cluster

SET, DELETE, APPEND, SUBTRACT = Operation


def change(kind: int, name: str, *configs: tuple[int, str, str | None]) -> incremental.AlterConfigsResource:
    given = [incremental.AlterableConfig(key, operation, value) for operation, key, value in configs]
    return incremental.AlterConfigsResource(kind, name, given)


def run(
    cluster: Cluster, *resources: incremental.AlterConfigsResource, validate_only: bool = False
) -> list[ErrorCode]:
    request = incremental.IncrementalAlterConfigsRequest(list(resources), validate_only)
    return codes(cluster.run(request), resources)


def replace(cluster: Cluster, kind: int, name: str, configs: dict[str, str | None]) -> list[ErrorCode]:
    given = [legacy.AlterableConfig(key, value) for key, value in configs.items()]
    resource = legacy.AlterConfigsResource(kind, name, given)
    return codes(cluster.run(legacy.AlterConfigsRequest([resource])), [resource])


def codes(response, resources) -> list[ErrorCode]:
    named = [(each.resource_type, each.resource_name) for each in response.responses]
    assert named == list(dict.fromkeys((each.resource_type, each.resource_name) for each in resources))
    assert all(each.error_message for each in response.responses if each.error_code)
    return [ErrorCode.of(each.error_code) for each in response.responses]


def cluster_with_a_topic(**given: str) -> Cluster:
    cluster = Cluster(**given)
    cluster.create("t")
    return cluster


def test_a_setting_is_set_and_deleted():
    cluster = cluster_with_a_topic()

    assert run(cluster, change(TOPIC, "t", (SET, "retention.ms", "5"))) == [ErrorCode.NONE]
    assert cluster.image.configs_of(TOPIC, "t") == {"retention.ms": "5"}

    assert run(cluster, change(TOPIC, "t", (DELETE, "retention.ms", None))) == [ErrorCode.NONE]
    assert cluster.image.configs_of(TOPIC, "t") == {}


def test_a_change_that_changes_nothing_writes_nothing():
    cluster = cluster_with_a_topic()
    run(cluster, change(TOPIC, "t", (SET, "retention.ms", "5")))
    before = len(cluster.log)

    assert run(cluster, change(TOPIC, "t", (SET, "retention.ms", "5"), (DELETE, "nope", None))) == [
        ErrorCode.NONE
    ]
    assert len(cluster.log) == before


def test_a_list_is_added_to_and_taken_from_beginning_with_what_holds():
    cluster = cluster_with_a_topic(log_cleanup_policy="compact")
    seen = []
    for operation, items in [
        (APPEND, "delete"),
        (APPEND, " delete "),
        (SUBTRACT, "compact"),
        (SUBTRACT, "compact,delete"),
    ]:
        run(cluster, change(TOPIC, "t", (operation, "cleanup.policy", items)))
        seen.append(cluster.image.configs_of(TOPIC, "t")["cleanup.policy"])

    assert seen == ["compact,delete", "compact,delete", "delete", ""]


def test_a_brokers_list_is_added_to_as_well():
    cluster = Cluster()

    assert run(cluster, change(BROKER, "1", (APPEND, "log.cleanup.policy", "compact"))) == [ErrorCode.NONE]
    assert cluster.image.configs_of(BROKER, "1") == {"log.cleanup.policy": "delete,compact"}


def test_one_broker_or_all_of_them_may_be_given_what_changes_live():
    cluster = Cluster()

    assert run(
        cluster,
        change(BROKER, "1", (SET, "max.connections", "5")),
        change(BROKER, "", (SET, "log.roll.ms", "7")),
    ) == [ErrorCode.NONE, ErrorCode.NONE]
    assert cluster.image.configs == {
        (BROKER, "1"): {"max.connections": "5"},
        (BROKER, ""): {"min.insync.replicas": "1", "log.roll.ms": "7"},
    }


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (change(TOPIC, "t", (SET, "nope", "5")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (SET, "retention.ms", "x")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (SET, "segment.bytes", "5")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (SET, "retention.ms", None)), ErrorCode.INVALID_REQUEST),
        (change(TOPIC, "t", (APPEND, "retention.ms", "5")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (APPEND, "nope", "5")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (APPEND, "cleanup.policy", None)), ErrorCode.INVALID_REQUEST),
        (change(TOPIC, "t", (APPEND, "cleanup.policy", "burn")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (4, "retention.ms", "5")), ErrorCode.INVALID_REQUEST),
        (
            change(TOPIC, "t", (SET, "retention.ms", "5"), (SET, "retention.ms", "6")),
            ErrorCode.INVALID_REQUEST,
        ),
        (change(TOPIC, "t", (SET, "min.compaction.lag.ms", "1001")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "nonesuch", (SET, "retention.ms", "5")), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (change(TOPIC, "a b", (SET, "retention.ms", "5")), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (change(TOPIC, "", (SET, "retention.ms", "5")), ErrorCode.INVALID_REQUEST),
        (change(BROKER, "1", (SET, "num.partitions", "5")), ErrorCode.INVALID_REQUEST),
        (change(BROKER, "", (SET, "log.retention.hours", "5")), ErrorCode.INVALID_REQUEST),
        (change(BROKER, "1", (SET, "num.io.threads", "0")), ErrorCode.INVALID_REQUEST),
        (change(BROKER, "1", (SET, "sasl.enabled.mechanisms", "PLAIN")), ErrorCode.INVALID_REQUEST),
        (change(TOPIC, "t", (SET, "remote.storage.enable", "true")), ErrorCode.INVALID_CONFIG),
        (change(TOPIC, "t", (SET, "local.retention.ms", "-3")), ErrorCode.INVALID_CONFIG),
        (change(BROKER, "1", (SET, "max.connections", "x")), ErrorCode.INVALID_REQUEST),
        (change(BROKER, "9", (SET, "max.connections", "5")), ErrorCode.BROKER_ID_NOT_REGISTERED),
        (change(BROKER, "one", (SET, "max.connections", "5")), ErrorCode.INVALID_REQUEST),
        (change(8, "1", (SET, "kafka", "DEBUG")), ErrorCode.INVALID_REQUEST),
        (change(CLIENT_METRICS, "m", (SET, "interval.ms", "5")), ErrorCode.INVALID_REQUEST),
        (change(CLIENT_METRICS, "m", (SET, "nope", "5")), ErrorCode.INVALID_REQUEST),
        (change(CLIENT_METRICS, "m", (SET, "match", "colour=red")), ErrorCode.INVALID_CONFIG),
        (change(CLIENT_METRICS, "", (SET, "interval.ms", "500")), ErrorCode.INVALID_REQUEST),
        (change(64, "x", (SET, "interval.ms", "500")), ErrorCode.INVALID_REQUEST),
        (change(GROUP, "", (SET, "consumer.session.timeout.ms", "50000")), ErrorCode.INVALID_REQUEST),
        (change(GROUP, "g", (SET, "nope", "5")), ErrorCode.INVALID_CONFIG),
        (change(GROUP, "g", (SET, "consumer.session.timeout.ms", "soon")), ErrorCode.INVALID_CONFIG),
        (change(GROUP, "g", (SET, "consumer.session.timeout.ms", "44999")), ErrorCode.INVALID_CONFIG),
        (change(GROUP, "g", (SET, "consumer.heartbeat.interval.ms", "15001")), ErrorCode.INVALID_CONFIG),
        (change(GROUP, "g", (SET, "share.session.timeout.ms", "44999")), ErrorCode.INVALID_CONFIG),
    ],
)
def test_what_may_not_be_gets_its_error_and_leaves_no_trace(asked, code):
    cluster = cluster_with_a_topic(log_cleaner_max_compaction_lag_ms="1000")
    before = len(cluster.log)

    assert run(cluster, asked) == [code]
    assert len(cluster.log) == before


def test_a_group_has_settings_within_the_bounds_of_the_brokers():
    cluster = Cluster(group_consumer_min_session_timeout_ms="1000", group_consumer_session_timeout_ms="6000")

    assert run(cluster, change(GROUP, "g", (SET, "consumer.session.timeout.ms", "7000"))) == [ErrorCode.NONE]
    assert cluster.image.configs_of(GROUP, "g") == {"consumer.session.timeout.ms": "7000"}
    too_short = change(GROUP, "g", (SET, "consumer.session.timeout.ms", "5000"))
    assert run(cluster, too_short) == [ErrorCode.INVALID_CONFIG]  # no longer than the heartbeat interval


@pytest.mark.parametrize(
    ("kind", "resource", "name", "value"),
    [
        (TOPIC, "t", "preallocate", "true"),
        (TOPIC, "t", "remote.storage.enable", "false"),
        (TOPIC, "t", "local.retention.ms", "-2"),
        (BROKER, "1", "num.io.threads", "16"),
        (BROKER, "", "log.local.retention.bytes", "1000"),
        (GROUP, "g", "consumer.assignment.interval.ms", "500"),
        (GROUP, "g", "streams.num.standby.replicas", "1"),
    ],
)
def test_what_has_no_effect_is_kept_and_said_to_have_none(kind, resource, name, value, caplog):
    cluster = cluster_with_a_topic()

    assert run(cluster, change(kind, resource, (SET, name, value))) == [ErrorCode.NONE]
    assert cluster.image.configs_of(kind, resource)[name] == value
    is_default = value in ("false", "-2")
    assert (f"Setting {name} has no effect here" in caplog.text) is not is_default


def test_each_resource_is_decided_for_itself():
    cluster = cluster_with_a_topic()

    assert run(
        cluster,
        change(TOPIC, "no", (SET, "retention.ms", "5")),
        change(TOPIC, "t", (SET, "retention.ms", "5")),
    ) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE]


def test_a_resource_that_is_there_twice_is_left_alone():
    cluster = cluster_with_a_topic()

    assert run(
        cluster, change(TOPIC, "t", (SET, "retention.ms", "5")), change(TOPIC, "t", (SET, "segment.ms", "5"))
    ) == [ErrorCode.INVALID_REQUEST]
    assert cluster.image.configs == AT_FIRST


def test_a_trial_answers_and_changes_nothing():
    cluster = cluster_with_a_topic()

    assert run(cluster, change(TOPIC, "t", (SET, "retention.ms", "5")), validate_only=True) == [
        ErrorCode.NONE
    ]
    assert cluster.image.configs == AT_FIRST


def test_the_older_request_replaces_everything():
    cluster = cluster_with_a_topic()
    replace(cluster, TOPIC, "t", {"retention.ms": "5", "segment.ms": "6"})

    assert replace(cluster, TOPIC, "t", {"segment.ms": "7", "retention.bytes": "8"}) == [ErrorCode.NONE]
    assert cluster.image.configs_of(TOPIC, "t") == {"segment.ms": "7", "retention.bytes": "8"}
    assert replace(cluster, TOPIC, "t", {}) == [ErrorCode.NONE]
    assert cluster.image.configs == AT_FIRST


@pytest.mark.parametrize(
    ("configs", "code"),
    [
        ({"nope": "5"}, ErrorCode.INVALID_CONFIG),
        ({"retention.ms": None}, ErrorCode.INVALID_REQUEST),
        ({"retention.ms": "x"}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_the_older_request_checks_as_the_newer_one(configs, code):
    cluster = cluster_with_a_topic()

    assert replace(cluster, TOPIC, "t", configs) == [code]
    assert cluster.image.configs == AT_FIRST


def test_how_many_must_be_in_sync_is_the_same_for_all_brokers():
    cluster, wish = Cluster(), (SET, "min.insync.replicas", "2")

    assert run(cluster, change(BROKER, "1", wish)) == [ErrorCode.INVALID_CONFIG]
    assert run(cluster, change(BROKER, "", wish)) == [ErrorCode.NONE]
    assert run(cluster, change(BROKER, "1", (DELETE, "min.insync.replicas", None))) == [ErrorCode.NONE]
    cluster.append([FeatureLevelRecord("eligible.leader.replicas.version", 0)])
    assert run(cluster, change(BROKER, "1", wish)) == [ErrorCode.NONE]


def test_the_number_that_came_with_elr_can_be_changed_and_not_taken_away():
    cluster = Cluster()

    assert run(cluster, change(BROKER, "", (DELETE, "min.insync.replicas", None))) == [
        ErrorCode.INVALID_CONFIG
    ]
    assert replace(cluster, BROKER, "", {"log.roll.ms": "7"}) == [ErrorCode.INVALID_CONFIG]
    assert cluster.image.configs == AT_FIRST

    assert run(cluster, change(BROKER, "", (SET, "min.insync.replicas", "2"))) == [ErrorCode.NONE]
    assert cluster.image.configs_of(BROKER, "") == {"min.insync.replicas": "2"}


def test_a_name_that_is_nearly_a_setting_gets_the_one_that_is_meant():
    cluster = Cluster()
    request = incremental.IncrementalAlterConfigsRequest(
        [change(GROUP, "g", (SET, "consumer.session.timeout.mss", "5"))]
    )

    (said,) = cluster.run(request).responses
    assert said.error_message.endswith("there is no such setting; did you mean consumer.session.timeout.ms?")
