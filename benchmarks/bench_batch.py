"""What does a batch cost the broker, and what a record whoever opens the batch?

The first group bounds produce requests: header, checks and stamp are all that Python does to
a batch before it is written; between 200 B and 64 KB the difference is the checksum. The second
group bounds compaction (`keys_of`, `retain`), consumers and replay (`records_of`) and producers
(`build`): 500 records of 100 bytes a batch.

Measured when written (CPython 3.11, 2 cores shared with a load of up to 4, so the medians of four
runs lie far apart; a quiet machine has yet to be asked): 150,000-320,000 batches/s of 200 B through
header, checks and stamp, 90,000-155,000 of 64 KB; unpacked, 250,000-640,000 records/s by
`records_of`, 270,000-910,000 by `keys_of`, 340,000-630,000 by `build`.
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.records.batch import Batch, stamp
from andiron.records.builder import build, retain
from andiron.records.compression import NAMES
from andiron.records.record import Record, contents, keys_of, records_of
from andiron.records.validate import check_produced, check_timestamps
from harness import measure

NOW = 1_700_000_000_000
BATCHES = 20_000
RECORDS = [Record(0, NOW + n, b"key-%d" % n, b"v" * 100) for n in range(500)]


def header(raw: bytearray) -> Callable[[], int]:
    def once() -> int:
        for _ in range(BATCHES):
            Batch(raw)
        return BATCHES

    return once


def produced(raw: bytearray) -> Callable[[], int]:
    def once() -> int:
        for _ in range(BATCHES):
            batch = check_produced(raw, 1 << 20)
            check_timestamps(batch, NOW, append_time=False, before_max_ms=1 << 62, after_max_ms=3_600_000)
            stamp(raw, 0, 0, 7)
        return BATCHES

    return once


def opened(walk: Callable[[], object]) -> Callable[[], int]:
    def once() -> int:
        for _ in range(20):
            walk()
        return 20 * len(RECORDS)

    return once


def main() -> None:
    small, large = build(RECORDS[:1]), build([Record(0, NOW, b"key", b"v" * 65_000)])
    measure("batch.header", header(small), unit="batches")
    measure("batch.produced.200B", produced(small), unit="batches")
    measure("batch.produced.64KB", produced(large), unit="batches")
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
