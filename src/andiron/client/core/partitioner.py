"""Which partition a record goes to.

    with a key       (murmur2(key) & 0x7fffffff) % partitions
    without a key    one partition for a while, then another

The hash is part of the contract between clients: all of them must send a key to the same partition, so it
is the Java client's to the bit. It follows that a topic which gets more partitions sends most keys
elsewhere from then on, while their old records stay where they are.

Keyless records stay with one partition until it has been given a batch's worth of bytes, so that batches
are full however many partitions there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from andiron.model.chance import Chance

_SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit hash of a key, signed as Java has it."""
    length = len(data)
    h = _SEED ^ length
    whole = length & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        k = (k ^ k >> 24) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    if length & 3:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


def partition_of(key: bytes, partitions: int) -> int:
    """The partition that records with this key belong to."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


class StickyPartitioner:
    """Chooses for records without a key."""

    __slots__ = ("_bytes_left", "_bytes_per_turn", "_chance", "_chosen")

    def __init__(self, chance: Chance, bytes_per_turn: int) -> None:
        self._chance = chance
        self._bytes_per_turn = bytes_per_turn
        self._chosen: dict[str, int] = {}
        self._bytes_left: dict[str, int] = {}

    def choose(self, topic: str, partitions: Sequence[int], size: int) -> int:
        """A partition of those that can be written to, for a record of about `size` bytes."""
        chosen = self._chosen.get(topic, -1)
        left = self._bytes_left.get(topic, 0)
        if left <= 0 or chosen not in partitions:
            chosen = self._chosen[topic] = self._another(partitions, chosen)
            left = self._bytes_per_turn
        self._bytes_left[topic] = left - size
        return chosen

    def _another(self, partitions: Sequence[int], than: int) -> int:
        others = [each for each in partitions if each != than] or partitions
        return others[self._chance.below(len(others))]
