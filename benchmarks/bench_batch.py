"""What does a batch cost the broker, and what a record whoever opens the batch?

The first group bounds produce requests: header, checks and stamp are all that happens to a batch
before it is written. Between 200 B and 64 KB the difference is the checksum; with 500 records of 100
bytes it is the walk over them as well, and where they are packed the unpacking, which is nearly all of
it then. The second group bounds compaction (`keys_of`, `retain`), consumers and replay (`records_of`)
and producers (`build`): 500 records of 100 bytes a batch.

Measured when written (CPython 3.11, 2 cores shared with a load of up to 8, so these are the best of
many runs): 570,000 batches/s of 200 B and 210,000 of 64 KB through header, checks and stamp, no fewer
than before records were looked at; the checksum at 24 GB/s and the walk at 10, which is 11 ns a record;
batches of 500 records: 90,000/s, as lz4 42,000, snappy 34,000, gzip or zstd 24,000. Unpacked,
250,000-640,000 records/s by `records_of`, 270,000-910,000 by `keys_of`, 340,000-630,000 by `build`.
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.records import native
from andiron.records.batch import HEADER_SIZE, Batch, stamp
from andiron.records.builder import build, retain
from andiron.records.compression import NAMES
from andiron.records.crc32c import crc32c
from andiron.records.record import Record, contents, keys_of, records_of
from andiron.records.validate import ProduceLimits, check_batch
from andiron.records.walk import walk
from harness import measure

NOW = 1_700_000_000_000
LIMITS = ProduceLimits(1 << 20, after_max_ms=3_600_000)
BATCHES = 20_000
RECORDS = [Record(0, NOW + n, b"key-%d" % n, b"v" * 100) for n in range(500)]


def header(raw: bytearray) -> Callable[[], int]:
    def once() -> int:
        for _ in range(BATCHES):
            Batch(raw)
        return BATCHES

    return once


def produced(raw: bytearray, batches: int = BATCHES) -> Callable[[], int]:
    def once() -> int:
        for _ in range(batches):
            check_batch(raw, LIMITS, NOW)
            stamp(raw, 0, 0, 7)
        return batches

    return once


def walked(raw: bytearray) -> Callable[[], int]:
    look = native.walk or walk
    asked = (raw, HEADER_SIZE, len(raw), NOW, NOW + len(RECORDS) - 1, len(RECORDS), 0, 1 << 62, False, 1)

    def once() -> int:
        for _ in range(200):
            look(*asked)
        return 200 * len(raw)

    return once


def summed(raw: bytearray) -> Callable[[], int]:
    def once() -> int:
        for _ in range(2_000):
            crc32c(raw, 21, len(raw))
        return 2_000 * len(raw)

    return once


def opened(act: Callable[[], object]) -> Callable[[], int]:
    def once() -> int:
        for _ in range(20):
            act()
        return 20 * len(RECORDS)

    return once


def main() -> None:
    small, large = build(RECORDS[:1]), build([Record(0, NOW, b"key", b"v" * 65_000)])
    measure("batch.header", header(small), unit="batches")
    measure("batch.produced.200B", produced(small), unit="batches")
    measure("batch.produced.64KB", produced(large), unit="batches")
    many = build(RECORDS)
    measure("batch.crc32c", summed(many), unit="bytes")
    measure("batch.walk", walked(many), unit="bytes")
    for codec, name in enumerate(NAMES):
        measure(f"batch.produced.500.{name}", produced(build(RECORDS, codec=codec), 500), unit="batches")
    for codec, name in enumerate(NAMES):
        batch = Batch(build(RECORDS, codec=codec))
        measure(f"records.records_of.{name}", opened(lambda b=batch: list(records_of(b))), unit="records")
        measure(f"records.build.{name}", opened(lambda c=codec: build(RECORDS, codec=c)), unit="records")
    batch = Batch(build(RECORDS))
    data = contents(batch)
    spans = [(at.start, at.stop) for at in keys_of(batch)]
    measure("records.keys_of", opened(lambda: list(keys_of(batch))), unit="records")
    measure("records.retain", opened(lambda: retain(batch, data, spans)), unit="records")


if __name__ == "__main__":
    main()
