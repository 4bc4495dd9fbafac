"""Whether this program supports the metadata of a folder; a node that does not is stopped before it writes there.

    newest snapshot ─▶ image ─▶ every record of the log ─▶ image ─▶ levels of features ─▶ known here? ─▶ start
    bootstrap.checkpoint ─▶ if there is nothing yet ─┘                                     │
                               UnsupportedMetadata: names what, and what to do; nothing was changed

A folder may come from Kafka, or from a later version of either. What a node has brought to the disk itself (the mark
of flushed_mark.py) it has read before: so the log is replayed on trial where somebody else has
written since, and an ordinary start pays nothing for it.

Read next: metadata_damage.py, for folders that are damaged.
"""

from __future__ import annotations

from andiron.broker.metadata.bootstrap_checkpoint import FILE, bootstrap_records
from andiron.broker.metadata.snapshot_files import SnapshotFiles, UnsupportedMetadata
from andiron.controller.features import METADATA_VERSION, OFFERED, unsupported
from andiron.controller.image import Image
from andiron.controller.records import decode_record
from andiron.log import scan
from andiron.log.damage import segments
from andiron.log.disk import Disk
from andiron.model.errors import AndironError, ProtocolError
from andiron.model.ids import Offset
from andiron.records.batch import Batch
from andiron.records.record import records_of


def check_metadata_is_supported(
    disk: Disk, place: str, directory: str, snapshots: SnapshotFiles, known: Offset
) -> None:
    """Raise UnsupportedMetadata unless this program can replay the metadata in `directory`, which lies in
    metadata.log.dir, `place`. Up to the offset `known` it has done so at an earlier start."""
    end = _end(disk, directory)
    if end and end <= known:
        return
    found = snapshots.newest()
    image = Image(noting=False) if found is None else found.image
    for _, path in segments(disk, directory):
        _replay(disk, path, image)
    if METADATA_VERSION not in image.features:
        _bootstrap(disk, place, image)
    trouble = unsupported(image.features, OFFERED, "this version of Andiron")
    if trouble is not None:
        raise UnsupportedMetadata(f"{directory}: {trouble}; {_advice(image)}. Nothing was changed")


def _bootstrap(disk: Disk, place: str, image: Image) -> None:
    try:
        for record in bootstrap_records(disk, place):
            image.replay(record, image.next_offset)
    except AndironError as error:
        raise UnsupportedMetadata(
            f"{place}/{FILE}: {error}, which this version of Andiron does not understand; format the folder anew, or "
            "open it with what formatted it. Nothing was changed"
        ) from error


def _end(disk: Disk, directory: str) -> Offset:
    """Where the log ends, as far as it holds together."""
    if not (found := segments(disk, directory)):
        return Offset(0)
    end, path = found[-1]
    file = disk.open(path)
    try:
        for _, batch in scan.headers(file, 0, file.size):
            end = batch.next_offset
    except ProtocolError:
        pass  # a torn tail
    finally:
        file.close()
    return Offset(end)


def _replay(disk: Disk, path: str, image: Image) -> None:
    file = disk.open(path)
    try:
        for batch in scan.batches(file, 0, file.size):
            if not batch.is_intact():
                return  # a torn tail, which is cut
            if not batch.is_control and batch.next_offset > image.next_offset:
                _take_in(batch, path, image)
    except ProtocolError:
        return  # and so is this
    finally:
        file.close()


def _take_in(batch: Batch, path: str, image: Image) -> None:
    for record in records_of(batch):
        try:
            if record.offset >= image.next_offset:
                image.replay(decode_record(record.value or b""), Offset(record.offset))
        except AndironError as error:
            raise UnsupportedMetadata(
                f"{path}, offset {record.offset}: {error}, which this version of Andiron does not understand; open the "
                "folder with what wrote it. Nothing was changed"
            ) from error


def _advice(image: Image) -> str:
    level = image.features.get(METADATA_VERSION, 0)
    least, most = OFFERED[METADATA_VERSION]
    if level < least:
        return "raise it with Kafka first (kafka-features upgrade --release-version 4.3), and open the folder then"
    if level > most:
        return "open the folder with what wrote it"
    return "lower it with what raised it (kafka-features downgrade --feature NAME=LEVEL), or open the folder with that"
