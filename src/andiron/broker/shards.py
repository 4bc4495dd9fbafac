"""A deciding machine and the partition its state lives in.

The controller, and each coordinator, is a machine whose state is a log. Every request to
one goes the same way:

    decide ─▶ records ─▶ append to its own partition ─▶ replay ─▶ Wait for the watermark ─▶ response

`decide` changes nothing; `replay` is the only thing that does. So loading one after a
restart or a failover is `replay` over the log, and a coordinator is just a producer to its
own partition. A decision that writes nothing waits too: what it has seen may not be
committed yet, and an answer must not be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from andiron.broker.partition import Partition
from andiron.broker.waiting import Wait
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, Offset
from andiron.model.machine import DecidingMachine
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of

READ_BYTES = 1 << 20

T = TypeVar("T")


class Shard(Generic[T]):
    """One machine, its partition, and how its records are put into bytes."""

    def __init__(
        self, partition: Partition, machine: DecidingMachine[T], encode: Callable[[T], bytes]
    ) -> None:
        self.partition, self.machine, self._encode = partition, machine, encode

    def load(self, decode: Callable[[bytes], T]) -> None:
        """Bring the machine to the end of its log, as after a restart or a change of leader."""
        for record in data_records(self.partition, self.partition.log.start, self.partition.log.end):
            self.machine.replay(decode(record.value or b""), Offset(record.offset))

    def run(self, request: object, now: Millis, timeout_ms: int = 0) -> Wait:
        """Decide a request; the Wait gives its response once everything it rests on is committed."""
        decision = self.machine.decide(request, now)
        if decision.records:
            self._write(decision.records, now)
        partition, end = self.partition, self.partition.log.end
        return Wait(
            watch=(partition,),
            until=lambda: partition.failure is not None or partition.watermark >= end,
            deadline=Millis(now + max(0, timeout_ms)),
            then=lambda: _given(partition, decision.response),
            otherwise=lambda: _too_late(timeout_ms),
        )

    def _write(self, records: list[T], now: Millis) -> None:
        first = self.partition.log.end
        batch = build(Record(i, now, None, self._encode(record)) for i, record in enumerate(records))
        self.partition.append_own(batch, now)
        for offset, record in enumerate(records, first):
            self.machine.replay(record, Offset(offset))


def batches_between(partition: Partition, start: Offset, end: Offset) -> Iterator[Batch]:
    """The batches of a partition's log from `start` up to `end`, read piece by piece."""
    while start < end:
        piece = partition.log.read(start, READ_BYTES, end, at_least_one=True)
        if piece is None:
            return
        for batch in iterate(piece.read()):
            if batch.next_offset > start:
                yield batch
                start = Offset(batch.next_offset)


def data_records(partition: Partition, start: Offset, end: Offset) -> Iterator[Record]:
    """The records of those batches, without the control records."""
    for batch in batches_between(partition, start, end):
        if not batch.is_control:
            yield from (record for record in records_of(batch) if record.offset >= start)


def _given(partition: Partition, response: object) -> object:
    if partition.failure is not None:
        raise ErrorCode.KAFKA_STORAGE_ERROR.error(partition.failure)
    return response


def _too_late(timeout_ms: int) -> object:
    raise ErrorCode.REQUEST_TIMED_OUT.error(f"not committed within {timeout_ms} ms")
