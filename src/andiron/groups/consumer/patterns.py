r"""Subscriptions by pattern (SubscribedTopicRegex, KIP-848): which topics does an RE2 pattern match?

orders\..*     ──▶  model/re2  ──▶  orders.eu, orders.us
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from andiron.groups.topics import Topics
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis
from andiron.model.line import Line
from andiron.model.re2.pattern import matching

# Internal topics match no pattern, so that nobody reads them by accident; they can be subscribed to by name.
INTERNAL = frozenset(("__consumer_offsets", "__transaction_state", "__share_group_state"))

log = logging.getLogger(__name__)


def topics_matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The topics that a pattern matches, sorted."""
    return sorted(matching(pattern, (name for name in names if name not in INTERNAL), str))


class Matches:
    """The topics that patterns match at the moment, for all groups of a shard."""

    def __init__(self, topics: Topics, refresh_interval_ms: int) -> None:
        self._topics, self._refresh_interval_ms = topics, refresh_interval_ms
        self._version = topics.version
        self._found: dict[str, tuple[Millis, tuple[str, ...]]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def of(self, pattern: str, now: Millis) -> tuple[str, ...]:
        """The topics that a pattern matches, looked up anew if there may be others by now. A pattern that another
        broker has let in and that is none here, or takes too long among the topics there are, matches nothing."""
        if self._topics.version != self._version:
            self._version = self._topics.version
            self._found.clear()
        self._forget_old(now)
        if pattern not in self._found:
            self._found[pattern] = now, self._look_up(pattern)
        return self._found[pattern][1]

    def _forget_old(self, now: Millis) -> None:
        """What was looked up too long ago counts no more, be it of a group that is gone: the oldest come first."""
        while self._found:
            pattern, (at, _) = next(iter(self._found.items()))
            if now - at <= self._refresh_interval_ms:
                return
            del self._found[pattern]

    def _look_up(self, pattern: str) -> tuple[str, ...]:
        try:
            return tuple(topics_matching(pattern, self._topics.names()))
        except ProtocolError as error:
            log.warning(
                Line("Subscription by a pattern matches no topic", pattern=pattern, error=error.detail)
            )
            return ()
