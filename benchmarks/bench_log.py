"""What does the log cost per batch, beyond the disk's own work?

Every produced batch goes through `append` and every fetch through `read`, so these bound what one
broker can do whatever its sockets do. Appends and reads are measured on a real file and on one that
throws everything away, which leaves the Python alone. Opening bounds the start of a node with many
partitions; the scan bounds its start after a crash.

When written (CPython 3.11, 2 cores), in microseconds: append 1.7 alone, reading the header included, 3.1
with its write, 2.6 alone with the sequence checked. A read that goes on where the last one stopped 6, one
that is searched for 10 to 15, at the first offset as at the nine-millionth. Opening after a clean stop
150; after a crash 700 MB are scanned in a second, in batches of 4 KB. Other work on the machine doubles all.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable

from andiron.edge.disk import PosixDisk, PosixFile
from andiron.log.checkpoints import LogCheckpoint
from andiron.log.disk import Buffer, LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import LeaderEpoch, Millis, Offset, TopicId, TopicIdPartition, TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from harness import measure

APPENDS = 20_000
READS = 5_000
RECORDS = 250
PARTITIONS = 500
EPOCH = LeaderEpoch(3)
ID = TopicId(b"0123456789abcdef")
NOW = Millis(1_700_000_000_000)


class NowhereFile(PosixFile):
    """A file that keeps nothing."""

    __slots__ = ()

    def append(self, data: Buffer) -> None:
        self.size += len(data)


class NowhereDisk(PosixDisk):
    """A disk of such files."""

    file_type = NowhereFile


def open_log(folder: str, name: str, *, disk: PosixDisk | None = None) -> PartitionLog:
    return PartitionLog.open(
        LogFolder(disk or PosixDisk(), f"{folder}/{name}-0"),
        TopicIdPartition(ID, TopicPartition(name, 0)),
        LogSettings(),
        now=NOW,
    )


def records_of(count: int, value_bytes: int, producer: int = -1) -> bytearray:
    values = [Record(0, NOW + i, None, bytes(value_bytes)) for i in range(count)]
    return build(values, producer_id=producer, producer_epoch=0 if producer >= 0 else -1)


def appending(log: PartitionLog, producer: int = -1) -> Callable[[], int]:
    records = memoryview(records_of(1, 100, producer))

    def once() -> int:
        append, end = log.append, log.end
        for sequence in range(APPENDS):
            batch = Batch(records)
            batch.base_sequence = (end + sequence) if producer >= 0 else -1
            append(batch, EPOCH, NOW)
        return APPENDS

    return once


def filled(folder: str, batches: int = 40_000) -> PartitionLog:
    """160 MB in sixteen segments, ten million records."""
    log = open_log(folder, "filled")
    log.replace_settings(LogSettings(segment_bytes=10 << 20))
    records = records_of(RECORDS, 4)
    for _ in range(batches):
        log.append(Batch(records), EPOCH, NOW)
    return log


def tailing(log: PartitionLog, max_bytes: int) -> Callable[[], int]:
    """One consumer, fetch after fetch."""
    size = len(records_of(RECORDS, 4))

    def once() -> int:
        offset, end, reads = log.start, log.end, 0
        while reads < READS and offset < end:
            piece = log.read(offset, max_bytes, end)
            assert piece is not None
            offset = Offset(offset + len(piece) // size * RECORDS)
            reads += 1
        return reads

    return once


def searching(log: PartitionLog, offset: int) -> Callable[[], int]:
    """Fetches at offsets nobody has read at before."""

    def once() -> int:
        for i in range(READS):
            log.read(Offset(offset + i), 100_000, log.end)
        return READS

    return once


def opening(folder: str) -> Callable[[], int]:
    for number in range(PARTITIONS):
        log = open_log(folder, f"p{number}")
        records = records_of(5, 100)
        log.append(Batch(records), EPOCH, NOW)
        log.close()

    def once() -> int:
        disk, settings = PosixDisk(), LogSettings()
        for number in range(PARTITIONS):
            name = TopicPartition(f"p{number}", 0)
            log = PartitionLog.open(
                LogFolder(disk, f"{folder}/p{number}-0"),
                TopicIdPartition(ID, name),
                settings,
                checkpoint=LogCheckpoint(clean=True),
                now=NOW,
            )
            assert log.end == 5
        return PARTITIONS

    return once


def recovering(folder: str, log: PartitionLog) -> Callable[[], int]:
    log.close()

    def once() -> int:
        return open_log(folder, "filled").size >> 20

    return once


def main() -> None:
    folder = tempfile.mkdtemp(prefix="andiron-bench-")
    try:
        nowhere = NowhereDisk()
        measure("log.append, Python alone", appending(open_log(folder, "a", disk=nowhere)), unit="batches")
        measure("log.append, written", appending(open_log(folder, "b")), unit="batches")
        sequenced = appending(open_log(folder, "c", disk=nowhere), 7)
        measure("log.append, sequenced, Python alone", sequenced, unit="batches")
        log = filled(folder)
        measure("log.read, going on", tailing(log, 20_000), unit="reads")
        measure("log.read, searched at 0", searching(log, 1), unit="reads")
        measure("log.read, searched at 9,000,000", searching(log, 9_000_000), unit="reads")
        measure("log.open, clean", opening(folder), unit="partitions", rounds=3)
        measure("log.open, after a crash", recovering(folder, log), unit="MiB", rounds=3)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
