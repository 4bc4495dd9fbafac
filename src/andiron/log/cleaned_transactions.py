"""Transactions as the cleaner comes past them: whose data go, and when their markers may follow.

    data of 7 · data of 9 · data of 7 · ABORT 7 · COMMIT 9
    gone        as any      gone        │         └ stays while data of its transaction were seen
                                        └ stays likewise; then its entry leaves the .txnindex

Data of an aborted transaction go at once: no reader of committed records has ever been shown them.
A marker is of use as long as anything it decides about is there. Once a round comes past it without
having seen data of its transaction, the marker gets a delete horizon like a tombstone, so that a
reader underway has time to see it, and goes in a round after that.

The law: batches are shown in the order of the log, from its beginning or from where the transactions
given begin to matter.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.log.abort_index import AbortedTransaction
from andiron.records.batch import Batch
from andiron.records.control import end_marker_of


class CleanedTransactions:
    """What is known of transactions at one point of a round of cleaning."""

    __slots__ = ("_aborted", "_committed", "_to_come", "ended")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._to_come = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
        self._aborted: dict[int, tuple[AbortedTransaction, bool]] = {}  # by producer; were data of it seen?
        self._committed: set[int] = set()  # producers with data seen whose marker has not come yet
        self.ended: AbortedTransaction | None = (
            None  # whose marker came last and has data left to decide about
        )

    def is_aborted(self, batch: Batch) -> bool:
        """A data batch comes by: does it belong to a transaction that was aborted?"""
        self._come_to(batch.last_offset)
        if not batch.is_transactional:
            return False
        known = self._aborted.get(batch.producer_id)
        if known is None:
            self._committed.add(batch.producer_id)
            return False
        self._aborted[batch.producer_id] = known[0], True
        return True

    def is_spent(self, batch: Batch) -> bool:
        """A control batch comes by: is nothing left for it to decide about? Sets `ended`."""
        self._come_to(batch.last_offset)
        self.ended = None
        if not batch.count:
            return True  # an earlier round took its record and kept the header
        marker = end_marker_of(batch)
        if marker is None:
            return False
        if marker.committed:
            seen = batch.producer_id in self._committed
            self._committed.discard(batch.producer_id)
            return not seen
        aborted, seen = self._aborted.pop(batch.producer_id, (None, False))
        if seen:
            self.ended = aborted
        return not seen

    def _come_to(self, offset: int) -> None:
        while self._to_come and self._to_come[-1].first_offset <= offset:
            aborted = self._to_come.pop()
            self._aborted[aborted.producer_id] = aborted, False
