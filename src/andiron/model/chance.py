"""Chance, from a seed: ids and jitter that a simulation can repeat.

Machines never ask the operating system for randomness. An edge gives each node a seed
(the real one a fresh 128-bit number, the simulator its own), and everything the node
leaves to chance is drawn from here, in order.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

_DASH: Final = 62  # the six bits that are "-" in base64 for URLs


class Chance:
    """A stream of bits, the same for the same seed on every machine and Python."""

    __slots__ = ("_count", "_key")

    def __init__(self, seed: int) -> None:
        self._key = blake2b(str(seed).encode(), digest_size=32).digest()
        self._count = 0

    def token(self, size: int) -> bytes:
        """`size` bytes, at most 64."""
        self._count += 1
        return blake2b(self._count.to_bytes(8, "big"), key=self._key, digest_size=size).digest()

    def uuid(self) -> bytes:
        """An id as Kafka draws them: a random UUID (version 4) whose text, in base64, does not begin with a dash, which
        would be taken for an option where somebody types it."""
        drawn = bytearray(self.token(16))
        while drawn[0] >> 2 == _DASH:
            drawn = bytearray(self.token(16))
        drawn[6], drawn[8] = drawn[6] & 0x0F | 0x40, drawn[8] & 0x3F | 0x80
        return bytes(drawn)

    def below(self, bound: int) -> int:
        """A whole number from 0 up to, and not including, `bound`."""
        assert bound > 0
        return int.from_bytes(self.token(16), "big") % bound
