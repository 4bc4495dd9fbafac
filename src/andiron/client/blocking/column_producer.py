"""A producer of columns: Arrow record batches in, encoded a partition at a time, and out as any batches.

    send ──▶ rows by topic and partition (../core/routing.py) ──▶ encode ──▶ outbox ──▶ sender

The columns are `value` and, where they are there, `key`, `headers`, `timestamp`, `topic` and `partition`. What is
not there, or null, is what it would be for a record: no key, no headers, the time of sending, the
topic given for all, the partition of the key.

Each `send` makes batches of its own, so their size is bounded by the rows of a call as well: give it thousands.

Read next: sender.py, which this is one half of; andiron/columns/encode.py.
"""

from __future__ import annotations

import time

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import Sender
from andiron.client.blocking.transaction import Transaction
from andiron.client.core.partitioner import StickyPartitioner
from andiron.client.core.routing import Indices, by_topic, grouped, partitions_for
from andiron.client.settings import ProducerSettings
from andiron.columns.encode import ProducerFields, encode
from andiron.model.ids import TopicPartition
from andiron.records.compression import CODECS

_NS_PER_MS = 1_000_000


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

    def send(self, rows: pa.RecordBatch, topic: str | None = None) -> None:
        """Write rows, to a topic given for all or to their own; an error may be that of earlier rows."""
        if self.transaction is not None:
            self.transaction.check_open()
        with self._all_or_failed():
            for portion in self._portions(rows):
                for name, indices in by_topic(portion, topic):
                    self._put(portion if indices is None else portion.take(pa.array(indices)), name)
                self._send_waiting()

    def _portions(self, rows: pa.RecordBatch) -> list[pa.RecordBatch]:
        """Slices of which each, encoded, is no more than is kept in memory."""
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
            producer=ProducerFields(*outbox.identity, outbox.sequence(partition)),
            transactional=outbox.transactional,
            indices=indices,
        )
        for batch in batches:
            outbox.put(partition, batch.data, batch.records)
