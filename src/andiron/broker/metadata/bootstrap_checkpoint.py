"""bootstrap.checkpoint: what a cluster is to begin with, as `kafka-storage format` was told.

    kafka-storage format --release-version 4.1 --feature share.version=0 --add-scram …  ──▶  bootstrap.checkpoint
                                             the first controller finds a log without metadata ──▶ its first records

It lies beside the logs, in metadata.log.dir, and is made like a snapshot. A cluster that has begun has no use for it.
Andiron needs no formatting, for a new node writes its own (standalone_format.py); but a folder may have been formatted
for Kafka, and never been opened.

Read next: controller/features.py, for what a cluster begins with otherwise.
"""

from __future__ import annotations

from andiron.controller.records import MetadataRecord, decode_record
from andiron.log import scan
from andiron.log.disk import Disk
from andiron.quorum.snapshot_format import entries_of

FILE = "bootstrap.checkpoint"


def bootstrap_records(disk: Disk, directory: str) -> list[MetadataRecord]:
    """The records in a folder's file; none if it has none. Raises where they are damaged or not understood."""
    if FILE not in disk.names(directory):
        return []
    file = disk.open(f"{directory}/{FILE}")
    try:
        entries = list(entries_of(scan.batches(file, 0, file.size)))
    finally:
        file.close()
    return [decode_record(entry) for entry in entries if isinstance(entry, bytes)]
