"""Lines of the log that could come with every request, or every try: each is written once a minute, with how often it
was left out meanwhile.

    12:00:00 ERROR Produce is refused … error="No space left on device" suppressed=0
    12:01:00 ERROR Produce is refused … error="No space left on device" suppressed=18211

What an operator wants to have seen, he sees within a minute; a disk that is full must not fill the other one with lines
that say so.
"""

from __future__ import annotations

from collections.abc import Hashable

from andiron.broker.node.patience import LOG_LIMIT_MS
from andiron.model.ids import Millis

ABOUT_MAX = 1_000  # things that are spoken of


class LogLimiter:
    """When a log line about each thing was last written, and how many were left out since."""

    def __init__(self) -> None:
        self._told: dict[Hashable, list[int]] = {}  # when, and how often not since; the longest ago first

    def again(self, about: Hashable, now: Millis) -> int | None:
        """How many lines were suppressed before one that is written now; None if it is too soon."""
        told = self._told.get(about)
        if told is not None and now - told[0] < LOG_LIMIT_MS:
            told[1] += 1
            return None
        self._told.pop(about, None)
        if len(self._told) >= ABOUT_MAX:
            del self._told[next(iter(self._told))]
        self._told[about] = [now, 0]
        return 0 if told is None else told[1]
