"""The partitioner: by the murmur2 hash of the key, or sticky (KIP-480, KIP-794) for records without one.

    with a key       (murmur2(key) & 0x7fffffff) % partitions
    without a key    one partition for a while, then another

The hash is part of the contract between clients (records/murmur2.py). It follows that a topic which gets
more partitions sends most keys elsewhere from then on, while their old records stay where they are.

Keyless records stay with one partition until it has been given a batch's worth of bytes, so that batches
are full however many partitions there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from andiron.model.chance import Chance
from andiron.records.murmur2 import murmur2


def partition_of(key: bytes, partitions: int) -> int:
    """The partition that records with this key belong to."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


class StickyPartitioner:
    """Chooses partitions for records without a key: one until a batch is full, then another (KIP-480)."""

    __slots__ = ("_bytes_left", "_bytes_per_turn", "_chance", "_chosen")

    def __init__(self, chance: Chance, bytes_per_turn: int) -> None:
        self._chance = chance
        self._bytes_per_turn = bytes_per_turn
        self._chosen: dict[str, int] = {}
        self._bytes_left: dict[str, int] = {}

    def choose(self, topic: str, partitions: Sequence[int], size: int) -> int:
        """A partition of those that can be written to, for a record of about `size` bytes."""
        chosen, left = self.turn(topic, partitions)
        self._bytes_left[topic] = left - size
        return chosen

    def turn(self, topic: str, partitions: Sequence[int]) -> tuple[int, int]:
        """The sticky partition, and how many bytes more it gets."""
        chosen = self._chosen.get(topic, -1)
        left = self._bytes_left.get(topic, 0)
        if left <= 0 or chosen not in partitions:
            chosen = self._chosen[topic] = self._another(partitions, chosen)
            left = self._bytes_left[topic] = self._bytes_per_turn
        return chosen, left

    def spend(self, topic: str, size: int) -> None:
        """The sticky partition was given so many bytes."""
        self._bytes_left[topic] -= size

    def _another(self, partitions: Sequence[int], than: int) -> int:
        others = [each for each in partitions if each != than] or partitions
        return others[self._chance.below(len(others))]
