"""Zigzag varints, by the examples of the format and at their ends."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.varint import SMALL, encode_varint, read_varint

EXAMPLES = [
    (0, "00"),
    (-1, "01"),
    (1, "02"),
    (63, "7e"),
    (-64, "7f"),
    (64, "8001"),
    (-65, "8101"),
    (8191, "fe7f"),
    (8192, "808001"),
    (2**31 - 1, "feffffff0f"),
    (-(2**31), "ffffffff0f"),
    (2**63 - 1, "feffffffffffffffff01"),
    (-(2**63), "ffffffffffffffffff01"),
]


@pytest.mark.parametrize(("number", "encoded"), EXAMPLES)
def test_a_number_has_its_bytes(number, encoded):
    assert encode_varint(number).hex() == encoded


@pytest.mark.parametrize(("number", "encoded"), EXAMPLES)
def test_the_bytes_have_their_number_and_end(number, encoded):
    data = b"\xff" + bytes.fromhex(encoded) + b"\xff"

    assert read_varint(data, 1) == (number, len(data) - 1)


def test_the_table_of_single_bytes_agrees_with_the_reader():
    for byte in range(128):
        assert SMALL[byte] == read_varint(bytes((byte,)), 0)[0]
    assert set(SMALL[128:]) == {None}


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 9, b"\xff" * 10, b"\xff" * 1000 + b"\x00"])
def test_a_varint_that_does_not_end_is_invalid(data):
    with pytest.raises(ProtocolError) as refused:
        read_varint(data, 0)

    assert refused.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**100])
def test_a_number_of_more_than_64_bits_is_refused(number):
    with pytest.raises(ProtocolError):
        encode_varint(number)
