"""What filters leave of a read, and which of them are met by that."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range
from andiron.spark.source.pushdown import Span, Window, push

TOPIC, PARTITION, OFFSET, TIME = (("topic",), ("partition",), ("offset",), ("timestamp",))
A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_US = 1_767_268_800_000_000


def met(*filters) -> Window:
    window, left = push(Window(), filters)
    assert left == []
    return window


def test_topics_and_partitions_are_chosen():
    assert met(EqualTo(TOPIC, "a")).includes(A0)
    assert not met(EqualTo(TOPIC, "a")).includes(B0)
    assert met(In(TOPIC, ["a", "b"]), In(PARTITION, (1, 2)), EqualTo(PARTITION, 1)).includes(A1)
    assert not met(In(PARTITION, [1, 2])).includes(A0)
    assert not met(EqualTo(PARTITION, 0), EqualTo(PARTITION, 1)).includes(A0)
    assert not met(GreaterThan(PARTITION, 0), LessThanOrEqual(PARTITION, 5)).includes(A0)


def test_ranges_are_clipped():
    window = met(GreaterThanOrEqual(OFFSET, 10), LessThan(OFFSET, 20), IsNotNull(OFFSET))

    assert window.clip(Range(A0, 0, 100)) == Range(A0, 10, 20)
    assert window.clip(Range(A0, 15, 17)) == Range(A0, 15, 17)
    assert window.clip(Range(A0, 50, 60)).size == 0
    assert window.clip(Range(A0, 0, 5)).size == 0


def test_a_span_of_time_is_kept_to_the_microsecond():
    window = met(GreaterThan(TIME, NOON), LessThanOrEqual(TIME, NOON + timedelta(seconds=1)))

    assert window.times == Span(NOON_US + 1, NOON_US + 1_000_001)
    assert window.first_ms == NOON_US // 1000 + 1
    assert met(GreaterThanOrEqual(TIME, NOON)).first_ms == NOON_US // 1000
    assert met(LessThan(TIME, NOON)).first_ms is None
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    assert met(EqualNullSafe(TIME, tokyo)).times == Span(NOON_US, NOON_US + 1)


def test_some_offsets_narrow_and_are_left_to_spark():
    pushed = In(OFFSET, [30, 10])
    window, left = push(Window(), [pushed])

    assert window.offsets == Span(10, 31)
    assert left == [pushed]


@pytest.mark.parametrize(
    "pushed",
    [
        EqualTo(("value",), b"x"),
        IsNotNull(("value",)),
        StringStartsWith(TOPIC, "a"),
        Not(EqualTo(PARTITION, 1)),
        In(TOPIC, ["a", None]),
        In(PARTITION, []),
        EqualTo(OFFSET, 1.5),
        EqualTo(OFFSET, None),
        GreaterThan(TIME, datetime(2026, 1, 1)),  # no zone: not a moment
        LessThan(("headers", "key"), "a"),
        GreaterThan(("timestampType",), 0),
    ],
)
def test_what_is_not_understood_is_left_to_spark(pushed):
    assert push(Window(), [pushed]) == (Window(), [pushed])


comparisons = {
    EqualTo: lambda a, b: a == b,
    GreaterThan: lambda a, b: a > b,
    GreaterThanOrEqual: lambda a, b: a >= b,
    LessThan: lambda a, b: a < b,
    LessThanOrEqual: lambda a, b: a <= b,
}
filters = st.builds(
    lambda kind, name, value: kind((name,), value),
    st.sampled_from(list(comparisons)),
    st.sampled_from(["offset", "partition"]),
    st.integers(-5, 25),
)


@given(st.lists(filters, max_size=4), st.integers(0, 3), st.integers(0, 20), st.integers(0, 20))
def test_a_window_has_exactly_the_rows_that_the_filters_let_through(pushed, partition, start, size):
    window, left = push(Window(), pushed)
    here = TopicPartition("t", partition)
    kept = window.clip(Range(here, start, start + size))
    rows = set(range(kept.start, kept.end)) if window.includes(here) else set()

    def passes(offset: int) -> bool:
        row = {"offset": offset, "partition": partition}
        return all(comparisons[type(each)](row[each.attribute[0]], each.value) for each in pushed)

    assert left == []
    assert rows == {offset for offset in range(start, start + size) if passes(offset)}
