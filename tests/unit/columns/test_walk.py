"""The numpy half by itself: how bytes are laid out, and which rows are kept."""

from __future__ import annotations

import pytest

from andiron.columns import walk as walking
from andiron.columns.bodies import bodies_of
from andiron.columns.walk import walk
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record

END = 1 << 62


def batch(base, *values, codec=0):
    records = [Record(0, 5, None, value, (("n", value),)) for value in values]
    return Batch(build(records, base_offset=base, codec=codec))


def test_sources_of_all_kinds_are_walked_as_one():
    bodies = bodies_of([batch(0, b"a"), batch(1, b"b", b"c", codec=1), batch(3, b"d")], 0, END)

    columns = walk(bodies, 0, END, headers=False)

    assert columns.value.to_pylist() == [b"a", b"b", b"c", b"d"]
    assert columns.key.null_count == 4
    assert columns.timestamp.cast("int64").to_pylist() == [5000] * 4


def test_headers_of_rows_left_out_are_left_out():
    bodies = bodies_of([batch(0, b"a", b"b", b"c")], 1, 2)

    headers = walk(bodies, 1, 2, headers=True).headers

    assert headers.keys.to_pylist() == [b"n"]
    assert headers.values.to_pylist() == [b"b"]
    assert memoryview(headers.offsets).cast("i").tolist() == [0, 1]


def test_a_source_farther_than_offsets_reach_is_walked_too(monkeypatch):
    monkeypatch.setattr(walking, "INT32_MAX", 100)
    answer = bytes(200) + bytes(batch(0, b"a", b"b").raw)

    assert walk(bodies_of([Batch(answer, 200)], 0, END), 0, END, headers=False).value.to_pylist() == [
        b"a",
        b"b",
    ]


def test_nothing_to_walk_gives_empty_columns():
    columns = walk(bodies_of([], 0, END), 0, END, headers=True)

    assert len(columns.key) == len(columns.offset) == len(columns.headers.keys) == 0


@pytest.mark.parametrize(
    ("at", "byte"),
    [
        (61, 0x7F),  # a record longer than the batch
        (61, 0x01),  # of a length below 0
        (61, 0x00),  # of none at all
        (64, 0x02),  # an offset beyond the batch's last
        (64, 0x01),  # or before its first
        (65, 0x7E),  # a key longer than the record
        (60, 0x02),  # a second record that is not there
    ],
)
def test_a_byte_that_makes_no_sense_is_refused(at, byte):
    raw = build([Record(0, 5, b"k", b"v")])
    raw[at] = byte

    with pytest.raises(ProtocolError) as caught:
        walk(bodies_of([Batch(raw)], 0, END), 0, END, headers=False)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
