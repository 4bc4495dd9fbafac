"""A partition's folder, written byte by byte: two segments with indexes, a snapshot, epochs and an id.

segment 0     offsets 0-2, 3-5, 6-8      epoch 0       sealed
segment 9     offsets 9-11               epoch 1
"""

from __future__ import annotations

import struct
from pathlib import Path

from andiron.records.builder import build
from andiron.records.crc32c import crc32c
from andiron.records.record import Record

TOPIC_ID = "YWFhYWFhYWFhYWFhYWFhYQ"


def batch(base: int, epoch: int = 0, count: int = 3, timestamp: int | None = None) -> bytes:
    """Records named by their offsets, a millisecond apart."""
    records = [
        Record(0, (1000 + base + at) if timestamp is None else timestamp, b"k%d" % at, b"v%d" % (base + at))
        for at in range(count)
    ]
    return bytes(build(records, base_offset=base, leader_epoch=epoch))


def write_partition(folder: Path) -> Path:
    """The folder above; everything in it holds."""
    folder.mkdir(parents=True)
    batches = [batch(0), batch(3), batch(6)]
    write(folder, 0, ".log", b"".join(batches))
    write(folder, 0, ".index", struct.pack(">ii", 5, len(batches[0])))
    write(folder, 0, ".timeindex", struct.pack(">qiqi", 1005, 5, 1008, 8))
    write(folder, 9, ".log", batch(9, epoch=1))
    write(folder, 9, ".index", b"")
    write(folder, 9, ".timeindex", b"")
    write(folder, 9, ".snapshot", snapshot((7, 8)))
    (folder / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n1 9\n")
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {TOPIC_ID}")
    return folder


def write_data(data: Path) -> Path:
    """A data directory with that partition as orders-0, stopped cleanly."""
    write_partition(data / "orders-0")
    (data / "meta.properties").write_text("#\nversion=1\ncluster.id=c\nnode.id=1\ndirectory.id=d\n")
    (data / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 12\n")
    (data / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":3}')
    return data


def write(folder: Path, base: int, suffix: str, data: bytes) -> Path:
    """One file of a segment."""
    path = folder / f"{base:020d}{suffix}"
    path.write_bytes(data)
    return path


def snapshot(*last_offsets: tuple[int, int]) -> bytes:
    """Producers by id, with the last offset of each."""
    body = struct.pack(">i", len(last_offsets))
    for producer_id, offset in last_offsets:
        body += struct.pack(">qhiqiqiq", producer_id, 0, offset, offset, 0, 1000, -1, -1)
    return struct.pack(">hI", 1, crc32c(body)) + body
