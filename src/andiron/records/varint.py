"""Variable-length integers as records use them: zigzag, seven bits a byte, lowest first.

     0 → 00    -1 → 01    1 → 02    63 → 7e    64 → 80 01    -65 → 81 01

In small records most are a single byte, so readers in a hurry look in `SMALL` first
and come here only for the rest:

    n = SMALL[data[pos]]
    pos += 1
    if n is None:
        n, pos = read_varint(data, pos - 1)
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode

VARINT_BYTES_MAX = 5  # of 32 bits
VARLONG_BYTES_MAX = 10  # of 64 bits
_SHIFT_MAX = 7 * (VARLONG_BYTES_MAX - 1)

# What a first byte means by itself; None where more bytes follow.
SMALL: tuple[int | None, ...] = tuple((z >> 1) ^ -(z & 1) if z < 0x80 else None for z in range(256))

_ONE_BYTE = tuple(bytes((z,)) for z in range(128))


def read_varint(data: bytes | bytearray | memoryview, pos: int) -> tuple[int, int]:
    """The integer that starts at `pos`, and the position after it."""
    try:
        z = byte = data[pos]
        shift = 0
        while byte >= 0x80 and shift < _SHIFT_MAX:
            pos += 1
            shift += 7
            byte = data[pos]
            z += (byte - 1) << shift  # the 1 takes back the flag of the byte before
    except IndexError:
        byte = 0x80
    if byte >= 0x80:
        raise ErrorCode.INVALID_RECORD.error(f"a varint does not end by byte {pos}")
    return (z >> 1) ^ -(z & 1), pos + 1


def encode_varint(n: int) -> bytes:
    """The bytes of a signed integer of up to 64 bits."""
    z = (n << 1) ^ (n >> 63)
    if z < 0x80:
        return _ONE_BYTE[z]
    if z < 0x4000:
        return bytes((z & 0x7F | 0x80, z >> 7))
    if z >> 64:
        raise ErrorCode.INVALID_RECORD.error(f"{n} takes more than 64 bits")
    out = bytearray()
    while z >= 0x80:
        out.append(z & 0x7F | 0x80)
        z >>= 7
    out.append(z)
    return bytes(out)
