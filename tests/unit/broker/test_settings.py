"""Every setting that is listed has the type, the default and the reach that it has in Kafka."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from andiron.broker.kafka_settings import why_refused, why_without_effect
from andiron.broker.settings import BROKER_ROWS, TOPIC_ROWS, BrokerSettings
from andiron.model.settings import rows

KAFKA = json.loads((Path(__file__).parents[2] / "golden" / "kafka_configs.json").read_text())

OUR_OWN = {"metrics.listener"}  # which Kafka does not have
NOT_LIVE_HERE = {
    "listeners": "sockets are opened once, at the start",
    "listener.security.protocol.map": "goes with listeners",
}

ANOTHER_DEFAULT = {
    "socket.receive.buffer.bytes": "Kafka's 100 KiB costs twice the CPU of the system's own for requests of 1 MB",
}

# Topic settings of Kafka that nothing here honours, and so are not listed.
NOT_HERE = {
    "preallocate": "a segment grows as it is written",
    "remote.storage.enable": "there is no tiered storage",
    "remote.log.copy.disable": "there is no tiered storage",
    "remote.log.delete.on.disable": "there is no tiered storage",
    "local.retention.ms": "there is no tiered storage",
    "local.retention.bytes": "there is no tiered storage",
}


# Kafka has these for brokers that run, and not in server.properties.
DYNAMIC_ONLY = {"leader.replication.throttled.rate", "follower.replication.throttled.rate"}


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
    [row for row in BROKER_ROWS.values() if not row.internal and row.name not in DYNAMIC_ONLY | OUR_OWN],
    ids=lambda row: row.name,
)
def test_a_broker_setting_has_kafkas_type_default_and_reach(row):
    type_name, default, live = KAFKA["broker"][row.name]

    assert row.type.name == type_name
    assert (row.render(row.default) == default) == (row.name not in ANOTHER_DEFAULT)
    assert (row.reload == "live") == (live and row.name not in NOT_LIVE_HERE)
    assert row.doc


def test_every_topic_setting_of_kafka_is_listed_or_left_out_on_purpose():
    assert {name for name in KAFKA["topic"] if name not in TOPIC_ROWS} == set(NOT_HERE)


@pytest.mark.parametrize("name", KAFKA["broker"])
def test_every_broker_setting_of_kafka_is_listed_or_accepted_or_refused(name):
    places = [name in BROKER_ROWS, why_without_effect(name) is not None, why_refused(name) is not None]

    assert places[0] or places.count(True) == 1


def test_the_brokers_own_rows_stand_before_those_of_the_topics():
    assert (
        BROKER_ROWS["log.flush.scheduler.interval.ms"]
        is rows(BrokerSettings)["log.flush.scheduler.interval.ms"]
    )
