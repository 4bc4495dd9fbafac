"""Whatever Arrow calls bytes, text, lists and times comes down to a few types, and what is neither is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from andiron.columns.rows import blobs, bounds_of, rows_of
from andiron.columns.schema import HEADERS
from andiron.model.errors import ErrorCode, ProtocolError

TEXTS = ["", "a", None, "a text that is longer than a view holds", "ä"]
BYTES = [None if text is None else text.encode() for text in TEXTS]
KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.binary()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_bytes_and_text_of_any_kind_are_bytes(kind):
    column = (
        pa.array(TEXTS).dictionary_encode().cast(kind)
        if pa.types.is_dictionary(kind)
        else pa.array(TEXTS).cast(kind)
    )

    assert blobs("key", column).type in (pa.binary(), pa.large_binary())
    assert blobs("key", column).to_pylist() == BYTES
    assert blobs("key", column[1:4]).to_pylist() == BYTES[1:4]


def test_bytes_of_a_fixed_size_and_nulls_of_no_type_are_bytes():
    assert blobs("key", pa.array([b"ab", None], pa.binary(2))).to_pylist() == [b"ab", None]
    assert blobs("key", pa.nulls(2)).to_pylist() == [None, None]


def test_bytes_are_left_where_they_are():
    column = pa.array(TEXTS)

    assert blobs("key", column).buffers()[2].address == column.buffers()[2].address


def test_bounds_follow_the_slice():
    for kind in (pa.binary(), pa.large_binary()):
        assert bounds_of(pa.array([b"abc", b"d", b"", b"ef"], kind)[1:3]).tolist() == [3, 4, 4]
        assert bounds_of(pa.array([], kind)).tolist() == [0]


def test_a_time_of_any_unit_is_microseconds():
    for unit, factor in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        column = pa.array([7 * factor, None], pa.timestamp(unit, "UTC"))
        rows = rows_of(pa.record_batch({"value": pa.array([b"a", b"b"]), "timestamp": column}), 0)

        assert rows.micros.to_pylist() == [7_000_000, None]


def test_nulls_of_no_type_are_as_good_as_no_column():
    rows = rows_of(pa.record_batch({"value": [b"a"], "timestamp": pa.nulls(1), "headers": pa.nulls(1)}), 0)

    assert (rows.headers, rows.micros) == (None, None)


def test_headers_come_with_what_they_are_lists_of():
    lists = pa.array([[{"key": "a", "value": b"1"}], None, [{"key": "b", "value": None}]], HEADERS)

    headers = rows_of(pa.record_batch({"value": [b"", b"", b""], "headers": lists}), 0).headers

    assert headers.lists.equals(lists)
    assert headers.keys.to_pylist() == [b"a", b"b"]
    assert headers.values.to_pylist() == [b"1", None]


@pytest.mark.parametrize(
    "columns",
    [
        {"key": [b"k"]},
        {"value": [1]},
        {"value": [b"v"], "key": [1.5]},
        {"value": [b"v"], "timestamp": [1]},
        {"value": [b"v"], "headers": [b"h"]},
        {"value": [b"v"], "headers": [["h"]]},
        {"value": [b"v"], "headers": [[{"key": "h"}]]},
        {"value": [b"v"], "headers": [[{"key": 1, "value": b""}]]},
    ],
    ids=str,
)
def test_what_is_no_row_is_refused(columns):
    with pytest.raises(ProtocolError) as caught:
        rows_of(pa.record_batch({name: pa.array(column) for name, column in columns.items()}), 0)
    assert caught.value.code is ErrorCode.INVALID_RECORD
