"""isolation.level: which batches of a fetch response a reader sees, without control batches and aborted ones.

    batches of an answer        a1  b1  a2  A✗  a3  b2  B✓  a4      two producers, and the ends of transactions
    aborted, as it tells        producer a from a1 on
    seen by read_committed          b1          a3  b2      a4

Control batches are seen by nobody. A reader of committed records gets no further than the first
transaction that is still open (the broker sees to that), and is told which transactions in what it got were
aborted: each by its producer and its first offset. From there on the producer's transactional batches are
passed over, up to the marker that ends the transaction.

The law: batches are shown in the order of the answer, every one of them, since a marker among those passed
over ends what is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.records.batch import Batch
from andiron.records.control import end_marker_of
from andiron.wire.messages.fetch import AbortedTransaction

READ_UNCOMMITTED, READ_COMMITTED = 0, 1


class Isolation:
    """Filters one fetch response's batches of one partition by its list of aborted transactions."""

    __slots__ = ("_aborting", "_ahead")

    def __init__(self, aborted: Iterable[AbortedTransaction] | None = None) -> None:
        ahead = [(each.first_offset, each.producer_id) for each in aborted or ()]
        self._ahead = sorted(ahead, reverse=True)  # the next one last
        self._aborting: set[int] = set()

    def shows(self, batch: Batch) -> bool:
        """Whether the next batch is one with records to be seen."""
        while self._ahead and self._ahead[-1][0] <= batch.last_offset:
            self._aborting.add(self._ahead.pop()[1])
        if batch.is_control:
            if batch.producer_id in self._aborting and _aborts(batch):
                self._aborting.discard(batch.producer_id)
            return False
        return not (batch.is_transactional and batch.producer_id in self._aborting)


def _aborts(batch: Batch) -> bool:
    marker = end_marker_of(batch)
    return marker is not None and not marker.committed
