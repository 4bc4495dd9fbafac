"""Transaction markers that are still to be written (WriteTxnMarkers): the partitions of ended transactions.

    Prepare record ──▶ owed ──▶ taken, when the record is committed ──▶ written ──▶ Complete record
                        ▲            │
                        └─ put back ─┘   their leader is away

What is owed follows from the log: a Prepare record owes a marker to each of its partitions, a Complete record owes
nothing. Which of them have been written meanwhile is remembered here and nowhere else. A coordinator that begins
anew writes them all again, and a partition that has its marker takes no harm from another one.

A partition whose topic is gone has nothing to be told.

The law: no marker goes out before its Prepare record is committed. A coordinator that is deposed in between would
have told some partitions an outcome that its successor knows nothing of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from andiron.model.ids import Offset, TopicPartition
from andiron.transactions.requests import Markers
from andiron.transactions.states import State
from andiron.transactions.transaction import Identity, Transaction


class _Debt:
    """The markers that one ended transaction still owes to its partitions."""

    __slots__ = ("offset", "taken", "transaction", "untaken")

    def __init__(self, transaction: Transaction, offset: Offset) -> None:
        self.transaction, self.offset = transaction, offset
        self.untaken: dict[TopicPartition, None] = dict(transaction.partitions)
        self.taken: dict[TopicPartition, None] = {}


class OwedMarkers:
    """The owed markers of a shard, by transactional id."""

    def __init__(self, coordinator_epoch: int, has_partition: Callable[[str, int], bool]) -> None:
        self._coordinator_epoch, self._has_partition = coordinator_epoch, has_partition
        self._debts: dict[str, _Debt] = {}
        self._waiting: dict[str, None] = {}  # the ids with markers that can be taken

    def __len__(self) -> int:
        return len(self._debts)

    def replay(self, transaction: Transaction, offset: Offset) -> None:
        """Replay a transaction's record at `offset`: Prepare owes markers to all its partitions, Complete none."""
        self.forget(transaction.id)
        if transaction.state.is_prepared:
            self._debts[transaction.id] = _Debt(transaction, offset)
            self._waiting[transaction.id] = None

    def forget(self, transactional_id: str) -> None:
        """No markers are owed for this transactional id any more."""
        self._debts.pop(transactional_id, None)
        self._waiting.pop(transactional_id, None)

    def take(self, upto: Offset) -> list[Markers]:
        """The markers, not taken yet, of transactions whose Prepare record is committed, that is, below `upto`."""
        if not self._waiting:
            return []
        ready = [each for each in self._waiting if self._debts[each].offset < upto]
        for transactional_id in ready:
            del self._waiting[transactional_id]
        taken = (self._take(self._debts[transactional_id]) for transactional_id in ready)
        return [markers for markers in taken if markers is not None]

    def put_back(self, markers: Markers) -> None:
        """Markers that could not be written: they can be taken again."""
        debt = self._debt_of(markers.transactional_id, markers.producer_id, markers.producer_epoch)
        if debt is not None:
            for partition in markers.partitions:
                if partition in debt.taken:
                    del debt.taken[partition]
                    debt.untaken[partition] = None
            self._waiting[markers.transactional_id] = None

    def written(
        self, transactional_id: str, identity: Identity, partitions: Iterable[TopicPartition]
    ) -> bool:
        """These partitions have their marker. True: so have all others, or were deleted; the last are not crossed off
        until the Complete record is there, so it can be asked again."""
        debt = self._debt_of(transactional_id, *identity)
        if debt is None:
            return False
        told = dict.fromkeys(partitions)
        if all(each in told for each in debt.taken) and all(each in told for each in debt.untaken):
            return True
        for partition in told:
            debt.taken.pop(partition, None)
            debt.untaken.pop(partition, None)
        return False

    def _debt_of(self, transactional_id: str, producer_id: int, epoch: int) -> _Debt | None:
        """The owed markers of this producer epoch; None for those of an earlier transaction, reported late."""
        debt = self._debts.get(transactional_id)
        return debt if debt is not None and debt.transaction.producer == (producer_id, epoch) else None

    def _take(self, debt: _Debt) -> Markers | None:
        there = [each for each in debt.untaken if self._has_partition(each.topic, each.partition)]
        debt.untaken = {}
        if not there and debt.taken:
            return None  # the others are on their way, and will be reported
        debt.taken.update(dict.fromkeys(there))
        transaction = debt.transaction
        return Markers(
            transaction.id,
            *transaction.producer,
            transaction.state is State.PREPARE_COMMIT,
            self._coordinator_epoch,
            tuple(there),
            transaction.version,
        )
