"""The options that begin with `kafka.`: how to reach the cluster, and how to read from it.

    kafka.bootstrap.servers            where the cluster is; the one option nobody can do without
    kafka.isolation.level              read_uncommitted, as everywhere in Kafka, or read_committed
    kafka.max.partition.fetch.bytes    and every other setting that the client has
    kafka.auto.offset.reset            and others that a query decides by itself: refused
    kafka.session.timeout.ms           and whatever has no meaning here: a warning

Security settings are refused rather than passed over: a query that is asked to encrypt must not talk in
the clear.

Read next: options.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from andiron.client.core.addresses import parse_addresses
from andiron.client.settings import ClientSettings, ReaderSettings
from andiron.model.settings import MIB, SettingError, parse, rows

T = TypeVar("T")

PREFIX = "kafka."
BOOTSTRAP = "kafka.bootstrap.servers"
ISOLATION = "isolation.level"
FETCH_BYTES = {"max.partition.fetch.bytes": str(8 * MIB)}  # a task reads one partition, and reads it all

_NOT_HERE = {
    "auto.offset.reset": "a query keeps its own offsets; say startingOffsets=earliest or latest instead, "
    "which counts for a query without a checkpoint",
    "enable.auto.commit": "a query keeps its own offsets in its checkpoint; group.id mirrors them to a group",
    "key.deserializer": "keys are read as bytes; convert them by DataFrame functions such as cast",
    "value.deserializer": "values are read as bytes; convert them by DataFrame functions such as cast",
    "interceptor.classes": "there are no interceptors here: they could change what is read",
}
_NO_GROUP = (
    "kafka.group.id has no effect: this source reads without a group; "
    "say group.id (without kafka.) to have its progress mirrored into one"
)


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    """How a driver and its tasks reach the cluster and read from it."""

    bootstrap: str
    client: ClientSettings
    reader: ReaderSettings
    committed: bool
    warnings: tuple[str, ...] = ()


def bootstrap_of(told: Mapping[str, str]) -> str:
    """kafka.bootstrap.servers of a query's options, whose names are in lower case."""
    text = told.get(BOOTSTRAP, told.get(BOOTSTRAP.removeprefix(PREFIX), "")).strip()
    if not text:
        raise SettingError(BOOTSTRAP, "must be given: a broker or several, such as localhost:9092")
    parse_addresses(text)
    return text


def kafka_settings(told: Mapping[str, str]) -> dict[str, str]:
    """What was given under `kafka.`, by Kafka's names, without the brokers' addresses."""
    given = {name.removeprefix(PREFIX): value for name, value in told.items() if name.startswith(PREFIX)}
    given.pop(BOOTSTRAP.removeprefix(PREFIX), None)
    return given


def refuse_security(given: Mapping[str, str]) -> None:
    """Refuse any security.protocol but PLAINTEXT, instead of going on without it."""
    protocol = given.get("security.protocol", "PLAINTEXT").strip().upper()
    if protocol != "PLAINTEXT":
        raise SettingError("kafka.security.protocol", f"{protocol} is not supported here; PLAINTEXT alone is")


def parse_kafka_options(told: Mapping[str, str]) -> KafkaOptions:
    """The `kafka.` options of a read; names in lower case."""
    bootstrap = bootstrap_of(told)
    given = kafka_settings(told)
    for name, why in _NOT_HERE.items():
        if name in given:
            raise SettingError(PREFIX + name, f"not supported: {why}")
    refuse_security(given)
    committed = _committed(given.pop(ISOLATION, "read_uncommitted"))
    client, reader = rows(ClientSettings), rows(ReaderSettings)
    return KafkaOptions(
        bootstrap,
        parse_kafka(ClientSettings, {name: value for name, value in given.items() if name in client}),
        parse_kafka(
            ReaderSettings, FETCH_BYTES | {name: value for name, value in given.items() if name in reader}
        ),
        committed,
        tuple(_warnings(given, {*client, *reader})),
    )


def _committed(text: str) -> bool:
    level = text.strip().lower()
    if level not in ("read_uncommitted", "read_committed"):
        raise SettingError(PREFIX + ISOLATION, f"{text!r} is neither read_uncommitted nor read_committed")
    return level == "read_committed"


def parse_kafka(table: type[T], given: Mapping[str, str]) -> T:
    """Settings under Kafka's names; what is wrong with one is told of the option that it was given by."""
    try:
        return parse(table, given)
    except SettingError as error:
        raise SettingError(PREFIX + error.name, str(error).removeprefix(f"{error.name}: ")) from None


def _warnings(given: Mapping[str, str], known: set[str]) -> list[str]:
    found = [_NO_GROUP] if "group.id" in given else []
    idle = sorted(set(given) - known - {"group.id", "security.protocol"})
    return found + [f"{PREFIX}{name} has no effect on this source" for name in idle]
