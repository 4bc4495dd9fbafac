"""Readers: records of some partitions from their leaders, in order, without a group.

    Reader            several partitions, as much of each as comes; `poll` until nothing is left
    PartitionReader   one partition, record by record: what a Spark task opens on its range

Each broker gets one fetch for all that it leads, and all brokers are asked before the first is waited
for. Where there is an end, reading stops there; where there is none, `poll` waits for what is written
next. With `committed`, records of transactions are seen once those are committed, and no record behind
one that is still open.

A leader that has moved is found again. An offset that is no longer there is an error: to start elsewhere
is for the caller to decide.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Self

from andiron.client.blocking.client import Client
from andiron.client.blocking.connections import Connections
from andiron.client.connection import Connection
from andiron.client.core.positions import (
    FetchedBatches,
    Position,
    check_intact,
    fetch_request,
    fetched_batches,
)
from andiron.client.settings import ReaderSettings
from andiron.model.errors import ProtocolError, Retriable, StaleMetadata
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import Record
from andiron.wire.messages.fetch import FetchResponse

_NS_PER_MS = 1_000_000


class Reader:
    """Reads the partitions of `positions` until each has reached its end."""

    def __init__(
        self,
        client: Client,
        positions: Iterable[Position],
        *,
        committed: bool = False,
        settings: ReaderSettings | None = None,
    ) -> None:
        self.positions = {position.partition: position for position in positions}
        self.settings = settings or ReaderSettings()
        self.committed = committed
        self._client = client
        self._asked: list[Connection] = []  # the brokers whose responses to the next round are under way
        self._connections = Connections(client.settings)
        self._failing_since: int | None = None
        self._backoff = client.backoff()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._asked = []
        self._connections.close()

    @property
    def is_done(self) -> bool:
        """Whether every partition has reached its end."""
        return all(position.is_done for position in self.positions.values())

    def poll(self, max_wait_ms: int | None = None) -> list[tuple[TopicPartition, Iterator[Record]]]:
        """The records that came for each partition; empty if none did within fetch.max.wait.ms.

        A position moves as its records are taken, so take them before the next poll.
        """
        found: list[tuple[TopicPartition, Iterator[Record]]] = []
        for came in self.fetch(max_wait_ms):
            if came.batches:
                found.append((came.position.partition, self._records(came)))
            else:
                came.position.nothing_left()
        return found

    def fetch(self, max_wait_ms: int | None = None) -> list[FetchedBatches]:
        """One round of fetches to all leaders: the batches by partition. Positions are not moved."""
        wait_ms = self.settings.fetch_max_wait_ms if max_wait_ms is None else max_wait_ms
        came: list[FetchedBatches] = []
        problems: list[ProtocolError] = []
        try:
            self._asked = self._asked or self._ask(wait_ms)
            for connection in self._asked:
                response = connection.receive(FetchResponse, wait_ms)
                topics = self._client.metadata.topics
                for each in fetched_batches(response, self.positions, topics, self.committed):
                    if isinstance(each, FetchedBatches):
                        came.append(each)
                    else:
                        problems.append(each)
        except ProtocolError as error:
            self._connections.close()  # answers still on the way would be taken for those of the next round
            problems.append(error)
        self._asked = []
        self._bear(problems)
        return came

    def fetch_ahead(self) -> None:
        """Send the next round's fetches now, from where positions stand; the next `fetch` awaits the answers.

        What goes wrong here goes wrong again there.
        """
        assert not self._asked, "one round at a time"
        try:
            self._asked = self._ask(self.settings.fetch_max_wait_ms)
        except ProtocolError:
            self._connections.close()  # some of the leaders may have been sent their fetch

    def _ask(self, wait_ms: int) -> list[Connection]:
        """Send a fetch to each leader; return those whose responses are to be awaited."""
        groups: dict[int, list[Position]] = {}
        for partition, position in self.positions.items():
            if not position.is_done:
                self._client.topic(partition.topic)
                groups.setdefault(self._client.metadata.leader(partition), []).append(position)
        asked = []
        for node_id, positions in groups.items():
            request, at_most = fetch_request(
                positions, self._client.metadata, self.settings, wait_ms, self.committed
            )
            connection = self._connections.to(self._client.address(node_id))
            connection.send(request, at_most)
            asked.append(connection)
        return asked

    def _records(self, came: FetchedBatches) -> Iterator[Record]:
        position = came.position
        for batch in came.batches:
            if self.settings.check_crcs:
                check_intact(batch, position.partition)
            if came.isolation.shows(batch):
                yield from position.records(batch)
            else:
                position.pass_over(batch)
            if position.is_done:
                return

    def _bear(self, problems: list[ProtocolError]) -> None:
        """Raise errors that are not retriable; for others back off, until default.api.timeout.ms is over."""
        if not problems:
            if self._failing_since is not None:
                self._failing_since, self._backoff = None, self._client.backoff()
            return
        now = time.monotonic_ns() // _NS_PER_MS
        since = self._failing_since = now if self._failing_since is None else self._failing_since
        for problem in problems:
            over = now - since > self._client.settings.default_api_timeout_ms
            if not isinstance(problem, Retriable) or over:
                raise problem
            if isinstance(problem, StaleMetadata):
                self._client.mark_stale()
        time.sleep(self._backoff.next_ms() / 1000)


class PartitionReader:
    """One partition from `start` up to, and not including, `end`; without an end it follows the log."""

    def __init__(
        self,
        client: Client,
        partition: TopicPartition,
        start: int,
        end: int | None = None,
        *,
        committed: bool = False,
        settings: ReaderSettings | None = None,
    ) -> None:
        self.position = Position(partition, start, end)
        self._reader = Reader(client, [self.position], committed=committed, settings=settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Record]:
        """Every record; waits for the next one where there is no end."""
        while not self.position.is_done:
            for _, records in self._reader.poll():
                yield from records

    def batches(self) -> Iterator[Batch]:
        """Every batch with visible records, its checksum checked, not decoded; the first and last may reach beyond."""
        while not self.position.is_done:
            for came in self._reader.fetch():
                yield from self._whole(came)

    def close(self) -> None:
        """Close the connections."""
        self._reader.close()

    def _whole(self, came: FetchedBatches) -> Iterator[Batch]:
        position = came.position
        if not came.batches:
            position.nothing_left()
        for batch in came.batches:
            if position.is_done:
                return
            check_intact(batch, position.partition)
            position.pass_over(batch)
            if came.isolation.shows(batch):
                yield batch
