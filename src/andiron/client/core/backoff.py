"""Exponential backoff with jitter between retries (KIP-580): retry.backoff.ms to retry.backoff.max.ms.

The jitter keeps many clients that lost the same broker from coming back in the same millisecond.
"""

from __future__ import annotations

from andiron.model.chance import Chance

_JITTER_PERCENT = 20


class Backoff:
    """The pauses between the attempts of one operation."""

    __slots__ = ("_chance", "_first_ms", "_most_ms", "attempts")

    def __init__(self, first_ms: int, most_ms: int, chance: Chance) -> None:
        self._first_ms, self._most_ms, self._chance = first_ms, most_ms, chance
        self.attempts = 0

    def next_ms(self) -> int:
        """The pause before the next attempt."""
        pause = min(self._first_ms << min(self.attempts, 30), self._most_ms)
        self.attempts += 1
        spread = pause * _JITTER_PERCENT // 100
        return pause - spread + self._chance.below(2 * spread + 1)
