import pytest

from andiron.wire.primitives import MalformedMessage, read_uvarint, read_varint, skip_tags, uvarint, varint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, b"\x00"),
        (1, b"\x01"),
        (127, b"\x7f"),
        (128, b"\x80\x01"),
        (300, b"\xac\x02"),
        (16383, b"\xff\x7f"),
        (16384, b"\x80\x80\x01"),
        ((1 << 31) - 1, b"\xff\xff\xff\xff\x07"),
    ],
)
def test_an_unsigned_varint_has_seven_bits_a_byte_lowest_first(value: int, encoded: bytes) -> None:
    assert uvarint(value) == encoded
    assert read_uvarint(b"?" + encoded + b"?", 1) == (value, 1 + len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, b"\x00"),
        (-1, b"\x01"),
        (1, b"\x02"),
        (-2, b"\x03"),
        (63, b"\x7e"),
        (-64, b"\x7f"),
        (64, b"\x80\x01"),
        (-(1 << 63), b"\xff" * 9 + b"\x01"),
        ((1 << 63) - 1, b"\xfe" + b"\xff" * 8 + b"\x01"),
    ],
)
def test_a_zigzag_varint_keeps_small_numbers_of_either_sign_short(value: int, encoded: bytes) -> None:
    assert varint(value) == encoded
    assert read_varint(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize("cut", [b"", b"\x80", b"\xff\xff"])
def test_a_varint_that_is_cut_is_malformed(cut: bytes) -> None:
    with pytest.raises(MalformedMessage, match="past the end"):
        read_uvarint(cut, 0)


def test_a_varint_that_does_not_end_is_malformed() -> None:
    with pytest.raises(MalformedMessage, match="ten bytes"):
        read_uvarint(b"\x80" * 20, 0)


def test_tags_are_skipped_by_their_size() -> None:
    section = b"\x05\x02ab" + b"\x81\x01\x00"  # tag 5 of two bytes, tag 129 of none

    assert skip_tags(section + b"rest", 0, len(section) + 4, 2) == len(section)


def test_a_tag_larger_than_what_is_left_is_malformed() -> None:
    with pytest.raises(MalformedMessage, match="tagged field 5 of 9 bytes, 2 are left"):
        skip_tags(b"\x05\x09ab", 0, 4, 1)


def test_millions_of_empty_tags_are_malformed() -> None:
    with pytest.raises(MalformedMessage, match="more than 127 fields"):
        skip_tags(b"\x01" + b"\x00\x00" * 128, 0, 257, 0x80)


def test_a_count_of_tags_beyond_the_bytes_is_malformed() -> None:
    with pytest.raises(MalformedMessage):
        skip_tags(b"\xff\xff\xff\x07" + b"\x00\x00" * 10, 0, 24, 0xFF)
