"""A settings table parses, bounds, renders and documents itself."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from andiron.model.settings import (
    BOOLEAN,
    DAY,
    DOUBLE,
    HOUR,
    INT,
    LIST,
    LONG,
    MINUTE,
    PASSWORD,
    SHORT,
    STRING,
    SettingError,
    as_markdown,
    broker_rows,
    hours,
    meant,
    minutes,
    parse,
    render_double,
    rows,
    setting,
    topic_setting,
)


def odd(value: int) -> str | None:
    return None if value % 2 else f"{value} is even"


@dataclass(frozen=True, slots=True)
class House:
    """One row of each kind."""

    warm: bool = setting("warm", BOOLEAN, True, "Whether it is heated.")
    rooms: int = setting("rooms", INT, 3, "How many.", least=1, most=9)
    door: int = setting("door", SHORT, 1, "Its number.", check=odd)
    age_ms: int = setting("age.ms", LONG, 5, "How old.", reload="live")
    slope: float = setting("slope", DOUBLE, 0.5, "Of the roof.", least=0, most=1)
    walls: tuple[str, ...] = setting("walls", LIST, ("brick",), "Of what.", choices=("brick", "wood"))
    street: str | None = setting("street", STRING, None, "Where.")
    guests: tuple[str, ...] = setting("guests", LIST, (), "Who.")
    key: str | None = setting("key", PASSWORD, None, "To the door.")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A topic's table: defaults come from the broker, in several units."""

    keep_ms: int = topic_setting(
        "keep.ms",
        LONG,
        7 * DAY,
        "How long.",
        least=-1,
        broker=("shelf.keep.ms", minutes("shelf.keep.minutes"), hours("shelf.keep.hours")),
    )
    roll_ms: int = topic_setting("roll.ms", LONG, DAY, "When.", least=1, broker=("a.ms", hours("a.hours")))
    secret: int | None = topic_setting("secret", INT, None, "For tests.", internal=True)


def test_what_is_not_given_keeps_its_default():
    assert parse(House, {}) == House()
    assert parse(House, {"rooms": "4"}) == House(rooms=4)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("warm", "FALSE", False),
        ("warm", " true ", True),
        ("rooms", " +7 ", 7),
        ("slope", "1e-2", 0.01),
        ("slope", "1", 1.0),
        ("walls", " wood , brick ,wood", ("wood", "brick")),
        ("walls", "", ()),
        ("guests", "b,a,b", ("b", "a", "b")),
        ("street", " Long Lane ", "Long Lane"),
    ],
)
def test_values_are_read_as_kafka_reads_them(name, text, value):
    assert getattr(parse(House, {name: text}), name) == value


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("warm", "yes", "warm: 'yes' is neither true nor false"),
        ("rooms", "0", "rooms: 0 is below 1"),
        ("rooms", "10", "rooms: 10 is above 9"),
        ("rooms", "three", "rooms: 'three' is not a whole number"),
        ("rooms", "1_0", "rooms: '1_0' is not a whole number"),
        ("rooms", "٣", "is not a whole number"),
        ("rooms", "", "is not a whole number"),
        ("rooms", "2147483648", "does not fit into 32 bits"),
        ("door", "40001", "does not fit into 16 bits"),
        ("door", "4", "door: 4 is even"),
        ("age.ms", "9223372036854775808", "does not fit into 64 bits"),
        ("slope", "steep", "slope: 'steep' is not a number"),
        ("slope", "nan", "is not a number"),
        ("slope", "inf", "is not a number"),
        ("slope", "1.5", "slope: 1.5 is above 1"),
        ("walls", "straw", "walls: 'straw' is none of brick, wood"),
        ("walls", "brick,,wood", "has an empty item"),
        ("windows", "4", "windows: there is no such setting"),
    ],
)
def test_a_complaint_names_the_setting(name, text, complaint):
    with pytest.raises(SettingError, match=complaint) as caught:
        parse(House, {name: text})
    assert caught.value.name == name


def test_values_are_rendered_as_kafka_renders_them():
    shown = {name: row.render(row.default) for name, row in rows(House).items()}

    assert shown["warm"] == "true"
    assert shown["walls"] == "brick"
    assert shown["guests"] == ""
    assert shown["slope"] == "0.5"
    assert shown["street"] is None


def test_a_secret_is_never_rendered():
    assert rows(House)["key"].sensitive
    assert rows(House)["key"].render("open sesame") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (0.5, "0.5"),
        (1, "1.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.5, "1.234567895E8"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)
def test_doubles_are_written_as_java_writes_them(value, text):
    assert render_double(value) == text


def test_the_broker_names_of_a_topic_setting_get_rows_in_their_own_units():
    derived = broker_rows(Shelf)

    assert list(derived) == ["shelf.keep.ms", "shelf.keep.minutes", "shelf.keep.hours", "a.ms", "a.hours"]
    assert [derived[name].type for name in derived] == [LONG, INT, INT, LONG, INT]
    assert derived["shelf.keep.hours"].default == 168
    assert derived["shelf.keep.hours"].least == -1
    assert derived["a.hours"].least == 1


def test_only_the_weakest_broker_name_has_a_default_and_only_the_strongest_changes_live():
    derived = broker_rows(Shelf)

    assert [derived[name].default for name in list(derived)[:3]] == [None, None, 168]
    assert [derived[name].reload for name in list(derived)[:3]] == ["live", "restart", "restart"]


def test_a_coarser_unit_is_converted_and_no_limit_stays_no_limit():
    finest, middle, coarsest = rows(Shelf)["keep.ms"].synonyms

    assert (finest.to_topic(5), middle.to_topic(5), coarsest.to_topic(5)) == (5, 5 * MINUTE, 5 * HOUR)
    assert coarsest.to_topic(-1) == -1


def test_the_reference_has_a_line_for_every_setting_that_is_shown():
    page = as_markdown(rows(House).values())

    assert page.count("\n| `") == 9
    assert "| `rooms` | int | `3` | 1 to 9 | at a restart | How many. |" in page
    assert "| `age.ms` | long | `5` |  | live | How old. |" in page
    assert "| `walls` | list | `brick` | brick, wood |" in page
    assert "secret" not in as_markdown(rows(Shelf).values())


def test_a_name_that_nobody_knows_gets_the_one_it_is_most_like():
    assert meant("retention.mss", ["segment.ms", "retention.ms"]) == "; did you mean retention.ms?"
    assert meant("xyzzy", ["segment.ms"]) == ""
