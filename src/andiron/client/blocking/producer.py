"""A producer: records in, batches out to the leaders, answers awaited when they have to be.

    send ──▶ partitioner ──▶ accumulator ──(closed batches)──▶ requests in flight, five a broker ──▶ delivered

There is no thread: `send` writes to the socket when a batch is full, and waits for the oldest answer when
five are owed. `flush` sends what is left and waits for all.

The law: within a partition, batches arrive in the order of `send`. When one fails for a passing reason,
all that is in flight is awaited first; what failed is then sent again one by one, oldest first.
Broker-side, the sequence numbers (idempotence) refuse whatever came too early and drop whatever came
twice.

Read next: ../core/accumulator.py.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from andiron.client.blocking.client import Client
from andiron.client.blocking.connections import Connections
from andiron.client.connection import Connection
from andiron.client.core.accumulator import Accumulator, ClosedBatch, ProducerIdentity
from andiron.client.core.metadata import Topic
from andiron.client.core.partitioner import StickyPartitioner, partition_of
from andiron.client.core.produce import outcomes, produce_request
from andiron.client.settings import ProducerSettings
from andiron.model.errors import ErrorCode, ProtocolError, Retriable
from andiron.model.ids import TopicPartition
from andiron.records.compression import CODECS
from andiron.records.record import Header
from andiron.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from andiron.wire.messages.produce import ProduceRequest, ProduceResponse

_NS_PER_MS = 1_000_000

Failure = tuple[ClosedBatch, ProtocolError]


class Delivered(NamedTuple):
    """What a partition has taken; offsets are -1 where the broker does not tell them (acks=0)."""

    records: int = 0
    bytes: int = 0
    first: int = -1
    next: int = -1


class Sent(NamedTuple):
    """A request under way."""

    connection: Connection
    request: ProduceRequest
    batches: list[ClosedBatch]

    def receive(self) -> list[tuple[ClosedBatch, int | ProtocolError]]:
        """What became of each batch; NETWORK_EXCEPTION if that will never be known."""
        return outcomes(self.connection.receive(ProduceResponse), self.request, self.batches)


class Producer:
    """Writes to any topic; as a context manager it flushes on the way out."""

    def __init__(self, client: Client, settings: ProducerSettings | None = None) -> None:
        self.settings = settings or ProducerSettings()
        self.delivered: dict[TopicPartition, Delivered] = {}
        self._client = client
        self._connections = Connections(client.settings)
        identity = self._identify() if self.settings.idempotent else None
        self._accumulator = Accumulator(
            self.settings.batch_size,
            self.settings.buffer_memory,
            CODECS[self.settings.compression_type],
            identity,
        )
        self._sticky = StickyPartitioner(client.chance, self.settings.batch_size)
        self._writable: dict[str, tuple[Topic, list[int]]] = {}
        self._in_flight: dict[int, deque[Sent]] = {}
        in_flight_max = self.settings.max_in_flight_requests_per_connection
        self._in_flight_max = in_flight_max if self.settings.idempotent else 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.flush()
        self.close()

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
        if partition is None:
            partition = self._choose(topic, key, value)
        if timestamp is None:
            timestamp = time.time_ns() // _NS_PER_MS
        accumulator = self._accumulator
        accumulator.append(TopicPartition(topic, partition), timestamp, key, value, headers)
        if accumulator.closed:
            self._send_closed()

    def flush(self) -> None:
        """Send everything; return when all of it is acknowledged."""
        self._accumulator.close_all()
        self._send_closed()
        failures = self._await_all()
        if failures:
            self._send_again(failures)

    def close(self) -> None:
        """Hang up; what was not flushed is given up."""
        self._connections.close()

    # ── where to ─────────────────────────────────────────────────────────────────────

    def _choose(self, topic: str, key: bytes | None, value: bytes | None) -> int:
        known = self._client.metadata.topics.get(topic) or self._client.topic(topic, create=True)
        if key is not None:
            return partition_of(key, len(known.partitions))
        cached, writable = self._writable.get(topic, (None, []))
        if cached is not known:
            writable = known.writable() or list(range(len(known.partitions)))
            self._writable[topic] = (known, writable)
        return self._sticky.choose(topic, writable, len(value or b""))

    def _leader(self, partition: TopicPartition) -> int:
        self._client.topic(partition.topic, create=True)
        return self._client.metadata.leader(partition)

    # ── the way there ────────────────────────────────────────────────────────────────

    def _send_closed(self) -> None:
        """Send what is closed, waiting where too much is in flight; then what failed, again."""
        closed = self._accumulator.closed
        while closed:
            failures: list[Failure] = []
            for node_id, batches in self._next_batches().items():
                failures += self._transmit(node_id, batches)
            if failures:
                self._send_again(failures + self._await_all())

    def _next_batches(self) -> dict[int, list[ClosedBatch]]:
        """One batch of each partition, by leader, as many as a request may hold."""
        taken: dict[int, list[ClosedBatch]] = {}
        sizes: dict[int, int] = {}
        for partition, batches in list(self._accumulator.closed.items()):
            node_id = self._client.retry(functools.partial(self._leader, partition))
            size = sizes.get(node_id, 0) + len(batches[0].data)
            if node_id in taken and size > self.settings.max_request_size:
                continue
            sizes[node_id] = size
            taken.setdefault(node_id, []).append(self._accumulator.take(partition))
        return taken

    def _transmit(self, node_id: int, batches: list[ClosedBatch]) -> list[Failure]:
        waiting = self._in_flight.setdefault(node_id, deque())
        failures: list[Failure] = []
        while len(waiting) >= self._in_flight_max:
            failures += self._await_oldest(node_id)
        if failures:
            # What comes after a failure would only be refused: it joins the queue.
            reason = failures[0][1]
            return [*failures, *((batch, reason) for batch in batches)]
        try:
            sent = self._send(node_id, batches)
        except ProtocolError as error:
            return [(batch, error) for batch in batches]
        if self.settings.acks_number:
            waiting.append(sent)
            return []
        return self._settle((batch, -1) for batch in batches)

    def _send(self, node_id: int, batches: list[ClosedBatch]) -> Sent:
        connection = self._connections.to(self._client.address(node_id))
        timeout_ms = self._client.settings.request_timeout_ms
        acks = self.settings.acks_number
        request, at_most = produce_request(batches, self._client.metadata.topics, acks, timeout_ms)
        connection.send(request, at_most, answered=acks != 0)
        return Sent(connection, request, batches)

    # ── the way back ─────────────────────────────────────────────────────────────────

    def _await_oldest(self, node_id: int) -> list[Failure]:
        sent = self._in_flight[node_id].popleft()
        try:
            return self._settle(sent.receive())
        except ProtocolError as error:
            return [(batch, error) for batch in sent.batches]

    def _await_all(self) -> list[Failure]:
        failures: list[Failure] = []
        for node_id, waiting in self._in_flight.items():
            while waiting:
                failures += self._await_oldest(node_id)
        return failures

    def _settle(self, found: Iterable[tuple[ClosedBatch, int | ProtocolError]]) -> list[Failure]:
        """Note what was delivered; return what was not."""
        failures: list[Failure] = []
        for batch, outcome in found:
            if isinstance(outcome, ProtocolError):
                failures.append((batch, outcome))
            else:
                self._note(batch, outcome)
        return failures

    def _send_again(self, failures: list[Failure]) -> None:
        """Deliver one by one, oldest first, what failed in passing; raise what cannot be helped."""
        failures.sort(key=lambda failure: failure[0].number)
        troubled: set[TopicPartition] = set()
        for batch, error in failures:
            follows = error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and batch.partition in troubled
            if not isinstance(error, Retriable) and not follows:
                raise error
            troubled.add(batch.partition)
        self._client.mark_stale()
        for batch, _ in failures:
            self._client.retry(functools.partial(self._deliver, batch), self.settings.delivery_timeout_ms)

    def _deliver(self, batch: ClosedBatch) -> None:
        sent = self._send(self._leader(batch.partition), [batch])
        found = sent.receive() if self.settings.acks_number else [(batch, -1)]
        for _, error in self._settle(found):
            raise error

    def _note(self, batch: ClosedBatch, offset: int) -> None:
        records, size, first, upto = self.delivered.get(batch.partition, Delivered())
        if offset >= 0:
            first, upto = (offset if first < 0 else first), offset + batch.records
        self.delivered[batch.partition] = Delivered(
            records + batch.records, size + len(batch.data), first, upto
        )

    def _identify(self) -> ProducerIdentity:
        def check(answer: InitProducerIdResponse) -> None:
            if answer.error_code:
                raise ErrorCode.of(answer.error_code).error("no producer id was given")

        answer = self._client.call_any(InitProducerIdRequest(), InitProducerIdResponse, check)
        return ProducerIdentity(answer.producer_id, answer.producer_epoch)
