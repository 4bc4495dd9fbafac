"""The records that columns are measured with: small and large, with headers, in large batches and in small."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from andiron.columns.schema import HEADERS, TIMESTAMP
from andiron.records.builder import build
from andiron.records.record import Record

NOON = 1_700_000_000_000
HEADER_PAIRS = (("trace", b"0123456789abcdef"), ("retries", None))


@dataclass(frozen=True)
class Shape:
    """Records of one size, and how many of them make a batch."""

    name: str
    value_bytes: int
    batch_records: int
    headers: bool = False

    def records(self, count: int) -> list[Record]:
        """The first so many; always the same."""
        dice = random.Random(self.name)
        filler = dice.randbytes(4 * self.value_bytes)
        headers = HEADER_PAIRS if self.headers else ()
        starts = [dice.randrange(3 * self.value_bytes) for _ in range(1000)]
        made = []
        for n in range(count):
            start = starts[n % 1000]
            value = filler[start : start + self.value_bytes]
            made.append(Record(0, NOON + n // 10, b"key-%08d" % n, value, headers))
        return made

    def answer(self, count: int) -> bytes:
        """A fetch answer with so many records."""
        records, each = self.records(count), self.batch_records
        firsts = range(0, count, each)
        return b"".join(build(records[first : first + each], base_offset=first) for first in firsts)

    def tables(self, count: int, at_once: int) -> Iterator[pa.RecordBatch]:
        """The same records as columns to be written."""
        records = self.records(count)
        for first in range(0, count, at_once):
            yield self._table(records[first : first + at_once])

    def _table(self, records: list[Record]) -> pa.RecordBatch:
        columns = {
            "key": pa.array([record.key for record in records], pa.binary()),
            "value": pa.array([record.value for record in records], pa.binary()),
            "timestamp": pa.array([record.timestamp * 1000 for record in records], TIMESTAMP),
        }
        if self.headers:
            pairs = [{"key": key, "value": value} for key, value in HEADER_PAIRS]
            columns["headers"] = pa.array([pairs] * len(records), HEADERS)
        return pa.record_batch(columns)


SHAPES = [
    Shape("66 B × 10,000", 45, 10_000),
    Shape("146 B × 5,000", 123, 5_000),
    Shape("153 B, headers × 5,000", 97, 5_000, headers=True),
    Shape("1,036 B × 800", 1012, 800),
    Shape("144 B × 100", 123, 100),
]


def shape_named(name: str) -> Shape:
    return next(shape for shape in SHAPES if shape.name == name)
