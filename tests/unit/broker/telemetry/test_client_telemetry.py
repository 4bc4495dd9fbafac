"""Clients push their metrics: who is asked for what, what is taken, and how much of it."""

import pytest

from andiron.broker.telemetry import client_telemetry
from andiron.records.compression import GZIP, NONE, ZSTD, compress
from andiron.wire.messages.api_versions import ApiVersionsRequest
from andiron.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from andiron.wire.messages.push_telemetry import PushTelemetryRequest
from unit.wire.test_otlp import field, metric, pushed
from worlds.node import SmallNode, error_of

CLIENT_METRICS = 16
DATA = pushed(metric("org.apache.kafka.producer.rate", field(4, 2.5)), metric("other", field(4, 1.0)))


@pytest.fixture
def node():
    return SmallNode(telemetry_max_bytes="1000")


def subscribe(node, name="all", **configs):
    configs = {"metrics": "*", "interval.ms": "1000", **configs}
    [result] = node.ask(node.alter_request(CLIENT_METRICS, name, configs)).responses
    assert result.error_code == 0, result.error_message


def ask(node, id=bytes(16), **how):
    return node.ask(GetTelemetrySubscriptionsRequest(id), **how)


def push(node, answer, data=DATA, codec=NONE, subscription_id=None, terminating=False, id=None):
    subscription_id = answer.subscription_id if subscription_id is None else subscription_id
    body = PushTelemetryRequest(id or answer.client_instance_id, subscription_id, terminating, codec, data)
    return error_of(node.ask(body))


def told(node):
    telemetry = node.node.broker.telemetry
    return {
        (client.name, metric): point.value
        for client in telemetry.clients(node.now)
        for (metric, _), point in client.series.items()
    }


def test_without_a_subscription_nothing_is_asked_for(node):
    answer = ask(node)

    assert answer.requested_metrics == []
    assert answer.push_interval_ms == 300_000
    assert answer.client_instance_id != bytes(16)


def test_all_subscriptions_that_mean_a_client_count_together(node):
    node.ask(ApiVersionsRequest("librdkafka", "2.8.0"))
    subscribe(node, "a", metrics="x.,y.", match="client_software_name=librdkafka")
    subscribe(node, "b", metrics="z.", **{"interval.ms": "500"}, match="client_id=te.*")
    subscribe(node, "c", metrics="*", match="client_id=another")

    answer = ask(node)

    assert (answer.requested_metrics, answer.push_interval_ms) == (["x.", "y.", "z."], 500)
    assert answer.telemetry_max_bytes == 1000
    assert not answer.delta_temporality


@pytest.mark.parametrize("codec", [NONE, ZSTD, GZIP])
def test_what_a_client_pushes_is_told(node, codec):
    subscribe(node)
    answer = ask(node)

    assert push(node, answer, compress(codec, DATA) if codec else DATA, codec) == "NONE"

    assert told(node) == {("test", "org.apache.kafka.producer.rate"): 2.5, ("test", "other"): 1.0}


def test_what_was_not_asked_for_is_not_told(node):
    subscribe(node, metrics="org.apache.kafka.producer.")

    push(node, ask(node))

    assert told(node) == {("test", "org.apache.kafka.producer.rate"): 2.5}


def test_a_client_may_ask_one_broker_and_push_to_another(node):
    subscribe(node)
    answer = ask(node)
    node.node.broker.telemetry._clients.clear()

    assert push(node, answer) == "NONE"


def test_each_thing_that_is_wrong_has_its_error(node):
    subscribe(node)
    answer = ask(node)

    assert push(node, answer, id=bytes(16)) == "INVALID_REQUEST"
    assert push(node, answer, subscription_id=answer.subscription_id + 1) == "UNKNOWN_SUBSCRIPTION_ID"
    assert push(node, answer, codec=7) == "UNSUPPORTED_COMPRESSION_TYPE"
    assert push(node, answer, bytes(1001)) == "TELEMETRY_TOO_LARGE"
    assert push(node, answer, b"\xff" * 20) == "INVALID_RECORD"


def test_what_unpacks_to_more_than_is_taken_is_refused(node):
    subscribe(node)

    assert push(node, ask(node), compress(ZSTD, bytes(1 << 20)), ZSTD) != "NONE"


def test_a_client_that_comes_too_often_is_told_so(node):
    subscribe(node)
    answer = ask(node)
    assert error_of(ask(node, answer.client_instance_id)) == "THROTTLING_QUOTA_EXCEEDED"
    assert push(node, answer) == "NONE"
    assert push(node, answer) == "THROTTLING_QUOTA_EXCEEDED"

    node.now += 1_000

    assert push(node, answer) == "NONE"


def test_a_client_that_leaves_may_push_once_more_and_no_more(node):
    subscribe(node)
    answer = ask(node)
    push(node, answer)

    assert push(node, answer, terminating=True) == "NONE"
    assert push(node, answer, terminating=True) == "INVALID_REQUEST"


def test_other_subscriptions_are_asked_for_again(node):
    subscribe(node)
    answer = ask(node)
    subscribe(node, metrics="x.")
    node.now += 1_000

    again = ask(node, answer.client_instance_id)

    assert again.subscription_id != answer.subscription_id
    assert push(node, answer) == "UNKNOWN_SUBSCRIPTION_ID"


def test_a_client_that_pushes_no_more_is_forgotten(node):
    subscribe(node)
    push(node, ask(node))

    node.now += 3_001

    assert told(node) == {}


def test_there_is_room_for_so_many_clients_and_series(node, monkeypatch):
    monkeypatch.setattr(client_telemetry, "CLIENTS_MAX", 3)
    monkeypatch.setattr(client_telemetry, "SERIES_MAX", 4)
    subscribe(node)

    for number in range(5):
        answer = ask(node, client_id=f"client-{number}")
        assert push(node, answer) == "NONE"

    assert {client for client, _ in told(node)} == {"test"} or len(told(node)) <= 4
    assert len(node.node.broker.telemetry._clients) <= 3


def test_one_client_has_room_for_so_many(node, monkeypatch):
    monkeypatch.setattr(client_telemetry, "SERIES_OF_ONE_MAX", 3)
    subscribe(node)

    push(node, ask(node), pushed(*(metric(f"m{number}", field(4, 1.0)) for number in range(10))))

    assert len(told(node)) == 3
    assert node.node.broker.telemetry.dropped == 7


def test_a_connection_that_is_gone_leaves_nothing(node):
    node.connect(7)
    node.ask(ApiVersionsRequest("librdkafka", "2.8.0"), conn=7)

    node.node.broker.disconnected(7, node.now)

    assert 7 not in node.node.broker.telemetry._software
