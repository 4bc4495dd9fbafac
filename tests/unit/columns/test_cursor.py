"""One number of every record at a time, and never a byte of the next one."""

from __future__ import annotations

import numpy as np
import pytest

from andiron.columns.cursor import Cursor
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.varint import encode_varint

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


def over(*records):
    """A cursor at the beginning of each."""
    stop = np.cumsum([len(record) for record in records], dtype=np.int64)
    begin = stop - np.array([len(record) for record in records], np.int64)
    return Cursor(np.frombuffer(b"".join(records), np.uint8), begin, stop)


def refused(act):
    with pytest.raises(ProtocolError) as caught:
        act()
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_numbers_of_every_length_are_read_at_once():
    numbers = [0, -1, 63, 64, -65, 8191, 8192, 1 << 40, -(1 << 62), INT64_MAX, INT64_MIN]
    cursor = over(*(encode_varint(number) + encode_varint(7) for number in numbers))

    assert cursor.varints().tolist() == numbers
    assert cursor.varints().tolist() == [7] * len(numbers)
    assert (cursor.pos == cursor.stop).all()


def test_a_number_that_goes_on_into_the_next_record_is_refused():
    refused(over(b"\x80", b"\x01").varints)
    refused(over(b"\x01", b"").varints)


def test_a_number_of_more_than_64_bits_is_refused():
    refused(over(b"\xff" * 9 + b"\x02").varints)
    refused(over(b"\xff" * 10 + b"\x01").varints)


def test_blobs_stay_where_they_are():
    blobs = over(b"\x04ab", b"\x01", b"\x00").blobs()

    assert blobs.begin.tolist() == [1, 4, 5]
    assert blobs.length.tolist() == [2, -1, 0]


def test_a_blob_beyond_its_record_is_refused():
    refused(over(b"\x06ab", b"c").blobs)
    refused(over(encode_varint(INT64_MAX) + b"ab").blobs)


def test_headers_are_read_round_by_round_and_told_record_by_record():
    cursor = over(b"\x04\x02a\x02x\x02b\x01", b"\x00", b"\x02\x00\x00")

    found = cursor.headers()

    data = cursor.data.tobytes()
    keys = [data[at : at + size] for at, size in zip(*(each.tolist() for each in found.keys), strict=True)]
    assert found.counts.tolist() == [2, 0, 1]
    assert keys == [b"a", b"b", b""]
    assert found.values.length.tolist() == [1, -1, 0]


def test_headers_that_cannot_be_are_refused():
    refused(over(b"\x01").headers)  # a number below 0
    refused(over(b"\x7e\x00\x00").headers)  # more than there is room for
    refused(over(b"\x02\x01\x00").headers)  # no key
    refused(over(b"\x02\x00\x00\x00").headers)  # a byte too many


def test_unread_headers_must_be_there_if_the_record_goes_on():
    over(b"\x00", b"\x02whatever").skip_headers()
    refused(over(b"\x00\x00").skip_headers)
    refused(over(b"\x01").skip_headers)
