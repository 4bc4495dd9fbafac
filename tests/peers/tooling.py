"""Kafka's own command line tools, in virtual machines of their own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from peers import clients, jars
from peers.clients.base import LATEST

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FORMATTERS = "org.apache.kafka.tools.consumer"
OPTIONS = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.level=OFF"]


def run(main: str, bootstrap: str, *arguments: str, by: Sequence[str] = ("--bootstrap-server",)) -> str:
    """What a tool prints, given the addresses of brokers, or `by` something else of what it asks."""
    command = [jars.java(), *OPTIONS, "-cp", jars.server_jars().classpath, main]
    command += [*by, bootstrap, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


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
    printed = run(CONSOLE_CONSUMER, bootstrap, *what, *how).strip()
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
