"""The options that begin with kafka."""

import pytest

from andiron.client.settings import ClientSettings
from andiron.model.settings import SettingError
from andiron.spark.kafka_options import bootstrap_of, kafka_settings, parse_kafka_options

LEAST = {"kafka.bootstrap.servers": "a:1,b:2"}


def test_the_clients_settings_are_passed_on():
    options = parse_kafka_options(
        LEAST
        | {"kafka.client.id": "report", "kafka.max.partition.fetch.bytes": "77", "kafka.check.crcs": "false"}
    )

    assert options.bootstrap == "a:1,b:2"
    assert options.client.client_id == "report"
    assert (options.reader.max_partition_fetch_bytes, options.reader.check_crcs) == (77, False)
    assert options.warnings == ()


def test_a_task_fetches_more_at_a_time_than_a_consumer():
    options = parse_kafka_options(LEAST)

    assert options.client == ClientSettings()
    assert options.reader.max_partition_fetch_bytes == 8 << 20


def test_records_of_open_transactions_are_read_unless_told_otherwise():
    assert not parse_kafka_options(LEAST).committed
    assert parse_kafka_options(LEAST | {"kafka.isolation.level": "read_committed"}).committed
    with pytest.raises(SettingError, match=r"kafka\.isolation\.level: 'both' is neither"):
        parse_kafka_options(LEAST | {"kafka.isolation.level": "both"})


def test_the_cluster_must_be_named():
    assert bootstrap_of({"bootstrap.servers": "c:3"}) == "c:3"
    for told in ({}, {"kafka.bootstrap.servers": " "}, {"kafka.bootstrap.servers": ":"}):
        with pytest.raises(SettingError, match=r"bootstrap\.servers"):
            bootstrap_of(told)


@pytest.mark.parametrize(
    "name",
    [
        "auto.offset.reset",
        "enable.auto.commit",
        "key.deserializer",
        "value.deserializer",
        "interceptor.classes",
    ],
)
def test_what_a_query_decides_by_itself_is_refused(name):
    with pytest.raises(SettingError, match=rf"^kafka\.{name}: not supported: "):
        parse_kafka_options(LEAST | {f"kafka.{name}": "x"})


def test_nobody_talks_in_the_clear_who_was_asked_not_to():
    with pytest.raises(SettingError, match="SASL_SSL is not supported"):
        parse_kafka_options(LEAST | {"kafka.security.protocol": "SASL_SSL"})
    assert parse_kafka_options(LEAST | {"kafka.security.protocol": "plaintext"}).warnings == ()


def test_a_wrong_value_is_told_under_the_name_that_was_given():
    with pytest.raises(SettingError, match=r"^kafka\.request\.timeout\.ms: 'soon' is not a whole number"):
        parse_kafka_options(LEAST | {"kafka.request.timeout.ms": "soon"})


def test_what_has_no_effect_is_told():
    first, second = parse_kafka_options(
        LEAST | {"kafka.max.poll.records": "5", "kafka.group.id": "g"}
    ).warnings

    assert "say group.id (without kafka.)" in first
    assert second == "kafka.max.poll.records has no effect on this source"


def test_settings_go_by_kafkas_names():
    assert kafka_settings(LEAST | {"kafka.acks": "all", "topic": "a"}) == {"acks": "all"}
