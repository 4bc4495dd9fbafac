"""Rows find their topics and partitions as records do, one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andiron.client.core.partitioner import StickyPartitioner, partition_of
from andiron.client.core.row_routes import by_topic, grouped, partitions_for
from andiron.model.chance import Chance
from andiron.model.errors import ProtocolError

COUNT = 5
WRITABLE = [0, 2, 4]


def sticky(bytes_per_turn: int = 100) -> StickyPartitioner:
    return StickyPartitioner(Chance(3), bytes_per_turn)


def batch(**columns: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def found(rows: pa.RecordBatch, turns: StickyPartitioner | None = None) -> list[int]:
    partitions = partitions_for(rows, COUNT, "t", WRITABLE, turns or sticky())
    return [int(each) for each in partitions]


def topics(rows: pa.RecordBatch, topic: str | None = None) -> dict[str, list[int] | None]:
    return {name: None if rows is None else rows.tolist() for name, rows in by_topic(rows, topic)}


def test_a_topic_for_all_goes_before_the_rows_own() -> None:
    assert topics(batch(value=[b"1"], topic=["mine"]), "all") == {"all": None}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_rows_go_to_their_own_topics_in_order(kind: pa.DataType) -> None:
    names = pa.array(["b", "a", "b", "b", "a"]).cast(kind)

    assert topics(batch(value=[b""] * 5, topic=names)) == {"b": [0, 2, 3], "a": [1, 4]}


def test_one_topic_has_all_rows() -> None:
    assert topics(batch(value=[b""] * 2, topic=["a", "a"])) == {"a": None}


def test_no_rows_have_no_topic() -> None:
    assert topics(batch(value=[], topic=pa.array([], pa.string()))) == {}


def test_a_row_without_a_topic_is_refused() -> None:
    with pytest.raises(ProtocolError, match="no column named topic"):
        topics(batch(value=[b""]))
    with pytest.raises(ProtocolError, match="row 1 has no topic"):
        topics(batch(value=[b""] * 3, topic=["a", None, "b"]))


@given(st.lists(st.integers(0, 4), max_size=40))
def test_groups_keep_every_row_once_and_in_order(codes: list[int]) -> None:
    groups = grouped(np.array(codes, np.int32))

    told = {code: list(range(len(codes))) if rows is None else rows.tolist() for code, rows in groups}
    assert told == {code: [row for row, each in enumerate(codes) if each == code] for code in set(codes)}


def test_a_key_decides_the_partition() -> None:
    keys = [b"key %d" % number for number in range(20)]

    assert found(batch(key=keys, value=keys)) == [partition_of(key, COUNT) for key in keys]


def test_a_named_partition_goes_before_the_key() -> None:
    keys = [b"a", b"b", b"c"]
    rows = batch(key=keys, value=keys, partition=pa.array([4, None, 1], pa.int32()))

    assert found(rows) == [4, partition_of(b"b", COUNT), 1]


@pytest.mark.parametrize("wrong", [pa.array([-1]), pa.array(["x"]), pa.array([1 << 40]), pa.array([[1]])])
def test_what_is_no_partition_is_refused(wrong: pa.Array) -> None:
    with pytest.raises(ProtocolError, match="INVALID_PARTITIONS"):
        found(batch(value=[b""], partition=wrong))


def test_text_that_is_a_number_will_do() -> None:
    assert found(batch(value=[b""], partition=["3"])) == [3]


@given(st.lists(st.integers(0, 150), max_size=60), st.integers(1, 3), st.booleans())
def test_keyless_rows_get_what_they_would_one_by_one(sizes: list[int], calls: int, as_text: bool) -> None:
    one_by_one, turns = sticky(), sticky()
    values = pa.array([bytes(size) for size in sizes], pa.binary())
    rows = batch(value=values.cast(pa.string()) if as_text else values)
    expected = [one_by_one.choose("t", WRITABLE, size) for _ in range(calls) for size in sizes]

    assert [each for _ in range(calls) for each in found(rows, turns)] == expected


def test_keyless_rows_among_others_have_turns_of_their_own() -> None:
    rows = batch(key=[b"k", None] * 10, value=[bytes(30)] * 20)
    turns, expected = sticky(), sticky()

    assert found(rows, turns)[1::2] == [expected.choose("t", WRITABLE, 30) for _ in range(10)]
    assert set(found(rows, turns)[::2]) == {partition_of(b"k", COUNT)}


@pytest.mark.parametrize("values", [pa.nulls(3), pa.array([b"a", None, b"c"]).dictionary_encode()])
def test_values_may_be_of_any_kind(values: pa.Array) -> None:
    assert len(set(found(batch(value=values)))) == 1
