"""Timeouts: transactions past transaction.timeout.ms are aborted, unused transactional ids forgotten.

Both are looked for at intervals, as in Kafka, so a transaction may outlive its timeout by
`transaction.abort.timed.out.transaction.cleanup.interval.ms`. What is found is then dealt with a little at a time, one
decision after the other, and looked at again before it is: its producer may have been faster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from andiron.model.ids import NEVER, Millis
from andiron.transactions.states import State
from andiron.transactions.transaction import Transaction


def is_timed_out(transaction: Transaction, age_ms: int) -> bool:
    """Whether a transaction that has been ongoing for `age_ms` is past its timeout; in two-phase commit, never."""
    if transaction.state is not State.ONGOING or transaction.is_two_phase:
        return False
    return age_ms > transaction.timeout_ms


def is_unused(transaction: Transaction, now: Millis, expiration_ms: int) -> bool:
    """Whether a transactional id has expired (transactional.id.expiration.ms): nothing ongoing for so long."""
    return transaction.state.is_at_rest and transaction.updated_at <= now - expiration_ms


class Sweep:
    """Looks through transactional ids at intervals, and keeps those that fit until each has been dealt with."""

    def __init__(self, interval_ms: int) -> None:
        self._interval_ms = interval_ms
        self._next = NEVER
        self._found: deque[str] = deque()

    @property
    def deadline(self) -> Millis:
        """When to look through them next; where some that were found still wait, since when."""
        return self._next

    def start(self, now: Millis) -> None:
        """Begin the first interval."""
        self._next = Millis(now + self._interval_ms)

    def due(self, now: Millis, everyone: Iterable[str], fits: Callable[[str], bool], most: int) -> list[str]:
        """Up to `most` transactional ids that `fits`; none once all are dealt with, until the next interval is over."""
        if now < self._next:
            return []
        if not self._found:
            self._found.extend(each for each in everyone if fits(each))
        while self._found and not fits(self._found[0]):
            self._found.popleft()
        if not self._found:
            self.start(now)
        first = (self._found[place] for place in range(min(most, len(self._found))))
        return [each for each in first if fits(each)]
