"""By what rows are known again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from andiron.columns.digest import RowsDigest

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
ROWS: dict[str, list[Any]] = {
    "key": [b"a", None, b"", b"ab"],
    "value": [b"1", b"22", None, b""],
    "headers": [
        None,
        [],
        [{"key": "h", "value": b"x"}],
        [{"key": "h", "value": None}, {"key": "", "value": b""}],
    ],
    "topic": ["t", "t", "u", "t"],
    "partition": [0, None, 1, -5],
}
TYPES = {
    "key": pa.binary(),
    "value": pa.binary(),
    "headers": HEADERS,
    "topic": pa.string(),
    "partition": pa.int32(),
}


def records(columns: dict[str, list[Any]] = ROWS) -> pa.RecordBatch:
    return pa.record_batch({name: pa.array(values, TYPES[name]) for name, values in columns.items()})


def digest(*batches: pa.RecordBatch) -> str:
    made = RowsDigest()
    for each in batches:
        made.add(each)
    return made.hexdigest()


@pytest.mark.parametrize("cut", range(5))
def test_it_is_the_same_however_the_rows_are_cut(cut: int) -> None:
    whole = records()

    assert digest(whole.slice(0, cut), whole.slice(cut)) == digest(whole)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("row", range(4))
def test_another_value_anywhere_makes_another(name: str, row: int) -> None:
    others = {
        "key": b"b",
        "value": b"3",
        "headers": [{"key": "h", "value": b"y"}],
        "topic": "v",
        "partition": 7,
    }
    changed = {**ROWS, name: [*ROWS[name][:row], others[name], *ROWS[name][row + 1 :]]}

    assert digest(records(changed)) != digest(records())


def test_null_is_not_nothing_and_bytes_stay_where_they_are() -> None:
    def of(*values: bytes | None) -> str:
        return digest(records({"value": list(values)}))

    assert len({of(b""), of(None), of(b"", b""), of(b"ab", b"c"), of(b"a", b"bc"), of(b"c", b"ab")}) == 6


def test_what_lies_behind_a_null_does_not_count() -> None:
    plain = pa.array([b"a", b"b"], pa.binary())
    hidden = pa.Array.from_buffers(pa.binary(), 2, [pa.py_buffer(b"\x01"), *plain.buffers()[1:]])

    assert digest(pa.record_batch({"value": hidden})) == digest(records({"value": [b"a", None]}))
