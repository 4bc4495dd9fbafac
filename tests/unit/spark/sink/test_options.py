"""Options of a write are checked before it begins."""

from __future__ import annotations

import pickle

import pytest

from andiron.model.settings import SettingError
from andiron.spark.sink.options import SinkOptions, parse_sink_options

WHERE = {"kafka.bootstrap.servers": "localhost:9092"}


def parsed(streaming: bool = True, **given: str) -> SinkOptions:
    told = {name.replace("__", "."): value for name, value in given.items()}
    return parse_sink_options({**WHERE, **told}, streaming=streaming)


def test_a_sink_is_exactly_once_unless_told_otherwise() -> None:
    assert parsed().exactly_once
    assert parsed().two_phase
    assert not parsed(delivery__guarantee="at_least_once").exactly_once


def test_settings_of_producer_and_client_are_taken_under_their_names() -> None:
    options = parsed(
        kafka__compression__type="zstd",
        kafka__batch__size="1000",
        kafka__client__id="me",
        kafka__linger__ms="5",
    )

    assert (options.producer.compression_type, options.producer.batch_size) == ("zstd", 1000)
    assert options.client.client_id == "me"
    assert options.warnings == ()


def test_what_has_no_effect_is_warned_of() -> None:
    assert parsed(kafka__metric__reporters="x").warnings == (
        "kafka.metric.reporters has no effect on this sink",
    )


def test_how_transactions_are_held_can_be_said() -> None:
    options = parsed(
        **{"kafka.transaction.timeout.ms": "5000", "kafka.transaction.two.phase.commit.enable": "false"}
    )

    assert (options.timeout_ms, options.two_phase) == (5000, False)


def test_names_are_taken_in_any_case() -> None:
    options = parse_sink_options(
        {**WHERE, "failOnDataLoss": "false", "checkpointLocation": "/c"}, streaming=True
    )

    assert (options.fail_on_data_loss, options.checkpoint) == (False, "/c")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("kafka.key.serializer", "x", "kafka.key.serializer: not supported: keys are written as the bytes"),
        ("kafka.value.serializer", "x", "kafka.value.serializer: not supported"),
        ("kafka.transactional.id", "x", "the sink has transactional ids of its own"),
        ("kafka.security.protocol", "SSL", "SSL is not supported"),
        ("kafka.acks", "1", "exactly once needs acks=all"),
        ("kafka.enable.idempotence", "false", "exactly once needs acks=all and enable.idempotence=true"),
        ("kafka.compression.type", "best", "kafka.compression.type"),
        ("kafka.transaction.timeout.ms", "-1", "not a number of milliseconds"),
        ("kafka.transaction.two.phase.commit.enable", "maybe", "neither true nor false"),
        ("delivery.guarantee", "twice", "'twice' is neither exactly_once nor at_least_once"),
        ("sink.id", "a/b", "expected letters, digits"),
        ("topic", " ", "topic: empty"),
        ("failOnDataLoss", "no", "failOnDataLoss: 'no' is neither"),
        ("group.id", "g", "say the checkpointLocation"),
        ("kafka.bootstrap.servers", " ", "must be given"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, value: str, complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        parse_sink_options({**WHERE, name: value}, streaming=True)


def test_acks_may_be_what_they_like_at_least_once() -> None:
    assert parsed(delivery__guarantee="at_least_once", kafka__acks="1").producer.acks == "1"


def test_a_group_needs_a_stream_and_a_transaction() -> None:
    given = {"group__id": "g", "checkpointlocation": "/c"}

    assert parsed(**given).group == "g"
    with pytest.raises(SettingError, match="a batch write has no source"):
        parsed(streaming=False, **given)
    assert parsed(streaming=False, sink__id="s", **given).group == "g"
    with pytest.raises(SettingError, match="with at_least_once there is no transaction"):
        parsed(delivery__guarantee="at_least_once", **given)


def test_options_travel_to_the_tasks() -> None:
    options = parsed(topic="t", sink__id="s")

    assert pickle.loads(pickle.dumps(options)) == options
