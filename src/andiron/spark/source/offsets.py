"""Offsets in Spark's JSON (checkpoint, startingOffsets, progress), and the places where reading may start or end.

    {"orders": {"0": 17, "1": 4}, "payments": {"0": 99}}

is an offset of the whole source, in the form of Spark's own Kafka source: in `startingOffsets`, in a
checkpoint and in a query's progress. It names the next record of each partition, not the last one read.
In an option -2 stands for the earliest record there is and -1 for the end of the log.

    {"orders": {"0": 17, "1": 4}, "orders@vPEpV0A2QhGyyWGwFgFVbQ": {}}

is the same with the topic's id, as this source writes it: a topic of that name that is made later has other records
under the same offsets. No topic is called so, and Spark's own source reads the entry as a topic of which no
partition was read; so a checkpoint goes from the one source to the other and back. What comes back without ids
is taken to be of the topics that are there.

    {"orders": {"0": 17, "1": 4}, "orders@0=12,1=4": {}, "orders@vPEpV0A2QhGyyWGwFgFVbQ": {}}

is where the first batch of a query ends, and with it where that begins: Spark keeps no start of a source in Python.

The law: Spark compares two offsets by their text, so the same offset must always be written the same way.
`to_json` therefore sorts; a batch would otherwise be run for every new order of the keys.

Read next: plan.py, where two offsets become the ranges of a batch.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.model.settings import MAX_LONG, SettingError

Offsets: TypeAlias = dict[TopicPartition, int]
Ids: TypeAlias = dict[str, str]  # of topics, by name

ID_MARK, START_MARK = "@", "="  # neither can be in the name of a topic, nor the second in an id
SHOWN_MAX = 8
_OFFSETS_EXAMPLE = '{"orders": {"0": 23, "1": -1}}, where -2 is the earliest and -1 the latest'
_TIMES_EXAMPLE = '{"orders": {"0": 1767225600000}} in milliseconds since 1970'
_ASSIGN_EXAMPLE = '{"orders": [0, 1]}'


class ForeignCheckpoint(AndironError):
    """The checkpoint holds an offset that is none of this source."""


# ── the places that options can name ─────────────────────────────────────────────────


class Everywhere(NamedTuple):
    """The same place in every partition: EARLIEST or LATEST."""

    offset: int


class AtOffsets(NamedTuple):
    """An offset for each partition, which may be EARLIEST or LATEST."""

    offsets: Offsets


class AtTime(NamedTuple):
    """The first record at or after a time (ms), in every partition."""

    timestamp: int


class AtTimes(NamedTuple):
    """The first record at or after a time (ms), partition by partition."""

    timestamps: dict[TopicPartition, int]


Place: TypeAlias = Everywhere | AtOffsets | AtTime | AtTimes


def parse_place(option: str, text: str) -> Place:
    """What `startingOffsets` or `endingOffsets` says: earliest, latest or JSON."""
    match text.strip().lower():
        case "earliest":
            return Everywhere(EARLIEST)
        case "latest":
            return Everywhere(LATEST)
    offsets = _parse_numbers(option, text, _OFFSETS_EXAMPLE)
    for partition, offset in offsets.items():
        if offset < EARLIEST:
            raise SettingError(option, f"{offset} for {partition} is no offset; expected {_OFFSETS_EXAMPLE}")
    return AtOffsets(offsets)


def parse_time(option: str, text: str) -> AtTime:
    """What `startingTimestamp` or `endingTimestamp` says."""
    if not _is_whole_number(text.strip()):
        raise SettingError(option, f"{text!r} is not a time; expected milliseconds since 1970")
    return AtTime(int(text))


def parse_times(option: str, text: str) -> AtTimes:
    """What `startingOffsetsByTimestamp` or `endingOffsetsByTimestamp` says."""
    return AtTimes(_parse_numbers(option, text, _TIMES_EXAMPLE))


def parse_partitions(option: str, text: str) -> tuple[TopicPartition, ...]:
    """What `assign` says."""
    found = []
    for topic, numbers in _parse_object(option, text, _ASSIGN_EXAMPLE).items():
        if not isinstance(numbers, list) or not all(type(each) is int and each >= 0 for each in numbers):
            raise SettingError(option, f"{text!r} is not understood; expected e.g. {_ASSIGN_EXAMPLE}")
        found += [TopicPartition(topic, each) for each in numbers]
    if not found:
        raise SettingError(option, f"{text!r} names no partition; expected e.g. {_ASSIGN_EXAMPLE}")
    return tuple(sorted(set(found)))


# ── as Spark keeps them ──────────────────────────────────────────────────────────────


def to_json(
    offsets: Mapping[TopicPartition, int],
    ids: Mapping[str, str] | None = None,
    begun: Mapping[TopicPartition, int] | None = None,
) -> dict[str, dict[str, int]]:
    """An offset in Spark's form, its keys in order; with the ids of its topics, as far as they are given, and with
    where the query began, if this is the end of its first batch."""
    told = _by_topic(offsets)
    for topic, numbers in _by_topic(begun or {}).items():
        text = ",".join(f"{partition}{START_MARK}{offset}" for partition, offset in numbers.items())
        told[f"{topic}{ID_MARK}{text}"] = {}
    for topic in _by_topic(offsets):
        if ids and topic in ids:
            told[f"{topic}{ID_MARK}{ids[topic]}"] = {}
    return told


def _by_topic(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for partition in sorted(offsets):
        found.setdefault(partition.topic, {})[str(partition.partition)] = offsets[partition]
    return found


def of_json(told: Any) -> Offsets:
    """An offset that Spark hands back, from this run or from a checkpoint."""
    offsets = _numbers_in(told)
    if offsets is None or any(offset < 0 for offset in offsets.values()):
        raise ForeignCheckpoint(
            f"the checkpoint has {json.dumps(told)[:200]} where this source keeps the offsets of its topics: "
            "it belongs to another query; give this one a checkpointLocation of its own"
        )
    return offsets


def ids_in(told: Mapping[str, Any]) -> Ids:
    """The ids of topics in an offset."""
    marked = (each.partition(ID_MARK) for each in told)
    return {topic: id for topic, _, id in marked if id and START_MARK not in id}


def begun_in(told: Mapping[str, Any]) -> Offsets | None:
    """Where the query began, if this is the end of its first batch."""
    found: Offsets = {}
    for topic, _, starts in (each.partition(ID_MARK) for each in told):
        for start in starts.split(",") if START_MARK in starts else ():
            partition, _, offset = start.partition(START_MARK)
            found[TopicPartition(topic, int(partition))] = int(offset)
    return found or None


def shown(partitions: Collection[TopicPartition]) -> str:
    """Some partitions in a line, and how many more there are."""
    names = [str(each) for each in sorted(partitions)]
    if len(names) > SHOWN_MAX:
        names[SHOWN_MAX:] = [f"and {len(names) - SHOWN_MAX} more"]
    return ", ".join(names) or "none"


def topics_of(partitions: Iterable[TopicPartition]) -> list[str]:
    """The topics of some partitions, by name."""
    return sorted({each.topic for each in partitions})


# ── numbers by partition, in JSON ────────────────────────────────────────────────────


def _parse_numbers(option: str, text: str, example: str) -> dict[TopicPartition, int]:
    numbers = _numbers_in(_parse_object(option, text, example))
    if numbers is None:
        raise SettingError(option, f"{text!r} is not understood; expected e.g. {example}")
    return numbers


def _parse_object(option: str, text: str, example: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise SettingError(option, f"{text!r} is not understood; expected e.g. {example}")
    return told


def _numbers_in(told: Any) -> dict[TopicPartition, int] | None:
    """{topic: {partition: number}}; None for anything else."""
    found: dict[TopicPartition, int] = {}
    if not isinstance(told, dict):
        return None
    for topic, numbers in told.items():
        if not isinstance(numbers, dict):
            return None
        for partition, number in numbers.items():
            if not (partition.isascii() and partition.isdigit()) or type(number) is not int:
                return None
            if abs(number) > MAX_LONG:
                return None
            found[TopicPartition(topic, int(partition))] = number
    return found


def _is_whole_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and abs(int(digits)) <= MAX_LONG
