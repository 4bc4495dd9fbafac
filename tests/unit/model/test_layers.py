"""The strongest place that has a value wins, and DescribeConfigs shows them all."""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.layers import (
    Given,
    Layers,
    Source,
    describe_broker,
    describe_brokers_default,
    describe_topic,
)
from andiron.model.settings import (
    DAY,
    INT,
    LONG,
    PASSWORD,
    broker_rows,
    hours,
    rows,
    setting,
    topic_setting,
)


@dataclass(frozen=True, slots=True)
class Topic:
    keep_ms: int = topic_setting(
        "keep.ms", LONG, 7 * DAY, "", broker=("log.keep.ms", hours("log.keep.hours"))
    )
    size: int = topic_setting("size", INT, 100, "", broker="log.size")
    lone: int = topic_setting("lone", INT, 1, "")
    hidden: int | None = topic_setting("hidden", INT, None, "", internal=True)


@dataclass(frozen=True, slots=True)
class Broker:
    port: int = setting("port", INT, 9, "")
    word: str | None = setting("word", PASSWORD, None, "")


TABLE = {**broker_rows(Topic), **rows(Broker)}


def layers(static=None, everywhere=None, here=None):
    return Layers(TABLE, static or {}, everywhere or {}, here or {})


def topic_entries(overrides, places):
    return {entry.row.name: entry for entry in describe_topic(rows(Topic).values(), overrides, places)}


def test_the_strongest_place_wins():
    assert layers().value("log.size") == 100
    assert layers({"log.size": "4"}).value("log.size") == 4
    assert layers({"log.size": "4"}, {"log.size": "3"}).value("log.size") == 3
    assert layers({"log.size": "4"}, {"log.size": "3"}, {"log.size": "2"}).value("log.size") == 2


def test_a_topic_takes_the_strongest_of_the_brokers_names_in_its_own_unit():
    keep = rows(Topic)["keep.ms"]

    assert layers().topic_value(keep) == 7 * DAY
    assert layers({"log.keep.hours": "24"}).topic_value(keep) == DAY
    assert layers({"log.keep.hours": "24", "log.keep.ms": "5"}).topic_value(keep) == 5
    assert layers({"log.keep.hours": "-1"}).topic_value(keep) == -1


def test_all_defaults_of_a_topic_come_by_attribute():
    assert layers({"log.size": "4"}).topic_defaults(rows(Topic)) == {
        "keep_ms": 7 * DAY,
        "size": 4,
        "lone": 1,
        "hidden": None,
    }


def test_a_topics_own_value_comes_first_and_the_brokers_follow():
    entry = topic_entries({"size": " 5"}, layers({"log.size": "4"}, {"log.size": "3"}))["size"]

    assert (entry.value, entry.source, entry.read_only) == ("5", Source.TOPIC, False)
    assert entry.synonyms == [
        Given("size", "5", Source.TOPIC),
        Given("log.size", "3", Source.DYNAMIC_DEFAULT),
        Given("log.size", "4", Source.STATIC),
        Given("log.size", "100", Source.DEFAULT),
    ]


def test_a_topic_without_a_value_shows_where_the_brokers_comes_from():
    entries = topic_entries({}, layers({"log.keep.ms": "8"}, None, {"log.size": "2"}))

    assert (entries["size"].value, entries["size"].source) == ("2", Source.DYNAMIC_BROKER)
    assert entries["keep.ms"].synonyms == [
        Given("log.keep.ms", "8", Source.STATIC),
        Given("log.keep.hours", "168", Source.DEFAULT),
    ]


def test_a_value_from_a_weaker_name_passes_for_a_default_as_in_kafka():
    entry = topic_entries({}, layers({"log.keep.hours": "24"}))["keep.ms"]

    assert (entry.value, entry.source, entry.synonyms) == (str(DAY), Source.DEFAULT, [])


def test_a_topic_setting_that_no_broker_setting_stands_for_is_its_own():
    entries = topic_entries({"lone": "3"}, layers())

    assert entries["lone"].synonyms == [Given("lone", "3", Source.TOPIC)]
    assert topic_entries({}, layers())["lone"].source == Source.DEFAULT


def test_an_internal_setting_is_not_shown():
    assert "hidden" not in topic_entries({"hidden": "3"}, layers())


def test_a_broker_shows_every_row_with_what_may_change():
    entries = {entry.row.name: entry for entry in describe_broker(layers({"port": "7"}))}

    assert list(entries) == list(TABLE)
    assert (entries["port"].value, entries["port"].source, entries["port"].read_only) == (
        "7",
        Source.STATIC,
        True,
    )
    assert not entries["log.keep.ms"].read_only
    assert entries["log.keep.hours"].read_only
    assert entries["log.keep.ms"].value is None


def test_a_secret_shows_its_place_and_not_its_value():
    entries = {entry.row.name: entry for entry in describe_broker(layers({"word": "swordfish"}))}

    assert entries["word"].value is None
    assert entries["word"].synonyms == [Given("word", None, Source.STATIC)]


def test_the_default_of_all_brokers_shows_what_was_given_to_it():
    entries = describe_brokers_default(layers({"port": "7"}, {"log.size": "3", "gone": "1"}))

    assert [(entry.row.name, entry.value, entry.source) for entry in entries] == [
        ("log.size", "3", Source.DYNAMIC_DEFAULT)
    ]
