"""Every setting that is listed has the type, the default and the reach that it has in Kafka."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from andiron.broker.settings.broker_settings import BROKER_ROWS, GROUP_ROWS, TOPIC_ROWS, BrokerSettings
from andiron.broker.settings.inert_settings import inert_rows
from andiron.broker.telemetry.client_metrics import CLIENT_METRICS_ROWS
from andiron.model.settings import rows

KAFKA = json.loads((Path(__file__).parents[3] / "golden" / "kafka_configs.json").read_text())

OUR_OWN = {"metrics.listener", "network.threads.busy.ratio"}  # which Kafka does not have
NOT_LIVE_HERE = {
    "listeners": "sockets are opened once, at the start",
    "listener.security.protocol.map": "goes with listeners",
}

ANOTHER_DEFAULT = {
    "socket.receive.buffer.bytes": "Kafka's 100 KiB costs twice the CPU of the system's own for requests of 1 MB",
}


@pytest.mark.parametrize(
    "row", [row for row in TOPIC_ROWS.values() if not row.internal], ids=lambda row: row.name
)
def test_a_topic_setting_has_kafkas_type_default_and_synonyms(row):
    type_name, default, synonyms = KAFKA["topic"][row.name]

    assert row.type.name == type_name
    assert row.render(row.default) == default
    assert [f"{synonym.name}*{synonym.scale}" for synonym in row.synonyms] == synonyms
    assert row.doc


@pytest.mark.parametrize(
    "row",
    [row for row in BROKER_ROWS.values() if not row.internal and row.name not in OUR_OWN],
    ids=lambda row: row.name,
)
def test_a_broker_setting_has_kafkas_type_default_and_reach(row):
    type_name, default, live = KAFKA["broker"][row.name]

    assert row.type.name == type_name
    assert (row.render(row.default) == default) == (row.name not in ANOTHER_DEFAULT)
    assert (row.reload == "live") == (live and row.name not in NOT_LIVE_HERE)
    assert row.doc


@pytest.mark.parametrize("row", GROUP_ROWS.values(), ids=lambda row: row.name)
def test_a_group_setting_has_kafkas_type_default_and_synonym(row):
    type_name, default, synonym = KAFKA["group"][row.name]

    assert row.type.name == type_name
    assert row.render(row.default) == default
    assert [each.name for each in row.synonyms] == ([synonym] if synonym else [])
    assert row.doc


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        ("topic", TOPIC_ROWS),
        ("broker", BROKER_ROWS),
        ("group", GROUP_ROWS),
        ("client metrics", CLIENT_METRICS_ROWS),
    ],
)
def test_every_setting_of_kafka_is_listed(kind, table):
    assert [name for name in KAFKA[kind] if name not in table] == []


def test_a_setting_is_honoured_or_without_effect_and_not_both():
    honoured = [name for name, row in BROKER_ROWS.items() if not row.inert]

    assert set(inert_rows()).isdisjoint(honoured)


def test_the_brokers_own_rows_stand_before_those_of_the_topics():
    assert (
        BROKER_ROWS["log.flush.scheduler.interval.ms"]
        is rows(BrokerSettings)["log.flush.scheduler.interval.ms"]
    )
