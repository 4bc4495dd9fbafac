"""Where a setting's value comes from, and how DescribeConfigs tells it.

A value may be given in several places. The first that has one wins:

    1  the topic (or group) itself    CreateTopics, AlterConfigs
    2  this broker, while it runs     AlterConfigs on a broker
    3  all brokers, while they run    AlterConfigs on the broker ""
    4  this broker's server.properties
    5  the default of the row

A topic looks through 2 to 5 by the broker's names for its setting: `retention.ms` of a topic that has none is
`log.retention.ms`, else `log.retention.minutes`, else `log.retention.hours` of the broker.

Values are kept as the strings that were given and parsed when they are used, since what DescribeConfigs shows
of a place is what was typed there.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from andiron.model.settings import Row


class Source(enum.IntEnum):
    """The places, with their numbers in DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT = 3
    STATIC = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Given(NamedTuple):
    """A value in one of the places."""

    name: str
    value: str | None
    source: Source


class Entry(NamedTuple):
    """One setting as DescribeConfigs shows it; `synonyms` are all places with a value, the winner first."""

    row: Row
    value: str | None
    read_only: bool
    source: Source
    synonyms: list[Given]


class Layers(NamedTuple):
    """The places of one broker, 2 to 5."""

    table: Mapping[str, Row]
    static: Mapping[str, str]
    dynamic_default: Mapping[str, str] = {}
    dynamic: Mapping[str, str] = {}

    def value(self, name: str) -> Any:
        """What a broker's setting is."""
        text = self.dynamic.get(name, self.dynamic_default.get(name, self.static.get(name)))
        row = self.table[name]
        return row.default if text is None else row.parse(text)

    def topic_value(self, row: Row) -> Any:
        """What a topic's setting is where the topic does not say."""
        for synonym in row.synonyms:
            value = self.value(synonym.name)
            if value is not None:
                return synonym.to_topic(value)
        return row.default

    def topic_defaults(self, topic_rows: Mapping[str, Row]) -> dict[str, Any]:
        """What a topic without settings of its own has, by attribute."""
        return {row.attribute: self.topic_value(row) for row in topic_rows.values()}

    def given(self, row: Row, name: str) -> list[Given]:
        """Every place that has a value for `name` or for what stands in for it, the strongest first.

        As in Kafka, a place counts only from `name` itself on: a topic whose retention.ms comes from
        log.retention.hours shows no place at all, and so passes for a default.
        """
        names = [synonym.name for synonym in row.synonyms] or [name]
        found = [
            Given(each, None if row.sensitive else place[each], source)
            for source, place in (
                (Source.DYNAMIC_BROKER, self.dynamic),
                (Source.DYNAMIC_DEFAULT, self.dynamic_default),
                (Source.STATIC, self.static),
            )
            for each in names
            if each in place
        ]
        for each in names:
            default = self.table[each]
            if default.default is not None:
                found.append(Given(each, default.render(default.default), Source.DEFAULT))
        while found and found[0].name != name:
            del found[0]
        return found


def describe_topic(
    rows: Iterable[Row], overrides: Mapping[str, str], layers: Layers, source: Source = Source.TOPIC
) -> list[Entry]:
    """Every setting of a topic, or of a group, which finds its defaults in the same way."""
    entries = []
    for row in rows:
        if row.internal:
            continue
        places = layers.given(row, row.synonyms[0].name) if row.synonyms else []
        if row.name in overrides:
            value = row.render(row.parse(overrides[row.name]))
            places.insert(0, Given(row.name, value, source))
        else:
            value = row.render(layers.topic_value(row))
        entries.append(_entry(row, value, False, places))
    return entries


def describe_broker(layers: Layers) -> list[Entry]:
    """Every setting of a broker."""
    return [
        _entry(row, row.render(layers.value(name)), row.reload == "restart", layers.given(row, name))
        for name, row in layers.table.items()
        if not row.internal
    ]


def describe_brokers_default(layers: Layers) -> list[Entry]:
    """What was given to all brokers while they run (the broker named "")."""
    entries = []
    for name, text in layers.dynamic_default.items():
        if name in layers.table:
            row = layers.table[name]
            shown = None if row.sensitive else text
            entries.append(_entry(row, shown, False, [Given(name, shown, Source.DYNAMIC_DEFAULT)]))
    return entries


def _entry(row: Row, value: str | None, read_only: bool, places: list[Given]) -> Entry:
    return Entry(row, value, read_only, places[0].source if places else Source.DEFAULT, places)
