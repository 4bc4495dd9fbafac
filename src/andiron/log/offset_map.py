"""The latest offset of every key, in memory of a fixed size.

    slot   digest of the key, 16 bytes │ offset + 1, 8 bytes; 0: the slot is free

Compaction must know for each key where it occurs last, and the keys of a log may be more than
memory can hold. A digest stands for its key, so a slot is 24 bytes whatever the key's length, as
`log.cleaner.dedupe.buffer.size` counts them; a dict would take eight times that. Two keys with one
digest would be taken for one, which 128 bits make as good as impossible.

Where a key's first slot is taken by another, it tries on in steps of its own. The number of slots is
a prime, so any step comes past all of them.

Read next: compaction.py.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from math import isqrt
from typing import Final

BYTES_PER_SLOT: Final = 24
_DIGEST = 16
_SLOTS_MIN = 17


class OffsetMap:
    """Key → offset, for up to `capacity` keys."""

    __slots__ = ("_digests", "_offsets", "_slots", "capacity", "count")

    def __init__(self, buffer_bytes: int, load_factor: float, keys_max: int) -> None:
        """Within `buffer_bytes`, filled to `load_factor`; smaller where there are at most `keys_max` keys."""
        slots = min(buffer_bytes // BYTES_PER_SLOT, int(2 * keys_max / load_factor))
        self._slots = _prime_upto(max(slots, _SLOTS_MIN))
        # One slot stays free whatever the factor: a search for what is not there ends at it.
        self.capacity = min(max(int(self._slots * load_factor), 1), self._slots - 1)
        self.count = 0
        self._digests = bytearray(self._slots * _DIGEST)
        self._offsets = array("q", (0,)) * self._slots

    @property
    def is_full(self) -> bool:
        return self.count >= self.capacity

    def put(self, key: bytes, offset: int) -> None:
        """`key` occurs at `offset`, later than wherever it was seen before."""
        digest = blake2b(key, digest_size=_DIGEST).digest()
        slot = self._find(digest)
        if not self._offsets[slot]:
            self.count += 1
            self._digests[slot * _DIGEST : (slot + 1) * _DIGEST] = digest
        self._offsets[slot] = offset + 1

    def get(self, key: bytes) -> int:
        """Where `key` occurs last; -1 if it has not been seen."""
        return self._offsets[self._find(blake2b(key, digest_size=_DIGEST).digest())] - 1

    def _find(self, digest: bytes) -> int:
        """The slot that holds this digest, or the free one where it belongs."""
        number = int.from_bytes(digest, "big")
        digests, offsets, slots = self._digests, self._offsets, self._slots
        slot = number % slots
        step = 0
        while offsets[slot] and digests[slot * _DIGEST : (slot + 1) * _DIGEST] != digest:
            step = step or (number >> 64) % (slots - 1) + 1
            slot = (slot + step) % slots
        return slot


def _prime_upto(number: int) -> int:
    """The largest prime that is not above `number`."""
    while any(number % divisor == 0 for divisor in range(2, isqrt(number) + 1)):
        number -= 1
    return number
