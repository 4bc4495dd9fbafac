"""Records gathered into batches, partition by partition, until they are worth sending.

    append ──▶ one open batch a partition ──(full, or flushed)──▶ closed, into the outbox

A batch is closed before a record that would make it larger than `batch_bytes`; a record larger than that
has a batch to itself. All are closed when together they hold more than `buffer_bytes`: records for many
partitions are sent in small batches rather than kept without bound.

Read next: outbox.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from andiron.client.core.outbox import Outbox
from andiron.model.ids import TopicPartition
from andiron.records.builder import BatchBuilder, record_bytes_max
from andiron.records.record import Header


class Accumulator:
    """The open batches of a producer, one a partition."""

    def __init__(self, outbox: Outbox, batch_bytes: int, buffer_bytes: int, codec: int = 0) -> None:
        self.outbox = outbox
        self.batch_bytes, self.buffer_bytes, self.codec = batch_bytes, buffer_bytes, codec
        self._open: dict[TopicPartition, BatchBuilder] = {}
        self._open_bytes = 0  # an estimate from above

    @property
    def is_empty(self) -> bool:
        """Whether there is no open batch."""
        return not self._open

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
            transactional = self.outbox.transactional
            builder = self._open[partition] = BatchBuilder(codec=self.codec, transactional=transactional)
        builder.append(timestamp, key, value, headers)
        self._open_bytes += size
        if self._open_bytes > self.buffer_bytes:
            self.close_all()

    def close_all(self) -> None:
        """Close every batch, full or not."""
        for partition, builder in self._open.items():
            self._close(partition, builder)
        self.clear()

    def clear(self) -> None:
        """Drop all open batches."""
        self._open.clear()
        self._open_bytes = 0

    def _close(self, partition: TopicPartition, builder: BatchBuilder) -> None:
        builder.set_producer(*self.outbox.identity, self.outbox.sequence(partition))
        self.outbox.put(partition, builder.build(), builder.count)
