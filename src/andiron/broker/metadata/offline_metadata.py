"""The metadata of a node that does not run, read from its folder, of which nothing is changed.

    newest snapshot that can be read ─▶ image, voters ─▶ the log from there on, as far as it is whole

What was appended and never committed is in it too: a node by itself has nothing of the kind, and of others nobody can
tell without asking them.

Read next: snapshot_files.py; cli/kafka.py, which asks.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.metadata.snapshot_files import SnapshotFiles, SnapshotReader
from andiron.controller.image import Image
from andiron.controller.records import decode_record
from andiron.log import scan
from andiron.log.disk import Disk
from andiron.log.layout import LOG
from andiron.model.errors import AndironError
from andiron.model.ids import Offset
from andiron.quorum.records import VotersRecord, decode_control
from andiron.quorum.snapshot_format import parse_file_name
from andiron.quorum.voter_set import VoterSet
from andiron.records.batch import Batch
from andiron.records.control import control_records
from andiron.records.record import records_of


class OfflineMetadata(NamedTuple):
    """What is there; `voters` None where the log names none, and kraft.version is 0."""

    image: Image
    voters: VoterSet | None


def read_offline_metadata(disk: Disk, metadata_log_dir: str) -> OfflineMetadata:
    """The metadata of the node whose folder this is; empty if it has none yet."""
    directory = f"{metadata_log_dir}/{METADATA}"
    loaded = _newest_snapshot(disk, directory)
    image, voters = (loaded.image, loaded.voters) if loaded is not None else (Image(), None)
    start = Offset(0) if loaded is None else loaded.id.end
    for name in disk.names(directory):
        if name.endswith(LOG):
            file = disk.open(f"{directory}/{name}")
            try:
                for batch in scan.batches(file, 0, file.size):
                    if batch.base_offset >= start:
                        voters = _taken_in(batch, image) or voters
            except AndironError:
                break  # a torn end: a start cuts it
            finally:
                file.close()
    return OfflineMetadata(image, None if voters is None else VoterSet.of(voters))


def _newest_snapshot(disk: Disk, directory: str) -> SnapshotReader | None:
    names = map(parse_file_name, disk.names(directory))
    files = SnapshotFiles(disk, directory)
    for id in sorted((each.id for each in names if each and not each.is_part), reverse=True):
        try:
            loading = SnapshotReader(files.entries(id), id, Image())
            while not loading.go_on():
                pass
            return loading
        except (AndironError, OSError):
            continue  # an older one and the log from there will do
    return None


def _taken_in(batch: Batch, image: Image) -> VotersRecord | None:
    """Replay one batch; who votes from there on, if it says so."""
    if not batch.is_control:
        for record in records_of(batch):
            image.replay(decode_record(record.value or b""), Offset(record.offset))
        return None
    said = [decode_control(kind, value or b"") for kind, value in control_records(batch)]
    return next((each for each in reversed(said) if isinstance(each, VotersRecord)), None)
