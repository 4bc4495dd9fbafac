"""How fast replicas that are being moved may catch up, so that clients do not suffer for it (KIP-73).

    follower.replication.throttled.replicas = 3:2, 5:2      of a topic: which replicas, as partition:broker, or *
    follower.replication.throttled.rate     = 10485760      of a broker: bytes a second, for all of them together

The same exists on the leader's side. Whatever is in sync is never held back: it would fall out by that. A bucket fills
at the rate and holds a second's worth; what is fetched is taken out of it, and while it is empty nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from andiron.broker.settings.broker_settings import BrokerSettings
from andiron.broker.settings.live_settings import LiveSettings
from andiron.model.ids import Millis, NodeId
from andiron.model.settings import MAX_LONG

ALL = "*"


class ReplicationQuota:
    """A bucket of bytes."""

    def __init__(self, settings: LiveSettings, rate: Callable[[BrokerSettings], int]) -> None:
        """`rate` is the setting that holds it to so many bytes a second."""
        self._settings, self._rate_of = settings, rate
        self._left = 0.0
        self._filled_at = Millis(0)

    def spend(self, size: int, now: Millis) -> None:
        """So much has been fetched."""
        if self._rate() < MAX_LONG:
            self._fill(now)
            self._left -= size

    def is_spent(self, now: Millis) -> bool:
        """Whether nothing more may be fetched for now."""
        if self._rate() == MAX_LONG:
            return False
        self._fill(now)
        return self._left <= 0

    def _rate(self) -> int:
        return self._rate_of(self._settings.current())

    def _fill(self, now: Millis) -> None:
        rate = self._rate()
        self._left = min(float(rate), self._left + rate * (now - self._filled_at) / 1000)
        self._filled_at = now


def is_throttled(replicas: Sequence[str], index: int, node: NodeId) -> bool:
    """Whether a topic's list has this replica in it."""
    return bool(replicas) and (replicas[0] == ALL or f"{index}:{node}" in replicas)
