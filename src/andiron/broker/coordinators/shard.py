"""A deciding machine and the partition its state lives in.

The controller, and each coordinator, is a machine whose state is a log. Every request to
one goes the same way:

    decide ─▶ records ─▶ append to its own partition ─▶ replay ─▶ Wait for the watermark ─▶ response

`decide` says what should be; `replay` is the only thing that makes it so. So loading one after
a restart or a failover is `replay` over the log, and a coordinator is just a producer to its
own partition. A decision that writes nothing waits too: what it has seen may not be
committed yet, and an answer must not be taken back.

A response may be a promise, kept by the decision on somebody else's request. Whoever was
given one waits for that first, and then for the records it rests on.

A shard that is `gone` (its partition is led elsewhere, or could not be written) answers nobody
any more: those who wait are sent to look for the coordinator again.

Read next: coordinator.py, where shards come from and go.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, Offset, wall_time
from andiron.model.line import Line
from andiron.model.machine import DecidingMachine, Decision, Promise
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of

READ_BYTES = 1 << 20

log = logging.getLogger(__name__)

M = TypeVar("M", bound=DecidingMachine[Any])
T = TypeVar("T")

Encode = Callable[[Any], tuple[bytes | None, bytes | None]]  # a record to its key and value
Read = Callable[[Batch], Iterable[tuple[int, Any]]]  # a batch to its records, each with its offset


class Shard(Generic[M]):
    """One machine, its partition, and how its records are put into bytes."""

    def __init__(
        self,
        partition: Partition,
        machine: M,
        encode: Encode,
        step: Step,
        *,
        gone: ErrorCode = ErrorCode.NOT_COORDINATOR,
    ) -> None:
        self.partition, self.machine = partition, machine
        self.epoch = partition.epoch  # of the leadership it belongs to
        self.gone = False
        self._encode, self._step, self._gone_code = encode, step, gone

    def load(self, read: Read, start: Offset, bytes_max: int) -> Offset:
        """Replay a piece of the log, as after a restart or a change of leader; returns where the next begins."""
        log = self.partition.log
        piece = log.read(start, bytes_max, log.end)
        if piece is None:
            return log.end
        for batch in iterate(piece.read()):
            for offset, record in read(batch):
                self._replay_old(record, Offset(offset))
            start = Offset(batch.next_offset)
        return start

    def _replay_old(self, record: Any, offset: Offset) -> None:
        """A record that makes no sense must not take the others along."""
        try:
            self.machine.replay(record, offset)
        except ProtocolError as error:
            log.warning(Line(
                "Record of {topic} makes no sense and is skipped",
                topic=self.partition.name.topic, partition=self.partition.name, offset=offset,
                error=error.detail,
            ))  # fmt: skip

    def run(self, request: object, now: Millis, timeout_ms: int = 0) -> Wait:
        """Decide a request; the Wait gives its response once everything it rests on is committed."""
        decision = self.machine.decide(request, now)
        end = self._settle(decision, now)
        response, deadline = decision.response, Millis(now + max(0, timeout_ms))
        if isinstance(response, Promise):
            return Wait(
                watch=(response, self),
                until=lambda: self.gone or response.kept,
                deadline=NEVER,
                then=lambda: self.committed(response.response, response.end, NEVER),
                otherwise=lambda: None,
            )
        return self.committed(response, end, deadline)

    def committed(self, response: object, end: Offset, deadline: Millis) -> Wait:
        """The response, once the log is committed up to `end`."""
        partition = self.partition
        return Wait(
            watch=(partition, self),
            until=lambda: self.gone or partition.failure is not None or partition.watermark >= end,
            deadline=deadline,
            then=lambda: self._given(response),
            otherwise=_too_late,
        )

    def _settle(self, decision: Decision[Any], now: Millis) -> Offset:
        """Let a decision take effect; returns where the log then ends."""
        if decision.records:
            try:
                self._write(decision, now)
            except ProtocolError:
                self.gone |= not decision.firm
                raise
        end = self.partition.log.end
        for promise in decision.kept:
            promise.end = end
            self._step.touch(promise)
        return end

    def _write(self, decision: Decision[Any], now: Millis) -> None:
        first = self.partition.log.end
        records = (Record(i, wall_time(now), *self._encode(each)) for i, each in enumerate(decision.records))
        if decision.transaction is None:
            batch = build(records)
        else:
            id, epoch = decision.transaction
            batch = build(records, producer_id=id, producer_epoch=epoch, transactional=True)
        written = self.partition.append_own(batch, now)
        self._step.appended(self.partition, written)
        for offset, record in enumerate(decision.records, first):
            self.machine.replay(record, Offset(offset))

    def _given(self, response: object) -> object:
        if self.gone:
            raise self._gone_code.error(f"{self.partition.name} is no longer led here")
        if self.partition.failure is not None:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(self.partition.failure)
        return response


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


def data_records(batch: Batch) -> Iterable[Record]:
    """The records of a batch; none of a control batch."""
    return () if batch.is_control else records_of(batch)


def understood(where: str, offset: int, decode: Callable[..., T | None], *given: Any) -> T | None:
    """What `decode` makes of what stands at an offset; None, and a report, if it cannot be understood."""
    try:
        return decode(*given)
    except ProtocolError as error:
        log.warning(Line(
            "Record of {topic} makes no sense and is skipped",
            topic=where, offset=offset, error=error.detail,
        ))  # fmt: skip
        return None


def readable(batch: Batch, where: str) -> Iterator[Record]:
    """The records of a batch as far as they can be read; if not to the end, that is reported."""
    try:
        yield from records_of(batch)
    except ProtocolError as error:
        log.warning(Line(
            "Batch of {topic} cannot be read to its end; the rest of it is skipped",
            topic=where, offset=batch.base_offset, error=error.detail,
        ))  # fmt: skip


def _too_late() -> object:
    raise ErrorCode.REQUEST_TIMED_OUT.error("not committed in time")
