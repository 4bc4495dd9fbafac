"""Lines of the log that could come with every request: each is written now and then, with how often it was left out.

    12:00:00  ERROR  produce to orders-3 failed: No space left on device
    12:01:00  ERROR  produce to orders-3 failed: No space left on device (18,211 times since)

What an operator wants to have seen, he sees within a minute; a disk that is full must not fill the other one with lines
that say so.
"""

from __future__ import annotations

from collections.abc import Hashable

from andiron.broker.node.patience import SELDOM_MS
from andiron.model.ids import Millis

ABOUT_MAX = 1_000  # things that are spoken of


class Seldom:
    """When each thing was last spoken of, and how often it was passed over since."""

    def __init__(self) -> None:
        self._told: dict[Hashable, list[int]] = {}  # when, and how often not since; the longest ago first

    def again(self, about: Hashable, now: Millis) -> str | None:
        """What to add to a line that is written now; None if it is too soon."""
        told = self._told.get(about)
        if told is not None and now - told[0] < SELDOM_MS:
            told[1] += 1
            return None
        self._told.pop(about, None)
        if len(self._told) >= ABOUT_MAX:
            del self._told[next(iter(self._told))]
        self._told[about] = [now, 0]
        return f" ({told[1]:,} times since)" if told is not None and told[1] else ""
