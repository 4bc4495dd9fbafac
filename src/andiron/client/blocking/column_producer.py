"""A producer of columns: Arrow record batches in, encoded a partition at a time, and out as any batches.

    send ──▶ gathered ──▶ rows by topic and partition (../core/row_routes.py) ──▶ encode ──▶ outbox ──▶ sender

The columns are `value` and, where they are there, `key`, `headers`, `timestamp`, `topic` and `partition`. What is
not there, or null, is what it would be for a record: no key, no headers, the time of sending, the
topic given for all, the partition of the key. Whoever gives no topic for all says None.

Rows of small calls are gathered first, until there are enough for batches of a good size in many partitions: a
call of a thousand rows for 64 partitions would make 64 batches of 16 records.

Read next: sender.py, which this is one half of; andiron/columns/encode.py.
"""

from __future__ import annotations

import time

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import Sender
from andiron.client.blocking.transaction import Transaction
from andiron.client.core.partitioner import StickyPartitioner
from andiron.client.core.row_routes import Indices, by_topic, grouped, partitions_for
from andiron.client.settings import ProducerSettings
from andiron.columns.arrays import numbers
from andiron.columns.encode import ProducerFields, encode
from andiron.model.ids import TopicPartition
from andiron.records.compression import CODECS

_NS_PER_MS = 1_000_000
_BATCHES_GATHERED = 32  # so many batches' worth of bytes are encoded at a time


class ColumnProducer(Sender):
    """Writes rows of columns to any topics, in a transaction if one is given."""

    def __init__(
        self,
        client: Client,
        settings: ProducerSettings | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().__init__(client, settings, transaction)
        self._codec = CODECS[self.settings.compression_type]
        self._sticky = StickyPartitioner(client.chance, self.settings.batch_size)
        self._gathered: list[pa.RecordBatch] = []  # batches of one schema, for the topic in `_topic`
        self._gathered_bytes = 0
        self._topic: str | None = None
        self._enough_bytes = min(_BATCHES_GATHERED * self.settings.batch_size, self.settings.buffer_memory)

    def send(self, topic: str | None, rows: pa.RecordBatch) -> None:
        """Write rows to a topic, or with None each to its own (`topic`); an error may be that of earlier rows."""
        if self.transaction is not None:
            self.transaction.check_open()
        with self._all_or_failed():
            if self._gathered and (topic != self._topic or rows.schema != self._gathered[0].schema):
                self._send_gathered()
            self._gathered.append(rows)
            self._gathered_bytes += rows.nbytes
            self._topic = topic
            if self._gathered_bytes >= self._enough_bytes:
                self._send_gathered()

    def flush(self) -> None:
        """Send everything; return when all of it is acknowledged."""
        with self._all_or_failed():
            self._send_gathered()
        super().flush()

    def discard(self) -> None:
        """Drop rows that are not sent."""
        self._take_gathered()
        super().discard()

    @property
    def is_owing(self) -> bool:
        return bool(self._gathered) or super().is_owing

    def _send_gathered(self) -> None:
        gathered = self._take_gathered()
        if not gathered:
            return
        rows = gathered[0] if len(gathered) == 1 else pa.concat_batches(gathered)
        for portion in self._portions(rows):
            for name, indices in by_topic(portion, self._topic):
                self._put(portion if indices is None else portion.take(numbers(indices)), name)
            self._send_waiting()

    def _take_gathered(self) -> list[pa.RecordBatch]:
        gathered, self._gathered, self._gathered_bytes = self._gathered, [], 0
        return gathered

    def _portions(self, rows: pa.RecordBatch) -> list[pa.RecordBatch]:
        """Slices of the rows, each small enough to be encoded within the buffer."""
        count = rows.nbytes // max(1, self.settings.buffer_memory) + 1
        step = -(-rows.num_rows // count) or 1
        return [rows.slice(at, step) for at in range(0, rows.num_rows, step)]

    def _put(self, rows: pa.RecordBatch, topic: str) -> None:
        """Encode the rows of a topic into the outbox."""
        known = self._client.metadata.topics.get(topic) or self._client.topic(topic, create=True)
        count = len(known.partitions)
        writable = known.writable() or list(range(count))
        now = time.time_ns() // _NS_PER_MS
        for number, indices in grouped(partitions_for(rows, count, topic, writable, self._sticky)):
            self._encode(rows, indices, TopicPartition(topic, number), now)

    def _encode(
        self, rows: pa.RecordBatch, indices: Indices | None, partition: TopicPartition, now: int
    ) -> None:
        outbox = self._outbox
        batches = encode(
            rows,
            codec=self._codec,
            batch_bytes=self.settings.batch_size,
            now=now,
            producer=ProducerFields(*outbox.identity, outbox.sequence(partition), outbox.transactional),
            indices=indices,
        )
        for batch in batches:
            outbox.put(partition, batch.data, batch.records)
