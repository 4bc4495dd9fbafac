"""A producer: records in, one by one; gathered into batches and handed to the sender as those are full.

    send ──▶ partitioner ──▶ accumulator ──(closed batches)──▶ outbox ──▶ sender

`send` returns when the record is gathered, and waits only for what was sent before it. `flush` sends what
is left and waits for all.

Read next: sender.py, which this is one half of; ../core/accumulator.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import Sender
from andiron.client.blocking.transaction import Transaction
from andiron.client.core.accumulator import Accumulator
from andiron.client.core.metadata import Topic
from andiron.client.core.partitioner import StickyPartitioner, partition_of
from andiron.client.settings import ProducerSettings
from andiron.model.ids import TopicPartition
from andiron.records.compression import CODECS
from andiron.records.record import Header

_NS_PER_MS = 1_000_000


class Producer(Sender):
    """Writes records to any topic, in a transaction if one is given."""

    def __init__(
        self,
        client: Client,
        settings: ProducerSettings | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().__init__(client, settings, transaction)
        self._accumulator = Accumulator(
            self._outbox,
            self.settings.batch_size,
            self.settings.buffer_memory,
            CODECS[self.settings.compression_type],
        )
        self._sticky = StickyPartitioner(client.chance, self.settings.batch_size)
        self._writable: dict[str, tuple[Topic, list[int]]] = {}

    def send(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        headers: Sequence[Header] = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> None:
        """Write a record, now or with those that follow; an error may be that of an earlier record."""
        if self.transaction is not None:
            self.transaction.check_open()
        if partition is None:
            partition = self._choose(topic, key, value)
        if timestamp is None:
            timestamp = time.time_ns() // _NS_PER_MS
        self._accumulator.append(TopicPartition(topic, partition), timestamp, key, value, headers)
        if self._outbox.waiting:
            with self._all_or_failed():
                self._send_waiting()

    def flush(self) -> None:
        """Send everything; return when all of it is acknowledged."""
        self._accumulator.close_all()
        super().flush()

    def discard(self) -> None:
        """Drop records that are not sent."""
        self._accumulator.clear()
        super().discard()

    @property
    def is_owing(self) -> bool:
        return not self._accumulator.is_empty or super().is_owing

    def _choose(self, topic: str, key: bytes | None, value: bytes | None) -> int:
        known = self._client.metadata.topics.get(topic) or self._client.topic(topic, create=True)
        if key is not None:
            return partition_of(key, len(known.partitions))
        cached, writable = self._writable.get(topic, (None, []))
        if cached is not known:
            writable = known.writable() or list(range(len(known.partitions)))
            self._writable[topic] = (known, writable)
        return self._sticky.choose(topic, writable, len(value or b""))
