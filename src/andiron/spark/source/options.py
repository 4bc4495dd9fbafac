"""The options of a read, under the names that Spark's own Kafka source has, checked once and kept typed.

    .option("kafka.bootstrap.servers", "localhost:9092")    kafka.*       the client's: kafka_options.py
    .option("subscribe", "orders")                          which         exactly one of three
    .option("startingOffsets", "earliest")                  from where    or …OffsetsByTimestamp, or …Timestamp
    .option("maxOffsetsPerTrigger", 100_000)                how much      a stream's batches
    .option("group.id", "orders-report")                    ours          progress as that group's lag

What cannot be is refused before a query starts, in one line that names the option. An option that nobody
knows is passed over, as the original does, but not silently where it looks like a slip of the pen: whoever
misspells failOnDataLoss wants to be told.

Options come with their names in lower case; here they are looked up so.

Read next: offsets.py for the places to start and end at, plan.py for the limits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.ids import TopicPartition
from andiron.model.settings import DAY, HOUR, MAX_INT, MAX_LONG, MINUTE, SECOND, SettingError
from andiron.spark.kafka_options import PREFIX, KafkaOptions, parse_kafka_options
from andiron.spark.source.offsets import (
    AtOffsets,
    AtTimes,
    Everywhere,
    Place,
    parse_partitions,
    parse_place,
    parse_time,
    parse_times,
)
from andiron.spark.source.patterns import BadPattern, compile_java
from andiron.spark.source.plan import MAX_TRIGGER_DELAY_MS, Limits

SUBSCRIBE, PATTERN, ASSIGN = "subscribe", "subscribePattern", "assign"
WHICH = (SUBSCRIBE, PATTERN, ASSIGN)
STRATEGY = "startingOffsetsByTimestampStrategy"
OF_BATCHES = ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp")
OF_STREAMS = (
    "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxBytesPerTrigger", "maxTriggerDelay", "group.id",
)  # fmt: skip
OF_BOTH = (
    *WHICH, "startingOffsets", "startingOffsetsByTimestamp", "startingTimestamp", STRATEGY, "failOnDataLoss",
    "includeHeaders", "minPartitions", "maxRecordsPerPartition", "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs", "kafkaConsumer.pollTimeoutMs", "groupIdPrefix",
)  # fmt: skip
POLL_TIMEOUT_MS = 2 * MINUTE  # as Spark's own source: its network timeout
ALIKE = 0.8  # how close a name is to one of ours before its owner is asked

_UNITS_MS = {"": 1, "ms": 1, "s": SECOND, "m": MINUTE, "min": MINUTE, "h": HOUR, "d": DAY}


class TopicChoice(NamedTuple):
    """The partitions that are read: of some topics, of those with a matching name, or these alone."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: tuple[TopicPartition, ...] = ()

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"{PATTERN}={self.pattern}"
        if self.partitions:
            return f"{ASSIGN}={', '.join(map(str, self.partitions))}"
        return f"{SUBSCRIBE}={','.join(self.topics)}"

    def matches(self, topic: str) -> bool:
        """Whether the pattern matches the whole name."""
        return self.pattern is not None and compile_java(self.pattern).fullmatch(topic) is not None

    def includes(self, partition: TopicPartition) -> bool:
        """Whether this partition is one of them, if it is there."""
        if self.pattern is not None:
            return self.matches(partition.topic)
        return partition in self.partitions if self.partitions else partition.topic in self.topics


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """All that a reader needs to know; made in the driver, and pickled to the tasks."""

    kafka: KafkaOptions
    which: TopicChoice
    starting: Place
    ending: Place
    late_start_is_latest: bool  # where no record is as new as a starting time: the end instead of an error
    fail_on_data_loss: bool
    include_headers: bool
    min_partitions: int | None
    max_records_per_partition: int | None
    limits: Limits
    group: str | None
    offset_attempts: int
    offset_interval_ms: int
    poll_timeout_ms: int
    warnings: tuple[str, ...]


def parse_options(given: Mapping[str, str], *, streaming: bool) -> SourceOptions:
    """The options of a stream or of a batch; SettingError says what is wrong with them."""
    told = {name.lower(): value for name, value in given.items()}
    kafka = parse_kafka_options(told)
    which = _which(told)
    limits = _limits(told)
    starting = _place(told, "starting", Everywhere(LATEST if streaming else EARLIEST))
    ending = _place(told, "ending", Everywhere(LATEST))
    if streaming:
        _refuse_ends(told)
    else:
        _check_ends(starting, ending)
    return SourceOptions(
        kafka=kafka,
        which=which,
        starting=starting,
        ending=ending,
        late_start_is_latest=_strategy(told),
        fail_on_data_loss=_flag(told, "failOnDataLoss", True),
        include_headers=include_headers(told),
        min_partitions=_count(told, "minPartitions", most=MAX_INT),
        max_records_per_partition=_count(told, "maxRecordsPerPartition"),
        limits=limits,
        group=told.get("group.id", "").strip() or None,
        offset_attempts=_count(told, "fetchOffset.numRetries", most=MAX_INT) or 3,
        offset_interval_ms=_duration(told, "fetchOffset.retryIntervalMs", SECOND),
        poll_timeout_ms=_duration(told, "kafkaConsumer.pollTimeoutMs", POLL_TIMEOUT_MS),
        warnings=(*kafka.warnings, *_slips(told), *_idle(told, streaming)),
    )


def include_headers(given: Mapping[str, str]) -> bool:
    """Whether rows have headers: the one option that the schema depends on."""
    return _flag({name.lower(): value for name, value in given.items()}, "includeHeaders", False)


# ── topics, starting and ending offsets, limits ──────────────────────────────────────


def _which(told: Mapping[str, str]) -> TopicChoice:
    chosen = [name for name in WHICH if name.lower() in told]
    if len(chosen) != 1:
        said = f"{' and '.join(chosen)} are given" if chosen else "none is given"
        raise SettingError(", ".join(WHICH), f"exactly one of these says what to read, and {said}")
    name = chosen[0]
    text = told[name.lower()].strip()
    if name == ASSIGN:
        return TopicChoice(partitions=parse_partitions(ASSIGN, text))
    if name == PATTERN:
        return TopicChoice(pattern=_pattern(text))
    topics = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not topics:
        raise SettingError(SUBSCRIBE, f"{text!r} names no topic; expected e.g. orders,payments")
    return TopicChoice(topics=topics)


def _pattern(text: str) -> str:
    if not text:
        raise SettingError(PATTERN, "empty; expected e.g. orders-.*")
    try:
        compile_java(text)
    except BadPattern as error:
        raise SettingError(PATTERN, f"{text!r} is no regular expression: {error}") from None
    return text


def _place(told: Mapping[str, str], side: str, default: Place) -> Place:
    """Where to start or end: a time for all, times by partition, offsets; the first that is given."""
    for name, parse in (
        (f"{side}Timestamp", parse_time),
        (f"{side}OffsetsByTimestamp", parse_times),
        (f"{side}Offsets", parse_place),
    ):
        if name.lower() in told:
            return parse(name, told[name.lower()])
    return default


def _strategy(told: Mapping[str, str]) -> bool:
    text = told.get(STRATEGY.lower(), "error").strip().lower()
    if text not in ("error", "latest"):
        raise SettingError(STRATEGY, f"{text!r} is neither error nor latest")
    return text == "latest"


def _limits(told: Mapping[str, str]) -> Limits:
    limits = Limits(
        max_offsets=_count(told, "maxOffsetsPerTrigger"),
        max_bytes=_count(told, "maxBytesPerTrigger"),
        min_offsets=_count(told, "minOffsetsPerTrigger"),
        max_delay_ms=_duration(told, "maxTriggerDelay", MAX_TRIGGER_DELAY_MS),
    )
    if (limits.min_offsets or 0) > (limits.max_offsets or MAX_LONG):
        raise SettingError(
            "minOffsetsPerTrigger",
            f"{limits.min_offsets} is more than maxOffsetsPerTrigger, which is {limits.max_offsets}",
        )
    return limits


def _refuse_ends(told: Mapping[str, str]) -> None:
    for name in OF_BATCHES:
        if name.lower() in told:
            raise SettingError(name, "a stream has no end; this is for batch reads (spark.read)")


def _check_ends(starting: Place, ending: Place) -> None:
    if starting == Everywhere(LATEST) or (
        isinstance(starting, AtOffsets) and LATEST in starting.offsets.values()
    ):
        raise SettingError(
            "startingOffsets", "a batch read cannot start at latest: there is nothing after it"
        )
    if ending == Everywhere(EARLIEST) or (
        isinstance(ending, AtOffsets) and EARLIEST in ending.offsets.values()
    ):
        raise SettingError("endingOffsets", "a batch read cannot end at earliest: there is nothing before it")
    if isinstance(starting, AtOffsets) and isinstance(ending, AtOffsets):
        _check_pairs("endingOffsets", starting.offsets, ending.offsets)
    if isinstance(starting, AtTimes) and isinstance(ending, AtTimes):
        _check_pairs("endingOffsetsByTimestamp", starting.timestamps, ending.timestamps)


def _check_pairs(name: str, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> None:
    if starts.keys() != ends.keys():
        odd = min(starts.keys() ^ ends.keys())
        raise SettingError(name, f"start and end must name the same partitions, and only one names {odd}")
    for partition, start in starts.items():
        if 0 <= ends[partition] < start:
            raise SettingError(
                name, f"{partition} would end at {ends[partition]}, before it starts at {start}"
            )


# ── one value ────────────────────────────────────────────────────────────────────────


def _flag(told: Mapping[str, str], name: str, default: bool) -> bool:
    text = told.get(name.lower(), str(default)).strip().lower()
    if text not in ("true", "false"):
        raise SettingError(name, f"{text!r} is neither true nor false")
    return text == "true"


def _count(told: Mapping[str, str], name: str, most: int = MAX_LONG) -> int | None:
    text = told.get(name.lower())
    if text is None:
        return None
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= most):
        raise SettingError(name, f"{text!r} is not a whole number of at least 1")
    return int(digits)


def _duration(told: Mapping[str, str], name: str, default_ms: int) -> int:
    """A time span as Spark writes them: 15m, 90s, 2h; a number alone is milliseconds."""
    text = told.get(name.lower())
    if text is None:
        return default_ms
    parts = re.fullmatch(r"(\d{1,15})\s*([a-z]*)", text.strip().lower(), re.ASCII)
    if parts is None or parts[2] not in _UNITS_MS:
        raise SettingError(name, f"{text!r} is not a time span; expected e.g. 15m, 90s or 500ms")
    return int(parts[1]) * _UNITS_MS[parts[2]]


# ── warnings ─────────────────────────────────────────────────────────────────────────


def _slips(told: Mapping[str, str]) -> list[str]:
    """Unknown options whose names are nearly those of known ones."""
    ours = {name.lower(): name for name in (*OF_BOTH, *OF_STREAMS, *OF_BATCHES)}
    found = []
    for name in told:
        if name not in ours and not name.startswith(PREFIX):
            for meant in get_close_matches(name, ours, n=1, cutoff=ALIKE):
                found.append(f"option {name!r} is not known here and has no effect; is {ours[meant]} meant?")
    return found


def _idle(told: Mapping[str, str], streaming: bool) -> list[str]:
    if streaming:
        return []
    return [f"{name} has no effect on a batch read" for name in OF_STREAMS if name.lower() in told]
