"""The delivery half of a producer: closed batches out to the leaders, answers awaited when they have to be.

    outbox ──(one batch of each partition, by leader)──▶ requests in flight, five a broker ──▶ delivered

There is no thread: sending writes to the socket, and waits for the oldest answer when five are owed. `flush`
waits for all.

The law: within a partition, batches arrive in the order in which they were closed. When one fails for a
passing reason, all that is in flight is awaited first; what failed is then sent again one by one, oldest
first. Broker-side, the sequence numbers (idempotence) refuse whatever came too early and drop whatever came
twice.

In a transaction, partitions are added to it before their first batch leaves, and whatever is given up on the
way makes the transaction one that can only be aborted.

Read next: ../core/outbox.py, then the two that fill it: producer.py and column_producer.py.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from andiron.client.blocking.client import Client
from andiron.client.blocking.connections import Connections
from andiron.client.blocking.transaction import Transaction
from andiron.client.connection import Connection
from andiron.client.core.outbox import NOBODY, ClosedBatch, Outbox, ProducerIdentity
from andiron.client.core.produce_request import outcomes, produce_request
from andiron.client.settings import ProducerSettings
from andiron.model.errors import ErrorCode, ProtocolError, Retriable
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from andiron.wire.messages.produce import ProduceRequest, ProduceResponse

Failure = tuple[ClosedBatch, ProtocolError]


class DeliveryTotals(NamedTuple):
    """How many records a partition has acknowledged, and their offsets; -1 where no broker tells them (acks=0)."""

    records: int = 0
    bytes: int = 0
    first: int = -1
    next: int = -1


class SentRequest(NamedTuple):
    """A Produce request in flight."""

    connection: Connection
    request: ProduceRequest
    batches: list[ClosedBatch]

    def receive(self) -> list[tuple[ClosedBatch, int | ProtocolError]]:
        """The offset or the error of each batch; NETWORK_EXCEPTION for all if the connection was lost."""
        return outcomes(self.connection.receive(ProduceResponse), self.request, self.batches)


class Sender:
    """Sends the batches of its outbox to their leaders; as a context manager it flushes on the way out."""

    def __init__(
        self,
        client: Client,
        settings: ProducerSettings | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        self.settings = settings or ProducerSettings()
        self.transaction = transaction
        self.delivered: dict[TopicPartition, DeliveryTotals] = {}
        self._client = client
        self._connections = Connections(client.settings)
        self._in_flight: dict[int, deque[SentRequest]] = {}
        in_flight_max = self.settings.max_in_flight_requests_per_connection
        self._in_flight_max = in_flight_max if self.settings.idempotent else 1
        self._outbox = Outbox(self._first_identity(), transactional=transaction is not None)
        if transaction is not None:
            transaction.attach(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self.close()

    def flush(self) -> None:
        """Send everything; return when all of it is acknowledged."""
        with self._all_or_failed():
            self._send_waiting()
            failures = self._await_all()
            if failures:
                self._send_again(failures)

    def discard(self) -> None:
        """Drop batches that are not sent, and await those that are: none may arrive after the transaction's end."""
        self._await_all()
        self._outbox.waiting.clear()

    def identify(self, identity: ProducerIdentity) -> None:
        """Use this producer id and epoch from now on; batches that are not sent under another are dropped."""
        self.discard()
        self._outbox.identify(identity)

    def close(self) -> None:
        """Close the connections; batches that were not flushed are dropped."""
        if self.transaction is not None:
            if self.is_owing:
                self.transaction.fail(ErrorCode.INVALID_TXN_STATE.error("a producer was closed unflushed"))
            self.transaction.detach(self)
        self._connections.close()

    @property
    def is_owing(self) -> bool:
        """Whether some batch has not been acknowledged yet."""
        return bool(self._outbox.waiting) or any(list(self._in_flight.values()))

    @contextlib.contextmanager
    def _all_or_failed(self) -> Iterator[None]:
        """If this fails half-way, the transaction can only be aborted."""
        try:
            yield
        except BaseException as error:
            if self.transaction is not None:
                self.transaction.fail(error)
            raise

    # ── requests ─────────────────────────────────────────────────────────────────────

    def _send_waiting(self) -> None:
        """Send all closed batches, within max.in.flight.requests.per.connection; then retry those that failed."""
        waiting = self._outbox.waiting
        if waiting and self.transaction is not None:
            self.transaction.add(waiting)
        while waiting:
            failures: list[Failure] = []
            for node_id, batches in self._next_batches().items():
                failures += self._transmit(node_id, batches)
            if failures:
                self._send_again(failures + self._await_all())

    def _next_batches(self) -> dict[int, list[ClosedBatch]]:
        """The next batches by leader: one of each partition, up to max.request.size."""
        taken: dict[int, list[ClosedBatch]] = {}
        sizes: dict[int, int] = {}
        for partition, batches in list(self._outbox.waiting.items()):
            node_id = self._client.retry(functools.partial(self._leader, partition))
            size = sizes.get(node_id, 0) + len(batches[0].data)
            if node_id in taken and size > self.settings.max_request_size:
                continue
            sizes[node_id] = size
            taken.setdefault(node_id, []).append(self._outbox.take(partition))
        return taken

    def _transmit(self, node_id: int, batches: list[ClosedBatch]) -> list[Failure]:
        waiting = self._in_flight.setdefault(node_id, deque())
        failures: list[Failure] = []
        while len(waiting) >= self._in_flight_max:
            failures += self._await_oldest(node_id)
        if failures:
            # Batches behind a failed one would be refused (OUT_OF_ORDER_SEQUENCE_NUMBER): they are retried after it.
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

    def _send(self, node_id: int, batches: list[ClosedBatch]) -> SentRequest:
        connection = self._connections.to(self._client.address(node_id))
        timeout_ms = self._client.settings.request_timeout_ms
        acks = self.settings.acks_number
        name = self.transaction.id if self.transaction is not None else None
        request, at_most = produce_request(batches, self._client.metadata.topics, acks, timeout_ms, name)
        connection.send(request, at_most, answered=acks != 0)
        return SentRequest(connection, request, batches)

    def _leader(self, partition: TopicPartition) -> int:
        self._client.topic(partition.topic, create=True)
        return self._client.metadata.leader(partition)

    # ── responses ────────────────────────────────────────────────────────────────────

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
        """Count the batches that were acknowledged; return those that failed."""
        failures: list[Failure] = []
        for batch, outcome in found:
            if isinstance(outcome, ProtocolError):
                failures.append((batch, outcome))
            else:
                self._note(batch, outcome)
        return failures

    def _send_again(self, failures: list[Failure]) -> None:
        """Retry one by one, oldest first, batches with a retriable error; raise any other error."""
        failures.sort(key=lambda failure: failure[0].number)
        troubled: set[TopicPartition] = set()
        for batch, error in failures:
            follows = error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and batch.partition in troubled
            if not isinstance(error, Retriable) and not follows:
                raise error
            troubled.add(batch.partition)
            self._client.on_retry(error)
        self._client.mark_stale()
        for batch, _ in failures:
            self._client.retry(functools.partial(self._deliver, batch), self.settings.delivery_timeout_ms)

    def _deliver(self, batch: ClosedBatch) -> None:
        sent = self._send(self._leader(batch.partition), [batch])
        found = sent.receive() if self.settings.acks_number else [(batch, -1)]
        for _, error in self._settle(found):
            raise error

    def _note(self, batch: ClosedBatch, offset: int) -> None:
        records, size, first, upto = self.delivered.get(batch.partition, DeliveryTotals())
        if offset >= 0:
            first, upto = (offset if first < 0 else first), offset + batch.records
        self.delivered[batch.partition] = DeliveryTotals(
            records + batch.records, size + len(batch.data), first, upto
        )

    def _first_identity(self) -> ProducerIdentity:
        if self.transaction is not None:
            if not self.settings.idempotent:
                raise SettingError("acks", "a transaction needs acks=all and enable.idempotence=true")
            return self.transaction.identity
        return self._new_identity() if self.settings.idempotent else NOBODY

    def _new_identity(self) -> ProducerIdentity:
        def check(answer: InitProducerIdResponse) -> None:
            if answer.error_code:
                raise ErrorCode.of(answer.error_code).error("no producer id was given")

        answer = self._client.call_any(InitProducerIdRequest(), InitProducerIdResponse, check)
        return ProducerIdentity(answer.producer_id, answer.producer_epoch)
