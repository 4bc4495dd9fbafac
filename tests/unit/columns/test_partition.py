"""A column of keys goes where each of its keys would go alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from andiron.columns.partition import partitions_of
from andiron.records.murmur2 import murmur2

pytestmark = pytest.mark.usefixtures("either")


def expected(keys, count):
    return [-1 if key is None else (murmur2(key) & 0x7FFFFFFF) % count for key in keys]


def test_every_key_goes_where_it_would_go_alone():
    keys = [bytes(range(n)) for n in range(40)] + [b"\xff" * n for n in (255, 256, 257, 258, 259, 3000)]

    for count in (1, 2, 7, 1000):
        assert partitions_of(pa.array(keys), count).tolist() == expected(keys, count)


def test_a_null_belongs_nowhere():
    assert partitions_of(pa.array([None, b"a", None], pa.binary()), 3).tolist() == expected(
        [None, b"a", None], 3
    )
    assert partitions_of(pa.nulls(2), 3).tolist() == [-1, -1]


def test_no_keys_have_no_partitions():
    assert partitions_of(pa.array([], pa.binary()), 3).tolist() == []


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.large_binary(), pa.string_view(), pa.binary_view()]
)
def test_text_and_bytes_of_any_width_are_the_same_key(kind):
    keys = pa.array(["", "a", "äöü", None, "a longer key than fits a view"]).cast(kind)

    assert partitions_of(keys, 10).tolist() == partitions_of(keys.cast(pa.binary()), 10).tolist()
    assert partitions_of(keys[1:3], 10).tolist() == partitions_of(keys, 10).tolist()[1:3]
