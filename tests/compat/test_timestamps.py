"""Whose clock a record carries: its writer's, or the broker's."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from peers.clients import Client, Record, Refused
from peers.clients.base import CODECS
from peers.marks import each_client

INVALID_TIMESTAMP = 32
LONG_AGO = 1_500_000_000_000


@each_client("write", "read")
def test_the_brokers_clock_under_log_append_time(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(message_timestamp_type="LogAppendTime")
    before = int(time.time() * 1000)

    client.write(topic, [Record(b"k", b"v", timestamp=LONG_AGO + number) for number in range(10)])

    times = [record.timestamp for record in client.read(topic, end=10)]
    assert all(found is not None and before - 1000 <= found <= time.time() * 1000 + 1000 for found in times)


@pytest.mark.parametrize("codec", CODECS)
def test_a_compressed_batch_is_restamped_without_harm(
    connect: Callable[[str], Client], make_topic: Callable[..., str], codec: str
) -> None:
    """The stamp lies in the header, so the checksum must be made anew; the consumer checks it."""
    topic = make_topic(message_timestamp_type="LogAppendTime")
    client = connect("confluent")
    records = [Record(b"key %d" % number, b"value " * 20) for number in range(100)]

    client.write(topic, records, codec=codec)

    found = connect("aiokafka").read(topic, end=100)
    assert [(record.key, record.value) for record in found] == [
        (record.key, record.value) for record in records
    ]


@pytest.mark.parametrize("client", ["confluent", "kafka_python", "aiokafka", "java"], indirect=True)
def test_a_timestamp_too_far_ahead_is_refused(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(message_timestamp_after_max_ms="3600000")
    tomorrow = int(time.time() * 1000) + 86_400_000

    with pytest.raises(Refused) as refused:
        client.write(topic, [Record(b"k", b"v", timestamp=tomorrow)])

    assert refused.value.code == INVALID_TIMESTAMP
