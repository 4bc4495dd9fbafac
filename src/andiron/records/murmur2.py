"""The hash by which keys find their partition: part of the contract between clients.

All of them must send a key to the same partition, so it is the Java client's to the bit. This one is for a key
at a time; columns/partition.py does the same to all keys of a column.
"""

from __future__ import annotations

SEED = 0x9747B28C
M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit hash of a key, signed as Java has it."""
    length = len(data)
    h = SEED ^ length
    whole = length & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * M & _MASK
        k = (k ^ k >> 24) * M & _MASK
        h = (h * M & _MASK) ^ k
    if length & 3:
        h = (h ^ int.from_bytes(data[whole:], "little")) * M & _MASK
    h = (h ^ h >> 13) * M & _MASK
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h
