"""The pieces that messages and records are made of, where `struct` has no word for them.

    unsigned varint   seven bits a byte, lowest first, the top bit says "more follows"
    zigzag varint     the same of 0, -1, 1, -2, ... = 0, 1, 2, 3, ...: records are full of them
    compact length    n + 1 as an unsigned varint; 0 is null
    tagged section    a count, then (tag, size, bytes) each: a reader skips the tags it does not know (KIP-482)

Most of this is for the rare case: codec.py writes the common one, a length of one byte,
into the code that it generates, and calls here only for longer ones.

Whatever bytes come in, what goes out is a value or `MalformedMessage`.
"""

from __future__ import annotations

from typing import TypeAlias

from andiron.model.errors import AndironError

Buffer: TypeAlias = bytes | bytearray | memoryview

VARINT_BITS_MAX = 70  # ten bytes: room for 64 bits


class MalformedMessage(AndironError, ValueError):
    """The bytes are not what they are said to be: too short, of absurd length, not UTF-8."""


class UnencodableMessage(AndironError, ValueError):
    """A message holds what its version cannot say: a null, a number too large."""


def uvarint(value: int) -> bytes:
    """An unsigned varint."""
    if value < 0x80:
        return BYTES[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


BYTES = tuple(bytes((value,)) for value in range(0x80))  # the varints of one byte


def varint(value: int) -> bytes:
    """A zigzag varint, of 32 or 64 bits alike."""
    return uvarint(value << 1 if value >= 0 else (~value << 1) | 1)


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """The unsigned varint at `pos`, and where it ends."""
    try:
        first = buf[pos]
        if first < 0x80:
            return first, pos + 1
        return continue_uvarint(buf, pos + 1, first)
    except IndexError:
        raise MalformedMessage("a varint runs past the end") from None


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """The zigzag varint at `pos`, and where it ends."""
    value, pos = read_uvarint(buf, pos)
    return (value >> 1) ^ -(value & 1), pos


def continue_uvarint(buf: Buffer, pos: int, first: int) -> tuple[int, int]:
    """The rest of a varint whose first byte has been read and says that more follows."""
    value, shift = first & 0x7F, 7
    try:
        while True:
            byte = buf[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, pos
            shift += 7
            if shift >= VARINT_BITS_MAX:
                raise MalformedMessage("a varint of more than ten bytes")
    except IndexError:
        raise MalformedMessage("a varint runs past the end") from None


def skip_tags(buf: Buffer, pos: int, end: int, count: int) -> int:
    """Pass over a tagged section whose count's first byte was `count`; return where it ends. Nobody has more than 127
    fields to add to a struct, and passing over millions of empty ones takes seconds."""
    if count > 0x7F:
        raise MalformedMessage("a tagged section of more than 127 fields")
    for _ in range(count):
        _, size, pos = read_tag(buf, pos, end)
        pos += size
    return pos


def read_tag(buf: Buffer, pos: int, end: int) -> tuple[int, int, int]:
    """A tag, the size of its value, and where the value begins; the value ends within `end`."""
    tag, pos = read_uvarint(buf, pos)
    size, pos = read_uvarint(buf, pos)
    if size > end - pos:
        raise MalformedMessage(f"tagged field {tag} of {size} bytes, {end - pos} are left")
    return tag, size, pos
