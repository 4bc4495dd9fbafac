"""Idempotence (KIP-98): what each producer wrote last, so that nothing is written twice or out of turn.

A producer numbers its records, per partition, from 0; a batch says which numbers it holds.

    remembered   [0‥4] [5‥9] [10‥10] [11‥15] [16‥20]      the last five batches, with their offsets
    arrives      [21‥30]   next in turn: written
                 [11‥15]   written before: answered with its offset, not written again
                 [25‥26]   something is missing: OUT_OF_ORDER_SEQUENCE_NUMBER
                 any, with a lower epoch: INVALID_PRODUCER_EPOCH

A producer not known here (new, or forgotten after producer.id.expiration.ms) may begin anywhere. A
higher epoch begins at 0. Numbers wrap from 2^31-1 to 0.

How long a producer has been silent goes by this node's clock, from the first look at it that `expire` takes after its
last batch. Kafka goes by the timestamps in that batch: there a producer whose records are a day old, or have no
timestamps, is forgotten while it writes, and what it sends again is then written twice.

A transaction is open from a producer's first transactional batch to the marker that ends it. What
read_committed readers may see ends before the oldest one open, or ended by a marker that is not
committed itself yet (`last_stable`). One that is ended is remembered for as long as that, and whoever
sees the watermark move says so (`committed`): nobody may ever read here.

The law: this state is a function of the log, but for `idle_since`. Whatever is appended, replicated or replayed goes
through `replay`, and only what a leader takes from a producer is checked before.

Read next: producer_snapshots.py, how it is kept on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from andiron.log.abort_index import AbortedTransaction
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TIMESTAMP
from andiron.records.batch import CONTROL, TRANSACTIONAL, Batch
from andiron.records.control import EndMarker, end_marker_of

REMEMBERED_BATCHES = 5
NO_TRANSACTION = -1

_SEQUENCES = 1 << 31


@dataclass(slots=True)
class BatchMetadata:
    """The sequences and offsets of one batch of an idempotent producer (KIP-98)."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) % _SEQUENCES

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class ProducerState:
    """One producer's latest batches, and its open transaction."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "id",
        "idle_since",
        "last_timestamp",
        "next_sequence",
        "transaction_start",
    )

    def __init__(self, producer_id: int, epoch: int) -> None:
        self.id, self.epoch = producer_id, epoch
        self.batches: list[BatchMetadata] = []
        self.next_sequence = 0
        self.last_timestamp: int = NO_TIMESTAMP
        self.idle_since: int | None = None  # when `expire` first looked at it after its last batch
        self.coordinator_epoch = -1
        self.transaction_start = NO_TRANSACTION

    def enter(self, epoch: int) -> None:
        """Go over to `epoch`; sequences of an older one count no more."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = []
            self.next_sequence = 0

    def remember(self, batch: BatchMetadata) -> None:
        """`batch` is the latest."""
        batches = self.batches
        if len(batches) == REMEMBERED_BATCHES:
            del batches[0]
        batches.append(batch)
        self.next_sequence = (batch.last_sequence + 1) % _SEQUENCES
        self.last_timestamp = batch.timestamp
        self.idle_since = None

    def duplicate_of(self, first_sequence: int, last_sequence: int) -> BatchMetadata | None:
        """The remembered batch with exactly these sequences."""
        for seen in self.batches:
            if seen.last_sequence == last_sequence and seen.first_sequence == first_sequence:
                return seen
        return None


class Producers:
    """All producers that one partition's log knows of."""

    __slots__ = ("_open", "_states", "unreplicated")

    def __init__(self, states: Iterable[ProducerState] = ()) -> None:
        self._states = {state.id: state for state in states}
        started = sorted(
            (state.transaction_start, state.id)
            for state in self._states.values()
            if state.transaction_start != NO_TRANSACTION
        )
        self._open: dict[int, int] = dict(started)  # first offset → producer, the oldest first
        self.unreplicated: dict[int, int] = {}  # first offset → marker of those ended, in the markers' order

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[ProducerState]:
        return iter(self._states.values())

    @property
    def open_transactions(self) -> int:
        """How many producers have a transaction open here."""
        return len(self._open)

    def get(self, producer_id: int) -> ProducerState | None:
        """What is known of a producer."""
        return self._states.get(producer_id)

    def check(self, batch: Batch) -> BatchMetadata | None:
        """May a leader append this batch? None: yes. If it was appended before: as what."""
        state = self._states.get(batch.producer_id)
        if batch.attributes & CONTROL:
            _check_marker(batch, state)
            return None
        if state is None:
            return None
        epoch, first = batch.producer_epoch, batch.base_sequence
        if epoch != state.epoch:
            if epoch < state.epoch:
                raise _fenced(batch, state)
            if first > 0:
                raise _out_of_order(batch, f"epoch {epoch} begins at 0")
        elif first != state.next_sequence and first >= 0:
            seen = state.duplicate_of(first, batch.last_sequence)
            if seen is not None:
                return seen
            raise _out_of_order(batch, f"{state.next_sequence} comes next")
        if state.transaction_start != NO_TRANSACTION and not batch.attributes & TRANSACTIONAL:
            raise ErrorCode.INVALID_TXN_STATE.error(
                f"producer {state.id} writes outside of its open transaction"
            )
        return None

    def replay(self, batch: Batch, base_offset: int, max_timestamp: int) -> AbortedTransaction | None:
        """A batch is in the log at `base_offset`; returns the transaction that it aborts, if any."""
        state = self._states.get(batch.producer_id)
        if state is None:
            state = self._states[batch.producer_id] = ProducerState(batch.producer_id, batch.producer_epoch)
        elif batch.producer_epoch != state.epoch:
            state.enter(batch.producer_epoch)
        attributes, delta = batch.attributes, batch.last_offset_delta
        if attributes & CONTROL:
            return self._end(state, end_marker_of(batch), base_offset, max_timestamp)
        state.remember(BatchMetadata(batch.last_sequence, base_offset + delta, delta, max_timestamp))
        if attributes & TRANSACTIONAL and state.transaction_start == NO_TRANSACTION:
            state.transaction_start = base_offset
            self._open[base_offset] = state.id
        return None

    def last_stable(self, watermark: int) -> int:
        """Up to where everything is decided, and known to be by all who hold the watermark."""
        if not self._open and not self.unreplicated:
            return watermark
        undecided = (first for first, marker in self.unreplicated.items() if marker >= watermark)
        return min(next(iter(self._open), watermark), watermark, *undecided)

    def committed(self, watermark: int) -> None:
        """Everything below `watermark` is committed: what was ended there is done with."""
        while self.unreplicated:
            first, marker = next(iter(self.unreplicated.items()))
            if marker >= watermark:
                return
            del self.unreplicated[first]

    def expire(self, now: int, expiration_ms: int) -> int:
        """Forget producers that have written nothing for so long; returns how many."""
        gone = []
        for state in self._states.values():
            if state.transaction_start != NO_TRANSACTION:
                continue
            if state.idle_since is None:
                state.idle_since = now
            elif now - state.idle_since >= expiration_ms:
                gone.append(state.id)
        for producer_id in gone:
            del self._states[producer_id]
        return len(gone)

    def _end(
        self, state: ProducerState, marker: EndMarker | None, offset: int, timestamp: int
    ) -> AbortedTransaction | None:
        if marker is None:
            return None
        state.coordinator_epoch, state.last_timestamp = marker.coordinator_epoch, timestamp
        state.idle_since = None
        first, state.transaction_start = state.transaction_start, NO_TRANSACTION
        if first == NO_TRANSACTION:
            return None
        del self._open[first]
        self.unreplicated[first] = offset
        if marker.committed:
            return None
        return AbortedTransaction(state.id, first, offset, next(iter(self._open), offset + 1))


def _check_marker(batch: Batch, state: ProducerState | None) -> None:
    marker = end_marker_of(batch)
    if state is None or marker is None:
        return
    if batch.producer_epoch < state.epoch:
        raise _fenced(batch, state)
    if marker.coordinator_epoch < state.coordinator_epoch:
        raise ErrorCode.TRANSACTION_COORDINATOR_FENCED.error(
            f"coordinator epoch {marker.coordinator_epoch} is below {state.coordinator_epoch}"
        )


def _fenced(batch: Batch, state: ProducerState) -> ProtocolError:
    return ErrorCode.INVALID_PRODUCER_EPOCH.error(
        f"producer {state.id} has epoch {state.epoch}; the batch has {batch.producer_epoch}"
    )


def _out_of_order(batch: Batch, expected: str) -> ProtocolError:
    return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.error(
        f"producer {batch.producer_id} sends sequence {batch.base_sequence}; {expected}"
    )
