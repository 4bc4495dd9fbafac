"""What a new node by itself begins with: the files that Kafka's `kafka-storage format --standalone` writes.

    meta.properties                                         whose folder it is (log/directory.py)
    bootstrap.checkpoint                                    the levels of features that a new cluster has
    __cluster_metadata-0/
        00000000000000000000-0000000000.checkpoint          kraft.version 1, and this node as the one voter

So Kafka opens the folder with the settings that it has as it comes (`controller.quorum.bootstrap.servers`), and voters
can be added. There is no command for it, as a new node has nothing to lose: no log, no snapshot, no partitions
(metadata_log.py sees to that), and nobody else who could have metadata. A node whose settings name its voters keeps
going by these; `kafka-storage format` writes no snapshot for such a one either.

Read next: voter_tracker.py, which finds the voter there; decision 18.
"""

from __future__ import annotations

from typing import Final

from andiron.broker.metadata.bootstrap_checkpoint import FILE
from andiron.broker.metadata.snapshot_files import SnapshotFiles
from andiron.broker.metadata.voter_tracker import own_voter
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.features import first_levels
from andiron.controller.records import encode_record
from andiron.log.disk import Disk
from andiron.model.ids import LeaderEpoch, Millis, Offset, wall_time
from andiron.quorum.records import KRaftVersionRecord
from andiron.quorum.snapshot_format import SnapshotId, batches_of
from andiron.quorum.voter_set import KRAFT_VERSION, VoterSet

FIRST: Final = SnapshotId(Offset(0), LeaderEpoch(0))


def may_format_standalone(settings: NodeSettings) -> bool:
    """Whether a node with these settings is a cluster of its own if it has no metadata."""
    return settings.is_alone and not settings.broker.controller_quorum_voters


def format_standalone(
    settings: NodeSettings, disk: Disk, snapshots: SnapshotFiles, directory: bytes, now: Millis
) -> None:
    """Write what a cluster of this one node begins with; `directory` is the id of the folder with its metadata."""
    if not disk.exists(bootstrap := f"{settings.metadata_log_dir}/{FILE}"):
        levels = [encode_record(level) for level in first_levels()]
        disk.write_file(bootstrap, b"".join(batches_of(FIRST, Millis(0), levels)))
    time, voters = wall_time(now), VoterSet([own_voter(settings, directory)])
    file = snapshots.begin(FIRST)
    for batch in batches_of(FIRST, time, (), [KRaftVersionRecord(0, KRAFT_VERSION), voters.record()]):
        file.append(batch)
    file.sync()
    snapshots.finish(FIRST, file, time)
