"""What Kafka's own command line tools say, as tests want it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from peers import clients
from peers.clients.base import LATEST
from peers.kafka_tools import shared_tools

CONSUMER_GROUPS = "kafka-consumer-groups"
FORMATTERS = "org.apache.kafka.tools.consumer"


def run(tool: str, bootstrap: str, *arguments: str) -> str:
    """What a tool prints that asks the brokers at some addresses; it must succeed."""
    said = shared_tools().run(tool, "--bootstrap-server", bootstrap, *arguments)
    assert said.code == 0, (said.out + said.err)[-3000:]
    return said.out


def consumer_groups(bootstrap: str, *arguments: str) -> list[dict[str, str]]:
    """The table that kafka-consumer-groups prints, as rows by its headings."""
    lines = [
        line.split() for line in run(CONSUMER_GROUPS, bootstrap, *arguments).splitlines() if line.strip()
    ]
    return [dict(zip(lines[0], row, strict=False)) for row in lines[1:]]


def formatted(bootstrap: str, formatter: str, topic: str, partition: int) -> Iterator[Any]:
    """A partition's records, as one of the console consumer's formatters writes them in JSON."""
    end = clients.connect("confluent", bootstrap).list_offset(topic, partition, LATEST)
    what = ["--topic", topic, "--partition", str(partition), "--offset", "earliest"]
    how = ["--formatter", f"{FORMATTERS}.{formatter}", "--max-messages", str(end), "--timeout-ms", "5000"]
    printed = run("kafka-console-consumer", bootstrap, *what, *how).strip()
    decoder, at = json.JSONDecoder(), 0
    while at < len(printed):  # they stand one after the other, with nothing between them
        record, at = decoder.raw_decode(printed, at)
        yield record


def partition_of(group: str, partitions: int) -> int:
    """Where a group is kept: by the hash that Java has of its name."""
    number = 0
    for character in group:
        number = (31 * number + ord(character)) & 0xFFFFFFFF
    return min(number, (1 << 32) - number) % partitions
