"""Where dead letters come from, read back from their headers. With Spark: tests/spark/test_typed.py."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from andiron.columns.schema import arrow_schema
from andiron.spark.frames.dead_letters import OFFSET, PARTITION, READER, TOPIC, origins, read_dead_letters

Headers = list[tuple[str, bytes | None]] | None


def rows(*headers: Headers) -> pa.RecordBatch:
    kind = arrow_schema(headers=True).field("headers").type
    told = [None if each is None else [{"key": k, "value": v} for k, v in each] for each in headers]
    return pa.record_batch([pa.array(told, kind)], names=["headers"])


def letter(topic: bytes, partition: bytes, offset: bytes, reader: bytes | None = None) -> Headers:
    told: list[tuple[str, bytes | None]] = [(TOPIC, topic), (PARTITION, partition), (OFFSET, offset)]
    return told if reader is None else [*told, (READER, reader)]


def found(batch: pa.RecordBatch, reader: str = "") -> list[tuple[Any, ...]]:
    came = origins(batch, reader)
    return list(zip(came.topics.to_pylist(), came.partitions.tolist(), came.offsets.tolist(), strict=True))


def test_each_says_where_it_comes_from() -> None:
    assert found(rows(letter(b"t", b"0", b"17"), letter(b"u", b"3", b"4"))) == [("t", 0, 17), ("u", 3, 4)]


def test_those_of_other_readers_are_left_out() -> None:
    batch = rows(letter(b"t", b"0", b"1"), letter(b"t", b"0", b"2", b"me"), letter(b"t", b"0", b"3", b"you"))

    assert found(batch, "me") == [("t", 0, 2)]
    assert found(batch) == [("t", 0, 1)]


def test_of_headers_that_are_there_twice_the_last_counts() -> None:
    first, second = letter(b"t", b"0", b"1"), letter(b"dead", b"2", b"9")
    assert first is not None and second is not None

    assert found(rows([("trace", b"x"), *first, *second])) == [("dead", 2, 9)]


def test_what_does_not_say_is_left_out() -> None:
    bad = [
        None,
        [],
        [("other", None)],
        letter(b"t", b"x", b"1"),
        letter(b"t", b"0", b"-1"),
        letter(b"\xff", b"0", b"1"),
    ]

    assert found(rows(*bad)) == []
    assert found(rows(*bad, letter(b"t", b"0", b"5"))) == [("t", 0, 5)]


def test_dead_letters_are_read_with_their_headers() -> None:
    class Records:
        columns = ("key", "value")

    records: Any = Records()
    with pytest.raises(ValueError, match="includeHeaders"):
        read_dead_letters(records)
