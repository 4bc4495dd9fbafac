"""A log in memory, and short words for what the tests do with it."""

from __future__ import annotations

import pytest

from andiron.log.checkpoints import LogCheckpoint
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.sim.disk import MemoryDisk

ID = b"0123456789abcdef"
ORDERS = TopicPartition("orders", 0)
FOLDER = "data/orders-0"


def batch_of(count=1, *, timestamp=0, value=b"v" * 40, **how):
    """A batch of `count` records a millisecond apart, as a producer sends it."""
    return build([Record(0, timestamp + i, b"k", value) for i in range(count)], **how)


def open_log(disk=None, *, now=0, clean=False, recovery_point=0, log_start=0, **settings):
    return PartitionLog.open(
        LogFolder(MemoryDisk() if disk is None else disk, FOLDER),
        TopicIdPartition(ID, ORDERS),
        LogSettings(**settings),
        checkpoint=LogCheckpoint(recovery_point=recovery_point, log_start=log_start, clean=clean),
        now=now,
    )


def append(log, count=1, *, epoch=0, now=0, **how):
    """Append a fresh batch; returns what the log says."""
    records = batch_of(count, **how)
    return log.append(Batch(records), epoch, now)


def flush(log):
    files, end = log.unflushed_files()
    for file in files:
        file.sync()
    log.note_flushed(end)


def offsets(log, start=None, upto=None):
    """The offsets of the batches that a reader gets, from `start` on, as (base, last)."""
    offset = log.start if start is None else start
    found = []
    while (piece := log.read(offset, 1 << 20, log.end if upto is None else upto)) is not None:
        for batch in iterate(piece.read()):
            found.append((batch.base_offset, batch.last_offset))
            offset = batch.next_offset
    return found


def names(log_or_disk):
    disk = getattr(log_or_disk, "_disk", log_or_disk)
    return list(disk.names(FOLDER))


SIZE = len(batch_of(2))
ALL = [(offset, offset + 1) for offset in range(0, 20, 2)]  # the batches of a log that is `filled`


def code_of(action):
    with pytest.raises(ProtocolError) as refused:
        action()
    return refused.value.code


def filled(batches=10, disk=None, **settings):
    """Batches of two records, three to a segment: segments at 0, 6, 12, 18."""
    settings = {"segment_bytes": 3 * SIZE, "index_interval_bytes": 100, **settings}
    log = open_log(disk, **settings)
    for number in range(batches):
        append(log, 2, timestamp=number)
    return log
