"""A reader of one partition as Arrow columns: what a Spark task and `andiron.read_topic` open on a range.

    fetch ──▶ answer ──▶ headers: which batches are seen, where the next fetch begins
                           ├──▶ the next fetch, sent
                           └──▶ one Arrow record batch for the whole answer

Fetches are larger than those of a reader of records, since much of the price of decoding is paid a call; beyond 4 MiB,
columns outgrow the processor's caches and cost more again. The next fetch is on its way before an answer is
decoded: the broker reads while columns are made and used, which saves a tenth of the time on one
machine, and a round trip on each answer over a network.

Gaps that compaction left, control batches and, for a reader of committed records, aborted transactions are
stepped over. What passes is tried again as any reader does. An offset that is not there is an error,
OFFSET_OUT_OF_RANGE: to start elsewhere is for the caller to decide. With `patience_ms`, so is an end that the log does
not reach: REQUEST_TIMED_OUT when nothing has come for so long.

Read next: reader.py, whose fetches these are; andiron/columns/decode.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Self

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.client.blocking.reader import Reader
from andiron.client.core.positions import FetchedBatches, Position, check_intact
from andiron.client.settings import ReaderSettings
from andiron.columns.decode import decode
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.model.settings import MIB
from andiron.records.batch import Batch

COLUMN_SETTINGS = ReaderSettings(max_partition_fetch_bytes=4 * MIB)


class ColumnReader:
    """One partition from `start` up to, and not including, `end`; without an end it follows the log."""

    def __init__(
        self,
        client: Client,
        partition: TopicPartition,
        start: int,
        end: int | None = None,
        *,
        headers: bool = False,
        committed: bool = False,
        settings: ReaderSettings | None = None,
        patience_ms: int | None = None,
    ) -> None:
        self.partition, self.start, self.end, self.headers = partition, start, end, headers
        self.position = start  # behind the last record batch that was given
        self._fetching = Position(partition, start, end)
        self._patience_ms = patience_ms
        self._came_at = time.monotonic()
        self._reader = Reader(
            client, [self._fetching], committed=committed, settings=settings or COLUMN_SETTINGS
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._reader.close()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Every record, as columns of `arrow_schema(headers)`, an answer at a time; none of them is empty."""
        self._go_back()
        self._came_at = time.monotonic()
        while not self._fetching.is_done:
            for came in self._reader.fetch():
                batches = self._seen(came)
                self._check_patience(came)
                reached = self._fetching.offset
                if not self._fetching.is_done:
                    self._reader.fetch_ahead()
                rows = self._decode(batches)
                self.position = reached if self.end is None else min(reached, self.end)
                if rows is not None:
                    yield rows

    def _go_back(self) -> None:
        """After a fetch response that could not be decoded, fetch again from behind the last one that could."""
        unread = self.end is None or self.position < self.end
        if unread and self.position < self._fetching.offset:
            self._reader.close()
            self._fetching.offset = self.position

    def _check_patience(self, came: FetchedBatches) -> None:
        now = time.monotonic()
        if came.batches or self._fetching.is_done:
            self._came_at = now
        elif self._patience_ms is not None and (now - self._came_at) * 1000 >= self._patience_ms:
            raise ErrorCode.REQUEST_TIMED_OUT.error(
                f"{self.partition}: nothing came at offset {self._fetching.offset} for {self._patience_ms} ms, "
                f"and {self.end} is to be reached; what can be read ends at {self._fetching.limit}"
            )

    def _seen(self, came: FetchedBatches) -> list[Batch]:
        """The batches with visible records (isolation.level); the position of the next fetch moves behind all."""
        fetching, seen = came.position, []
        if not came.batches:
            fetching.nothing_left()
        for batch in came.batches:
            if fetching.is_done:
                break
            if self._reader.settings.check_crcs:
                check_intact(batch, self.partition)
            if came.isolation.shows(batch):
                seen.append(batch)
            fetching.pass_over(batch)
        return seen

    def _decode(self, batches: list[Batch]) -> pa.RecordBatch | None:
        if not batches:
            return None
        topic, number = self.partition
        rows = decode(batches, topic, number, start=self.position, end=self.end, headers=self.headers)
        return rows if rows.num_rows else None
