"""The transaction coordinator (KIP-98) of one partition of `__transaction_state`.

    request ──▶ decide ──▶ Decision(response, records) ──▶ the partition's log ──▶ replay ──▶ transactions, debts
                                                                                      │
                          markers ◀── take_markers(upto: what is committed) ◀─────────┘
                             └─ written by the broker ──▶ MarkersWritten ──▶ Complete record

Decisions are made from what the log says of one transactional id, and are one record: a transaction is all or nothing
because its outcome is a single record, and a partition believes the marker that follows from it.

Soft, and gone with the machine: which markers were written already, when to look for what takes too long, and since
when each transaction is open. That is measured by a clock that cannot be set; only one that another coordinator began
is as old as its record says.

Read next: states.py, transaction.py, then the parts that decide: initiation.py, partitions.py, ending.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from andiron.model.ids import NEVER, Millis, Offset, wall_time
from andiron.model.machine import Decision, LogLoaded, TimePassed
from andiron.transactions import ending, initiation
from andiron.transactions.ending import end_transaction
from andiron.transactions.expiry import Sweep, is_timed_out, is_unused
from andiron.transactions.initiation import init_producer
from andiron.transactions.listing import describe, list_them
from andiron.transactions.markers import OwedMarkers
from andiron.transactions.partitions import add_partitions
from andiron.transactions.records import TransactionRecord
from andiron.transactions.requests import (
    AddPartitions,
    DescribeTransaction,
    EndTransaction,
    InitProducer,
    Markers,
    MarkersWritten,
)
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.states import State
from andiron.transactions.transaction import Identity, Transaction, tombstone, transaction_of
from andiron.wire.messages.list_transactions import ListTransactionsRequest

FORGOTTEN_AT_ONCE = 100  # ids whose tombstones go into one batch


class TransactionShard:
    """The deciding machine whose state is one partition of `__transaction_state`."""

    def __init__(
        self,
        settings: TransactionSettings,
        coordinator_epoch: int,
        has_partition: Callable[[str, int], bool],
    ) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._settings = settings
        self._ongoing: dict[str, Millis] = {}  # since when each transaction is open, by the monotonic clock
        self._now = Millis(0)  # the time of the last request, from which what is replayed follows
        self._owed = OwedMarkers(coordinator_epoch, has_partition)
        self._aborting = Sweep(settings.transaction_abort_timed_out_transaction_cleanup_interval_ms)
        self._forgetting = Sweep(settings.transaction_remove_expired_transaction_cleanup_interval_ms)
        known = self.transactions.get
        self._deciders: dict[type, Callable[[Any, Millis], Decision[TransactionRecord]]] = {
            InitProducer: lambda r, now: init_producer(
                r, known(r.transactional_id), settings, wall_time(now)
            ),
            AddPartitions: lambda r, now: add_partitions(r, known(r.transactional_id), wall_time(now)),
            EndTransaction: lambda r, now: end_transaction(r, known(r.transactional_id), wall_time(now)),
            MarkersWritten: self._written,
            DescribeTransaction: lambda r, _: Decision(
                describe(r.transactional_id, known(r.transactional_id))
            ),
            ListTransactionsRequest: lambda r, now: Decision(
                list_them(r, self.transactions.values(), wall_time(now))
            ),
            TimePassed: lambda _, now: self._time_passed(now),
            LogLoaded: lambda _, now: self._loaded(now),
        }

    def decide(self, request: Any, now: Millis) -> Decision[TransactionRecord]:
        """The response and the records that follow from a request; raises if it is refused."""
        self._now = now
        return self._deciders[type(request)](request, now)

    def needs_fresh_id(self, request: InitProducer | EndTransaction) -> bool:
        """Whether a request must come with a fresh producer id (AllocateProducerIds)."""
        current = self.transactions.get(request.transactional_id)
        if isinstance(request, InitProducer):
            return initiation.needs_fresh_id(request, current)
        return ending.needs_fresh_id(request, current)

    def take_markers(self, upto: Offset) -> list[Markers]:
        """The markers of transactions whose Prepare record is below `upto`, the high watermark; each is given once."""
        return self._owed.take(upto)

    def put_back(self, markers: Markers) -> None:
        """Markers that could not be written: `take_markers` gives them again."""
        self._owed.put_back(markers)

    def replay(self, record: TransactionRecord, offset: Offset) -> None:
        """Replay a record that stands in the log at `offset`; raises CORRUPT_MESSAGE if it is none."""
        transactional_id, value = record
        if value is None:
            self.transactions.pop(transactional_id, None)
            self._ongoing.pop(transactional_id, None)
            self._owed.forget(transactional_id)
            return
        transaction = transaction_of(transactional_id, value)
        self.transactions[transactional_id] = transaction
        if transaction.state is State.ONGOING:
            self._ongoing.setdefault(transactional_id, self._now)
        else:
            self._ongoing.pop(transactional_id, None)
        self._owed.replay(transaction, offset)

    @property
    def ongoing(self) -> int:
        """How many transactions are ongoing, and may time out."""
        return len(self._ongoing)

    @property
    def owing(self) -> int:
        """How many ended transactions still owe markers to partitions."""
        return len(self._owed)

    def next_deadline(self) -> Millis:
        """When to look next for transactions that time out and ids that expire, if there are any."""
        aborting = self._aborting.deadline if self._ongoing else NEVER
        forgetting = self._forgetting.deadline if self.transactions else NEVER
        return min(aborting, forgetting)

    def _loaded(self, now: Millis) -> Decision[TransactionRecord]:
        for transactional_id in self._ongoing:
            started_at = self.transactions[transactional_id].started_at
            self._ongoing[transactional_id] = Millis(now - max(0, wall_time(now) - started_at))
        self._aborting.start(now)
        self._forgetting.start(now)
        return Decision(None)

    def _time_passed(self, now: Millis) -> Decision[TransactionRecord]:
        late = self._aborting.due(now, self._ongoing, lambda each: self._is_late(each, now), most=1)
        for transactional_id in late:
            current = self.transactions[transactional_id]
            aborted = ending.abort(current, current.holder.producer_id, wall_time(now))
            return Decision(None, [aborted.record()])
        unused = self._forgetting.due(
            now, self.transactions, lambda each: self._is_unused(each, now), FORGOTTEN_AT_ONCE
        )
        return Decision(None, [tombstone(each) for each in unused])

    def _is_late(self, transactional_id: str, now: Millis) -> bool:
        current = self.transactions.get(transactional_id)
        since = self._ongoing.get(transactional_id)
        return current is not None and since is not None and is_timed_out(current, now - since)

    def _is_unused(self, transactional_id: str, now: Millis) -> bool:
        current = self.transactions.get(transactional_id)
        expiration_ms = self._settings.transactional_id_expiration_ms
        return current is not None and is_unused(current, wall_time(now), expiration_ms)

    def _written(self, report: MarkersWritten, now: Millis) -> Decision[TransactionRecord]:
        identity = Identity(report.producer_id, report.producer_epoch)
        if not self._owed.written(report.transactional_id, identity, report.partitions):
            return Decision(None)
        return Decision(None, [self.transactions[report.transactional_id].completed(wall_time(now)).record()])
