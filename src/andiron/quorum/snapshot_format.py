"""One snapshot of the metadata log: what it is called, and what is in it (KIP-630).

    00000000000000001234-0000000007.checkpoint         the end of the log it stands for · the epoch of its last record
    00000000000000001234-0000000007.checkpoint.part    on its way: written here, or fetched from the leader

    header · voters, where they can change │ record · record · … │ footer
    └────────── a control batch ──────────┘  batches of data      └ a control batch: without it the file was cut short

Batches are those of a log, with offsets of their own that begin at 0; the records among them are the fewest that make
the same image (controller/image_writer.py). What they stand for is committed, so a snapshot is never taken back, and
two of the same name say the same, whoever wrote them.

Read next: snapshot_table.py, for those that a node has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, Millis, Offset
from andiron.quorum.records import (
    ControlRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    decode_control,
    encode_control,
)
from andiron.records.batch import Batch
from andiron.records.builder import BatchBuilder
from andiron.records.control import control_batch, control_records
from andiron.records.record import records_of

SUFFIX: Final = ".checkpoint"
PART: Final = ".part"  # after the suffix
BATCH_RECORDS, BATCH_BYTES = 100, 64 << 10  # of a batch of data: whichever comes first

_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint(\.part)?")

Entry: TypeAlias = ControlRecord | bytes  # a control record, or the value of a record of metadata


class SnapshotId(NamedTuple):
    """What a snapshot stands for: the log up to `end`, whose last record is of this epoch."""

    end: Offset
    epoch: LeaderEpoch

    @property
    def file_name(self) -> str:
        return f"{self.end:020d}-{self.epoch:010d}{SUFFIX}"

    def __str__(self) -> str:
        return f"{self.end}-{self.epoch}"


class FileName(NamedTuple):
    """What the name of a file says."""

    id: SnapshotId
    is_part: bool


def parse_file_name(name: str) -> FileName | None:
    """Which snapshot a file is, or is to become; None if none."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return FileName(SnapshotId(Offset(int(found[1])), LeaderEpoch(int(found[2]))), found[3] is not None)


# ── writing ──────────────────────────────────────────────────────────────────────────


def batches_of(
    id: SnapshotId, timestamp: Millis, values: Iterable[bytes], about: Sequence[ControlRecord] = ()
) -> Iterator[bytearray]:
    """The batches of a snapshot, one after the other: `about` the quorum, and the `values` of its records.

    `timestamp` is that of the last record it stands for. Values are asked for as batches are: whoever writes may
    stop after any of them and go on later.
    """
    header: list[ControlRecord] = [SnapshotHeaderRecord(0, timestamp), *about]
    yield _control(header, timestamp, 0, id.epoch)
    offset, batch = len(header), None
    for value in values:
        batch = batch or BatchBuilder(base_offset=offset, leader_epoch=id.epoch)
        batch.append(timestamp, None, value)
        if batch.count >= BATCH_RECORDS or batch.size >= BATCH_BYTES:
            yield batch.build()
            offset, batch = offset + batch.count, None
    if batch is not None:
        yield batch.build()
        offset += batch.count
    yield _control([SnapshotFooterRecord()], timestamp, offset, id.epoch)


def _control(records: Iterable[ControlRecord], timestamp: int, offset: int, epoch: LeaderEpoch) -> bytearray:
    entries = map(encode_control, records)
    return control_batch(entries, timestamp=timestamp, base_offset=offset, leader_epoch=epoch)


# ── reading ──────────────────────────────────────────────────────────────────────────


def entries_of(batches: Iterable[Batch]) -> Iterator[Entry]:
    """What is in a snapshot, the header first and the footer last; raises if it is not whole."""
    is_first, is_over = True, False
    for entry in _entries(batches):
        if is_over:
            raise ErrorCode.CORRUPT_MESSAGE.error("something follows the footer")
        if is_first and not isinstance(entry, SnapshotHeaderRecord):
            raise ErrorCode.CORRUPT_MESSAGE.error("it does not begin with a header")
        is_first, is_over = False, isinstance(entry, SnapshotFooterRecord)
        yield entry
    if not is_over:
        raise ErrorCode.CORRUPT_MESSAGE.error("it has no footer, so it was cut short")


def _entries(batches: Iterable[Batch]) -> Iterator[Entry]:
    for batch in batches:
        if not batch.is_intact():
            raise ErrorCode.CORRUPT_MESSAGE.error(f"{batch} fails its checksum")
        if batch.is_control:
            yield from (decode_control(kind, value or b"") for kind, value in control_records(batch))
        else:
            yield from (record.value or b"" for record in records_of(batch))
