"""Records gathered into batches, partition by partition, until they are worth sending.

    append ──▶ one open batch a partition ──(full, or flushed)──▶ closed batches, in order ──▶ take

A batch is closed before a record that would make it larger than `batch_bytes`; a record larger than that
has a batch to itself. All are closed when together they hold more than `buffer_bytes`: records for many
partitions are sent in small batches rather than kept without bound. A closed batch is packed, numbered
and never changed again: when it is sent a second time, the same bytes and the same sequence let the
broker see that it has it.

The law: sequences of a partition are given in the order in which its batches are closed, and that is the
order in which they are taken and must be sent.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from andiron.model.ids import TopicPartition
from andiron.records.builder import BatchBuilder, record_bytes_max
from andiron.records.record import Header

_SEQUENCES = 1 << 31  # after the last comes 0


class ProducerIdentity(NamedTuple):
    """What a broker knows an idempotent producer by; -1 for one that is not."""

    id: int = -1
    epoch: int = -1


class ClosedBatch(NamedTuple):
    """A batch as it is sent; `number` says in which order batches were closed."""

    number: int
    partition: TopicPartition
    data: bytearray
    records: int
    base_sequence: int


class Accumulator:
    """What was given to a producer and not yet sent."""

    def __init__(
        self,
        batch_bytes: int,
        buffer_bytes: int,
        codec: int = 0,
        identity: ProducerIdentity | None = None,
    ) -> None:
        self.batch_bytes, self.buffer_bytes, self.codec = batch_bytes, buffer_bytes, codec
        self.identity = identity or ProducerIdentity()
        self.closed: dict[TopicPartition, deque[ClosedBatch]] = {}
        self._open: dict[TopicPartition, BatchBuilder] = {}
        self._open_bytes = 0  # an estimate from above
        self._sequences: dict[TopicPartition, int] = {}
        self._numbers = itertools.count()

    def append(
        self,
        partition: TopicPartition,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[Header] = (),
    ) -> None:
        """Add a record to its partition's batch."""
        size = record_bytes_max(key, value, headers)
        builder = self._open.get(partition)
        if builder is not None and builder.size + size > self.batch_bytes:
            self._open_bytes -= builder.size
            self._close(partition, self._open.pop(partition))
            builder = None
        if builder is None:
            builder = self._open[partition] = BatchBuilder(codec=self.codec)
        builder.append(timestamp, key, value, headers)
        self._open_bytes += size
        if self._open_bytes > self.buffer_bytes:
            self.close_all()

    def close_all(self) -> None:
        """Close every batch, full or not."""
        for partition, builder in self._open.items():
            self._close(partition, builder)
        self._open.clear()
        self._open_bytes = 0

    def take(self, partition: TopicPartition) -> ClosedBatch:
        """The oldest closed batch of a partition, which is then its taker's to deliver."""
        batches = self.closed[partition]
        batch = batches.popleft()
        if not batches:
            del self.closed[partition]
        return batch

    def _close(self, partition: TopicPartition, builder: BatchBuilder) -> None:
        sequence = -1
        if self.identity.id >= 0:
            sequence = self._sequences.get(partition, 0)
            self._sequences[partition] = (sequence + builder.count) % _SEQUENCES
            builder.set_producer(*self.identity, sequence)
        batch = ClosedBatch(next(self._numbers), partition, builder.build(), builder.count, sequence)
        self.closed.setdefault(partition, deque()).append(batch)
