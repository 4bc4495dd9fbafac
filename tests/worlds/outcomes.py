"""What transactions come to: partitions that know producers, and a coordinator whose log is watched as it grows.

A model for tests/properties/test_transactions.py: it notes what each transaction was told, and stops where an outcome
is fixed twice, an epoch goes back, or a producer id is taken up again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from andiron.model.ids import TopicPartition
from andiron.transactions.records import TransactionRecord
from andiron.transactions.requests import Markers
from andiron.transactions.states import State
from andiron.transactions.transaction import Identity, Transaction
from worlds.transacting import Coordinator


class Label(NamedTuple):
    """A transaction as its producer knows it."""

    writer: Identity
    serial: int


class Partition:
    """What a partition knows of producers, and how the transactions in it ended."""

    def __init__(self) -> None:
        self.epochs: dict[int, int] = {}
        self.coordinator_epochs: dict[int, int] = {}
        self.open: dict[int, Label] = {}
        self.outcomes: dict[Label, bool] = {}

    def write(self, label: Label) -> bool:
        producer_id, epoch = label.writer
        if epoch < self.epochs.get(producer_id, -1):
            return False
        self.epochs[producer_id] = epoch
        assert self.open.setdefault(producer_id, label) == label, "one transaction runs into the next"
        return True

    def mark(self, markers: Markers) -> bool:
        producer_id, epoch = markers.producer_id, markers.producer_epoch
        lowest = self.epochs.get(producer_id, -1)
        if markers.version >= 2 and producer_id in self.open:
            lowest += 1  # the marker of a transaction has an epoch above it
        if epoch < lowest or markers.coordinator_epoch < self.coordinator_epochs.get(producer_id, -1):
            return False
        self.epochs[producer_id] = epoch
        self.coordinator_epochs[producer_id] = markers.coordinator_epoch
        label = self.open.pop(producer_id, None)
        if label is not None:
            assert label not in self.outcomes, "a transaction ends once"
            self.outcomes[label] = markers.committed
        return True


@dataclass(eq=False)
class Producer:
    """One incarnation, with what it believes."""

    transactional_id: str
    identity: Identity | None = None
    serial: int = 0  # of its transactions
    doing: Label | None = None  # its transaction, or the one it has taken over
    heir: bool = False
    failed: bool = False  # a write of its transaction was refused: it can only abort
    ending: Ending | None = None  # not answered yet


@dataclass(eq=False)
class Ending:
    """A request to end a transaction, which may be delivered any number of times."""

    producer: Producer
    identity: Identity
    label: Label | None
    committed: bool


class Write(NamedTuple):
    """A batch that its partition may take, since the coordinator has been asked. It may take its time."""

    label: Label
    partition: TopicPartition


class Watched(Coordinator):
    """A coordinator whose log is checked as it grows."""

    def __init__(self) -> None:
        self.holders: dict[str, Identity] = {}
        self.held_ids: dict[int, None] = {}  # producer ids, each ever held
        self.ongoing: dict[str, Label] = {}
        self.decisions: dict[Label, bool] = {}
        self.beginning: Label | None = None  # whose write is being handled
        self.watermark = 0  # up to where the log cannot be lost
        self._tracks = [self._track()]  # what was known at each length of the log
        super().__init__()

    def append(self, record: TransactionRecord) -> None:
        name = record.transactional_id
        before = self.shard.transactions.get(name)
        super().append(record)
        self._follow(name, before, self.shard.transactions.get(name))
        self._tracks.append(self._track())

    def commit_all(self) -> None:
        """Nothing is answered before it is committed."""
        self.watermark = len(self.log)

    def crash(self, losing: int) -> None:
        """Begin anew, maybe without the last records: no more of them than nobody has heard of."""
        del self.log[max(self.watermark, len(self.log) - losing) :]
        del self._tracks[len(self.log) + 1 :]
        self.holders, self.held_ids, self.ongoing, self.decisions = map(dict, self._tracks[-1])
        self.begin()

    def _track(self) -> tuple[dict[Any, Any], ...]:
        return tuple(map(dict, (self.holders, self.held_ids, self.ongoing, self.decisions)))

    def _follow(self, name: str, before: Transaction | None, after: Transaction | None) -> None:
        if after is None:
            assert before is not None and before.state.is_at_rest, "what is under way is not forgotten"
            del self.holders[name]
            return
        self._check_holder(name, after.holder)
        if before is not None:
            assert before.state.may_become(after.state)
        if after.state is State.ONGOING and (before is None or before.state is not State.ONGOING):
            assert self.beginning is not None
            self.ongoing[name] = self.beginning
        if after.state.is_prepared and before is not None and before.state is State.ONGOING:
            label = self.ongoing.pop(name)
            assert label not in self.decisions, "an outcome is fixed once"
            self.decisions[label] = after.state is State.PREPARE_COMMIT

    def _check_holder(self, name: str, holder: Identity) -> None:
        last = self.holders.get(name)
        if last is not None and last.producer_id == holder.producer_id:
            assert holder.epoch >= last.epoch, "epochs never go back"
        else:
            assert holder.producer_id not in self.held_ids, "a producer id is never taken up again"
        self.holders[name] = holder
        self.held_ids[holder.producer_id] = None
