"""The transaction of one task: opened by its first rows and left open, prepared, for the driver.

    write ─▶ initiate: an identity nobody else has ─▶ rows … ─▶ flush: every row is acknowledged ─▶ prepared

With two-phase commit a prepared transaction waits for its outcome as long as that takes. Where the broker has none,
or does not allow it, the transaction is an ordinary one, and is aborted by the broker when its timeout is over: a batch
then fails, or, if it was decided just before, is mended by the next run (decision_outcome.py).

Read next: participant_names.py for what a transaction is called; spark_writers.py.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_producer import ColumnProducer
from andiron.client.blocking.transaction import Transaction
from andiron.client.core.outbox import ProducerIdentity
from andiron.columns.digest import RowsDigest
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.line import Line
from andiron.spark.sink.options import SinkOptions
from andiron.spark.sink.participant_names import ParticipantNames
from andiron.spark.sink.record_columns import RecordColumns

ADVICE = {  # by what a broker says that does not have two-phase commit, or not for us
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "transaction.two.phase.commit.enable=true on the broker allows it",
    ErrorCode.UNSUPPORTED_VERSION: "Apache Kafka 4.3 has it with unstable.api.versions.enable=true beside "
    "transaction.two.phase.commit.enable=true, which is not meant for production",
}

log = logging.getLogger(__name__)

_mine: dict[int, ParticipantNames] = {}  # this process's, by its id; as long as it lives, over all its tasks
_without: set[str] = set()  # clusters that have no two-phase commit


def participant_names() -> ParticipantNames:
    """The names for transactions of this process; one that was forked has names of its own."""
    pid = os.getpid()
    if pid not in _mine:
        _mine.clear()
        _mine[pid] = ParticipantNames(secrets.token_hex(6))
    return _mine[pid]


class TaskTransaction:
    """A task's rows in a transaction, or in none (`transactional_id` None), where each counts by itself."""

    def __init__(
        self,
        client: Client,
        options: SinkOptions,
        columns: RecordColumns,
        transactional_id: str | None = None,
        *,
        two_phase: bool = False,
    ) -> None:
        self.rows: dict[str, int] = {}
        self._digest = RowsDigest()
        self._client, self._options, self._columns = client, options, columns
        self._transaction = self._open(transactional_id, two_phase) if transactional_id is not None else None
        self._producer = ColumnProducer(client, options.producer, self._transaction)

    @property
    def count(self) -> int:
        """How many rows were written."""
        return sum(self.rows.values())

    @property
    def digest(self) -> str:
        """Of the rows, where a timeout may abort them; nothing is needed to know them by otherwise."""
        mortal = self._transaction is not None and not self._transaction.two_phase
        return self._digest.hexdigest() if mortal else ""

    @property
    def identity(self) -> ProducerIdentity:
        """Under which the rows are written."""
        assert self._transaction is not None, "there is no transaction"
        return self._transaction.identity

    def write(self, rows: pa.RecordBatch) -> None:
        """Write some rows of the task."""
        records = self._columns.records(rows)
        if self._transaction is not None and not self._transaction.two_phase:
            self._digest.add(records)
        for topic, count in self._columns.counts(records).items():
            self.rows[topic] = self.rows.get(topic, 0) + count
        try:
            self._producer.send(self._columns.topic, records)
        except ProtocolError as error:
            raise _explained(error) from error

    def flush(self) -> None:
        """Return when every row is acknowledged."""
        try:
            self._producer.flush()
        except ProtocolError as error:
            raise _explained(error) from error

    def abort(self) -> None:
        """Abort the transaction; if the broker cannot be told now, whoever commits next aborts it."""
        if self._transaction is not None:
            with contextlib.suppress(ProtocolError):
                self._transaction.abort()

    def close(self) -> None:
        """Close the producer; a prepared transaction stays open."""
        self._producer.close()

    def _open(self, name: str, two_phase: bool) -> Transaction:
        options = self._options
        two_phase = two_phase and options.bootstrap not in _without
        transaction = Transaction(self._client, name, timeout_ms=options.timeout_ms, two_phase=two_phase)
        try:
            transaction.initiate()
        except ProtocolError as error:
            if not two_phase or error.code not in ADVICE:
                raise _explained(error) from error
            _without.add(options.bootstrap)
            log.warning(Line(
                "Broker refuses two-phase commit: what waits longer for its outcome is aborted, "
                "and written again when the query is started again",
                ms=options.timeout_ms, error=error, advice=ADVICE[error.code],
            ))  # fmt: skip
            return self._open(name, two_phase=False)
        transaction.begin()
        return transaction


def _explained(error: ProtocolError) -> ProtocolError:
    """An error with advice: which setting to change, where we know."""
    if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return type(error)(
            error.code,
            f"{error.detail}: create the topic, or have auto.create.topics.enable=true on the broker",
        )
    if error.code is ErrorCode.INVALID_TRANSACTION_TIMEOUT:
        return type(error)(
            error.code,
            f"{error.detail}: say a shorter kafka.transaction.timeout.ms, or have a larger "
            "transaction.max.timeout.ms on the broker",
        )
    if error.code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
        return type(error)(
            error.code, f"{error.detail}: raise the topic's max.message.bytes, or lower kafka.batch.size"
        )
    return error
