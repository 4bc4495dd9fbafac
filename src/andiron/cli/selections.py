"""Partitions on the command line: `orders`, `orders:3` or `orders:0-3,7`, parsed and printed.

A topic's name has no colon, so the first one ends it. Without numbers all partitions of the topic are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import click

from andiron.client.blocking.client import Client
from andiron.model.ids import TopicPartition

_NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_PARTITIONS_MAX = 1_000_000  # 0-999999999 is a slip of the finger, and a list that takes minutes to make


class Selection(NamedTuple):
    """A topic, and some of its partitions or all."""

    topic: str
    numbers: list[int] | None


def as_selections(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> list[Selection]:
    """What --topic takes, once or more often."""
    try:
        return [parse_selection(text) for text in values]
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


def parse_selection(text: str) -> Selection:
    """A topic, with some of its partitions or all, as `orders:0-3,7`."""
    topic, colon, numbers = text.partition(":")
    if not topic or (colon and not numbers):
        raise ValueError(f"{text!r} is not of the form TOPIC, TOPIC:3 or TOPIC:0-3,7")
    return Selection(topic, _numbers(text, numbers) if colon else None)


def chosen(client: Client, selections: Iterable[Selection]) -> list[TopicPartition]:
    """The partitions that were selected; all of them must exist."""
    found: dict[TopicPartition, None] = {}
    for topic, numbers in selections:
        there = client.topic(topic).names()
        wanted = there if numbers is None else [TopicPartition(topic, number) for number in numbers]
        for partition in wanted:
            client.metadata.partition(partition)
            found[partition] = None
    return list(found)


def show_partitions(partitions: Iterable[TopicPartition]) -> str:
    """`orders:0-3,7 payments:1`."""
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    return " ".join(f"{topic}:{_spans(numbers)}" for topic, numbers in topics.items())


def partitions_as_json(partitions: Iterable[TopicPartition]) -> list[dict[str, Any]]:
    """Partitions as JSON."""
    return [{"topic": topic, "partition": number} for topic, number in partitions]


def _numbers(text: str, numbers: str) -> list[int]:
    found: list[int] = []
    for part in numbers.split(","):
        span = _NUMBERS.fullmatch(part.strip())
        if not span:
            raise ValueError(f"{part!r} in {text!r} is not a partition, or a range such as 0-3")
        first, last = int(span[1]), int(span[2] or span[1])
        if not first <= last < _PARTITIONS_MAX:
            raise ValueError(f"{part!r} in {text!r} is not a range of partitions")
        found.extend(range(first, last + 1))
    return found


def _spans(numbers: list[int]) -> str:
    spans: list[tuple[int, int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1] = spans[-1][0], number
        else:
            spans.append((number, number))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
