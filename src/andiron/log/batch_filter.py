"""What stays of one batch in a round of compaction: the rules, batch by batch.

    data      records that are the latest of their keys; tombstones until the delete horizon; nothing of an
              aborted transaction
    control   the marker, until its delete horizon, which is set once it has nothing left to decide about
    header    alone, where records go but their producer's last sequence or the round's last offset is in it

The delete horizon stands in the batch itself, in place of the base timestamp: the first round that
meets a tombstone or a spent marker sets it delete.retention.ms ahead. So a reader that starts at the
beginning has that long to get past the tombstone before it may miss it.

Read next: cleaned_transactions.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from andiron.log.abort_index import AbortedTransaction
from andiron.log.cleaned_transactions import CleanedTransactions
from andiron.log.offset_map import OffsetMap
from andiron.model.settings import MAX_LONG
from andiron.records.batch import Batch
from andiron.records.builder import retain
from andiron.records.record import contents, keys_of


class ProducerEnd(NamedTuple):
    """What must stay in the log of a producer that may still write."""

    last_offset: int | None  # of its last batch of data; None if only a marker tells of it
    epoch: int


class DeleteHorizon(NamedTuple):
    """The time of a round of compaction, by which horizons have passed or not, and how far ahead it sets new ones."""

    now: int
    delete_retention_ms: int

    @property
    def next(self) -> int:
        """The horizon that this round sets."""
        return min(self.now + self.delete_retention_ms, MAX_LONG)

    def has_passed(self, horizon: int | None) -> bool:
        """Whether a batch has a horizon, and readers have had their time to get past it."""
        return horizon is not None and self.now >= horizon


class BatchFilter:
    """Takes a log's batches in their order and gives back what stays of each."""

    __slots__ = (
        "_end",
        "_horizon",
        "_offsets",
        "_producers",
        "_transactions",
        "_upto",
        "ended",
    )

    def __init__(
        self,
        offsets: OffsetMap,
        upto: int,
        *,
        end: int,
        transactions: CleanedTransactions,
        producers: Mapping[int, ProducerEnd],
        horizon: DeleteHorizon,
    ) -> None:
        """`offsets` knows of everything below `upto`; the round ends at `end`."""
        self._offsets, self._upto, self._end = offsets, upto, end
        self._transactions, self._producers = transactions, producers
        self._horizon = horizon
        # If the last batch was the marker of an aborted transaction of which data are left: that one.
        self.ended: AbortedTransaction | None = None

    def keep(self, batch: Batch) -> Batch | None:
        """The batch itself, or one with less in it, or None. Sets `ended`."""
        self.ended = None
        return self._keep_control(batch) if batch.is_control else self._keep_data(batch)

    def _keep_control(self, batch: Batch) -> Batch | None:
        is_spent = self._transactions.is_spent(batch)
        self.ended = self._transactions.ended
        if not is_spent:
            return batch
        horizon = batch.delete_horizon
        if horizon is None and batch.count:
            data = contents(batch)
            spans = [(at.start, at.stop) for at in keys_of(batch, data)]
            return Batch(retain(batch, data, spans, delete_horizon=self._horizon.next))
        if horizon is not None and not self._horizon.has_passed(horizon):
            return batch
        return self._without_records(batch)

    def _keep_data(self, batch: Batch) -> Batch | None:
        if self._transactions.is_aborted(batch):
            return self._without_records(batch)
        data, horizon = contents(batch), batch.delete_horizon
        tombstones_go = self._horizon.has_passed(horizon)
        latest, upto = self._offsets.get, self._upto
        spans, has_tombstone = [], False
        for offset, key, is_tombstone, start, stop in keys_of(batch, data):
            if offset < upto and (key is None or offset < latest(key) or (is_tombstone and tombstones_go)):
                continue
            spans.append((start, stop))
            has_tombstone = has_tombstone or is_tombstone
        if not spans:
            return self._without_records(batch)
        sets_horizon = has_tombstone and horizon is None
        if len(spans) == batch.count and not sets_horizon:
            return batch
        return Batch(retain(batch, data, spans, delete_horizon=self._horizon.next if sets_horizon else None))

    def _without_records(self, batch: Batch) -> Batch | None:
        if batch.next_offset != self._end and not self._is_last_of_producer(batch):
            return None
        return Batch(retain(batch, b"", ())) if batch.count else batch

    def _is_last_of_producer(self, batch: Batch) -> bool:
        """Is this the batch by which duplicates of its producer are known, or an old epoch of it?"""
        known = self._producers.get(batch.producer_id) if batch.producer_id >= 0 else None
        if known is None:
            return False
        if known.last_offset is None:
            return batch.is_control and batch.producer_epoch == known.epoch
        return batch.last_offset == known.last_offset
