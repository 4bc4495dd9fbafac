"""Blocks of lines on their way to a topic: record by record while they are few, as columns when there are many.

    first MiB ──▶ client Producer          a record a line
    the rest  ──▶ client ColumnProducer    line_columns.py, where numpy and pyarrow are installed

To load numpy and pyarrow takes longer than to write a few thousand lines, and `echo hello | andiron produce t` is to be
quick. JSON, and records with headers, go record by record however many there are. What the one has been given is
acknowledged before the other begins, so the order is that of the lines.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from andiron.cli.json_records import JsonRecord
from andiron.cli.lines import LineError
from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.sender import DeliveryTotals
from andiron.client.settings import ProducerSettings
from andiron.model.ids import TopicPartition
from andiron.records.record import Header

ReadLine = Callable[[bytes], JsonRecord]
COLUMNS_FROM = 1 << 20  # bytes


class Plain(NamedTuple):
    """How a plain line is read: what parts the key from the value, and what stands for null."""

    separator: bytes | None
    null: bytes | None

    def read(self, line: bytes) -> JsonRecord:
        """One line."""
        key, value = None, line
        if self.separator is not None:
            key, found, value = line.partition(self.separator)
            if not found:
                raise LineError(f"no key separator {self.separator.decode()!r} in {line[:40]!r}")
        return JsonRecord(key, None if value == self.null else value, (), None, None)


class LineWriter:
    """Writes lines to one topic."""

    def __init__(
        self, client: Client, settings: ProducerSettings, topic: str, lines: Plain | ReadLine,
        common: tuple[Header, ...] = (), partition: int | None = None,
    ) -> None:  # fmt: skip
        self._client, self._settings, self._topic = client, settings, topic
        self._read = lines.read if isinstance(lines, Plain) else lines
        self._plain = lines if isinstance(lines, Plain) and not common else None
        self._common, self._partition = common, partition
        self._producers: list[Any] = [Producer(client, settings)]
        self._columns: Any = None
        self._taken = 0
        self.lines = 0  # handed on

    @property
    def delivered(self) -> dict[TopicPartition, DeliveryTotals]:
        """The records that each partition has acknowledged."""
        found: dict[TopicPartition, DeliveryTotals] = {}
        for producer in self._producers:
            for partition, each in list(producer.delivered.items()):
                before = found.get(partition, DeliveryTotals())
                found[partition] = DeliveryTotals(
                    before.records + each.records,
                    before.bytes + each.bytes,
                    each.first if before.first < 0 else before.first,
                    each.next if each.next >= 0 else before.next,
                )
        return found

    @property
    def is_owing(self) -> bool:
        """Whether some record has not been acknowledged yet."""
        return any(producer.is_owing for producer in self._producers)

    def write(self, block: bytes) -> None:
        """Some whole lines. LineError for one that is no record; all before it are handed on."""
        self._taken += len(block)
        if self._taken > COLUMNS_FROM and self._columns is None and self._plain is not None:
            self._switch(self._plain)
        if self._columns is None:
            self._write_lines(block)
            return
        try:
            rows = self._columns.rows(block)
        except LineError as error:
            if error.before:
                good = b"\n".join(block.split(b"\n", error.before)[: error.before]) + b"\n"
                self._write_rows(self._columns.rows(good))
            raise
        self._write_rows(rows)

    def flush(self) -> None:
        """Return when all is acknowledged."""
        self._producers[-1].flush()

    def close(self) -> None:
        """Close the producers."""
        for producer in self._producers:
            producer.close()

    def _write_rows(self, rows: Any) -> None:
        self._producers[-1].send(self._topic, rows)
        self.lines += rows.num_rows

    def _write_lines(self, block: bytes) -> None:
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        send, read = self._producers[-1].send, self._read
        for line in lines:
            key, value, headers, own, timestamp = read(line)
            send(
                self._topic,
                value,
                key=key,
                headers=headers + self._common,
                partition=self._partition if own is None else own,
                timestamp=timestamp,
            )
            self.lines += 1

    def _switch(self, plain: Plain) -> None:
        """Go on with columns, if what that needs is installed."""
        self._plain = None
        self.flush()
        try:
            reading = import_module("andiron.cli.line_columns")
            writing = import_module("andiron.client.blocking.column_producer")
        except ModuleNotFoundError as error:
            if error.name not in ("numpy", "pyarrow"):
                raise
            return
        self._columns = reading.LineColumns(*plain, self._partition)
        self._producers.append(writing.ColumnProducer(self._client, self._settings))
