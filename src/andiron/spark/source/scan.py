"""One range of one partition, read in a task, as Arrow record batches.

    Range(orders-2, 1000 … 5000) ──▶ ColumnReader ──▶ record batches, a fetch each ──▶ Spark

Spark keeps its Python workers from task to task, so a client is kept too, for each cluster and its settings:
a small batch should not pay for metadata that the last one asked for.

What fails in passing is tried again inside, also the first connection: the driver has just talked to the
cluster, so whoever does not answer now is expected back. Records that are gone are a loss: with
failOnDataLoss the task fails and says which, otherwise it warns and goes on where the log begins.

Read next: client/blocking/column_reader.py.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.settings import ClientSettings, ReaderSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.line import Line
from andiron.model.settings import KIB
from andiron.spark.kafka_options import KafkaOptions
from andiron.spark.runtime.python_worker import begin_task
from andiron.spark.source.options import SourceOptions
from andiron.spark.source.plan import DataLoss, Range, ranges
from andiron.spark.source.topics import Topics, reaching

LEAST_FETCH_BYTES, RECORD_BYTES = 64 * KIB, 2 * KIB  # what a short range asks for: so much for each offset
GONE = (ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)

log = logging.getLogger(__name__)
_clients: dict[tuple[str, ClientSettings], Client] = {}


def client_of(kafka: KafkaOptions) -> Client:
    """This process's client for a cluster."""
    key = kafka.bootstrap, kafka.client
    if key not in _clients:
        _clients[key] = Client(*key)
    return _clients[key]


def report(losses: Iterable[str], *, fail: bool) -> None:
    """Fail because of losses, or warn of them."""
    told = "; ".join(losses)
    if told and fail:
        raise DataLoss(f"records are lost: {told}. To go on without them, set failOnDataLoss=false")
    if told:
        log.warning(Line("Records are lost, and the query goes on, for failOnDataLoss is false", lost=told))


def scan(options: SourceOptions, whole: Range) -> Iterator[pa.RecordBatch]:
    """The rows of a range."""
    begin_task("read")
    client = client_of(options.kafka)
    left: Range | None = whole
    with reaching(options.kafka):
        client.reach()
        while left is not None:
            left = yield from _read(options, client, left)
            if left is not None:
                left = _still_there(options, client, left)


def _read(
    options: SourceOptions, client: Client, whole: Range
) -> Generator[pa.RecordBatch, None, Range | None]:
    """Read a range up to its end; returns the rest of it where the log no longer has that."""
    reader = ColumnReader(
        client,
        whole.partition,
        whole.start,
        whole.end,
        headers=options.include_headers,
        committed=options.kafka.committed,
        settings=_fetching(options.kafka.reader, whole.size),
        patience_ms=options.poll_timeout_ms,
    )
    with reader:
        try:
            yield from reader
        except ProtocolError as error:
            if error.code not in GONE:
                raise
            return whole._replace(start=reader.position)
    return None


def _fetching(settings: ReaderSettings, size: int) -> ReaderSettings:
    """How to fetch so many offsets: a broker knows nothing of their end, and would send far more than that."""
    enough = max(LEAST_FETCH_BYTES, size * RECORD_BYTES)
    return replace(settings, max_partition_fetch_bytes=min(settings.max_partition_fetch_bytes, enough))


def _still_there(options: SourceOptions, client: Client, left: Range) -> Range | None:
    """What can be read of the rest of a range, after a broker said that it has not all of it."""
    topics = Topics(client, options.which, committed=options.kafka.committed)
    start, end = {left.partition: left.start}, {left.partition: left.end}
    found = ranges(start, end, topics.logs([left.partition]))
    report(found.losses, fail=options.fail_on_data_loss)
    return found.ranges[0] if found.ranges else None
