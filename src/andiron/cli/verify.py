"""`andiron log verify`: every file of a log directory is checked against itself and against the others.

    .log         batches whole, their checksums right, offsets and epochs rising        verify_segment.py
    .index       every entry leads to a batch that does not begin after its offset
    .timeindex   nothing up to an entry's offset is later than it says
    .snapshot    the checksum holds, and nothing in it is newer than its offset
    epochs       rise, and are the ones that the batches carry
    checkpoints  lie within their logs

A problem is something that a reader could be misled by, or that is lost. A note is what a start puts
right by itself without loss: an index that is missing, a file in transition.

Where there is nothing to look at nothing can be said to hold: that is a failure, not a verdict.

Read next: dump.py, which reads the files.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from andiron.cli import dump
from andiron.cli.dump import DataFile, Kind
from andiron.cli.failure import Failure
from andiron.cli.folder_findings import Finding, FolderFindings
from andiron.cli.output import plural
from andiron.cli.verify_segment import OffsetEntries, SegmentCheck, TimeEntries
from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.records.record import records_of

META = Kind.META.value
CLUSTER_DEPTH = 2  # of a local cluster's folder: node-1/data


class Report(NamedTuple):
    """The findings of `log verify` in all folders that it looked at."""

    folders: list[FolderFindings]

    @property
    def problems(self) -> list[Finding]:
        return [problem for folder in self.folders for problem in folder.problems]

    def as_text(self) -> str:
        """The report as text."""
        count = len(self.problems)
        verdict = f"{plural(count, 'problem')} found" if count else "all of it holds"
        return "\n".join([*(folder.as_text() for folder in self.folders), verdict])

    def as_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {"problems": len(self.problems), "folders": [folder.as_json() for folder in self.folders]}


def verify_directory(path: str) -> Report:
    """A partition's folder, a data directory with all its partitions, or a folder that holds such of several nodes."""
    if dump.partition_folder(path) is not None:
        return Report([verify_partition(path)])
    places = data_directories(path)
    if not places:
        raise Failure(
            f"{path} has nothing of a node's in it, neither partitions nor {META}: give a data folder (log.dirs), one "
            "partition's folder, or the folder of a local cluster"
        )
    return Report([folder for place in places for folder in _verify_data(place)])


def data_directories(path: str, depth: int = CLUSTER_DEPTH) -> list[str]:
    """The data directories at or below a folder: its own, or those of the nodes in it (node-1/data)."""
    try:
        inner = [
            entry.path for entry in sorted(os.scandir(path), key=lambda entry: entry.name) if entry.is_dir()
        ]
    except OSError:
        return []  # a folder that we may not read
    if os.path.exists(os.path.join(path, META)) or any(map(dump.partition_folder, inner)):
        return [path]
    return [found for each in inner for found in data_directories(each, depth - 1)] if depth else []


def _verify_data(path: str) -> list[FolderFindings]:
    ends: dict[TopicPartition, int] = {}
    folders = []
    for entry in sorted(os.listdir(path)):
        inner = os.path.join(path, entry)
        partition = dump.partition_folder(inner) if os.path.isdir(inner) else None
        if partition is not None:
            folders.append(verify_partition(inner))
            ends[partition] = folders[-1].end
    return [_verify_checkpoints(path, ends), *folders]


def verify_partition(path: str) -> FolderFindings:
    """One partition's folder."""
    findings = FolderFindings(path)
    files = [file for file in dump.data_files(path) if not _in_transition(file, findings)]
    epochs = _epochs(files, findings)
    segments = [file for file in files if file.kind is Kind.SEGMENT and file.name.endswith(".log")]
    by_name = {file.name: file for file in files}
    for number, file in enumerate(segments):
        if number and file.base < findings.end:
            findings.problem(
                file.name, f"it begins before offset {findings.end}, where the one before it ends"
            )
        sealed = number < len(segments) - 1
        offsets, times = _indexes(file, by_name, findings, sealed)
        findings.end = max(findings.end, SegmentCheck(file, findings, epochs).run(offsets, times))
    if not segments:
        findings.note(path, "there are no segments")
    for file in files:
        if file.is_metadata or file not in segments:
            _verify_small(file, findings)
    return findings


def _in_transition(file: DataFile, findings: FolderFindings) -> bool:
    if file.state:
        findings.note(file.name, "left in transition; a start finishes or removes it")
    return bool(file.state)


def _epochs(files: list[DataFile], findings: FolderFindings) -> list[tuple[int, int]]:
    for file in files:
        if file.kind is Kind.EPOCHS:
            try:
                return dump.epochs(file.path)
            except AndironError as error:
                findings.problem(file.name, str(error))
    return []


def _indexes(
    segment: DataFile, by_name: dict[str, DataFile], findings: FolderFindings, sealed: bool
) -> tuple[OffsetEntries | None, TimeEntries | None]:
    stem = segment.name.removesuffix(".log")
    offsets: OffsetEntries | None = None
    times: TimeEntries | None = None
    for name in (f"{stem}.index", f"{stem}.timeindex"):
        file = by_name.get(name)
        if file is None:
            findings.note(name, "missing; a start builds it")
            continue
        try:
            if file.kind is Kind.OFFSET_INDEX:
                offsets = OffsetEntries(file, dump.offset_entries(file), findings)
            else:
                times = TimeEntries(file, dump.time_entries(file), findings, sealed=sealed)
        except dump.DumpError as error:
            findings.problem(name, str(error))
    return offsets, times


def _verify_small(file: DataFile, findings: FolderFindings) -> None:
    """Check a file that is read as a whole: .snapshot, .txnindex, partition.metadata, or records of the metadata."""
    try:
        match file.kind:
            case Kind.PRODUCERS:
                _verify_producers(file, findings)
            case Kind.ABORT_INDEX:
                ends = [aborted.last_offset for aborted in dump.abort_entries(file)]
                if ends != sorted(ends) or any(end >= findings.end for end in ends):
                    findings.problem(file.name, "its entries do not rise, or lie beyond the log")
            case Kind.PARTITION_METADATA:
                dump.topic_id(file.path)
            case Kind.SEGMENT:  # of the metadata, or a snapshot of it
                _verify_metadata(file, findings)
    except ProtocolError as error:
        findings.problem(file.name, error.detail)
    except AndironError as error:
        findings.problem(file.name, str(error))


def _verify_producers(file: DataFile, findings: FolderFindings) -> None:
    if file.base > findings.end:
        findings.problem(file.name, f"it is of offset {file.base}, and the log ends at {findings.end}")
    for state in dump.producers(file.path):
        if state.batches and state.batches[-1].last_offset >= file.base:
            offset = state.batches[-1].last_offset
            findings.problem(
                file.name, f"producer {state.id} has offset {offset}, which is not below {file.base}"
            )


def _verify_metadata(file: DataFile, findings: FolderFindings) -> None:
    """Records of the cluster's metadata must make sense as such; those of a later Kafka may not."""
    for position, batch in dump.segment_batches(file.path):
        if not batch.is_intact():
            findings.problem(file.name, f"byte {position}: the batch of metadata fails its checksum")
            continue
        for record in records_of(batch):
            try:
                dump.control_fields(batch, record) if batch.is_control else dump.metadata_fields(record)
            except AndironError as error:
                later = getattr(error, "code", None) is ErrorCode.UNSUPPORTED_VERSION
                tell = findings.note if later else findings.problem
                tell(file.name, f"offset {record.offset}: {error}")


def _verify_checkpoints(path: str, ends: dict[TopicPartition, int]) -> FolderFindings:
    """The files of the data directory itself."""
    findings = FolderFindings(path)
    for file in dump.data_files(path):
        try:
            if file.kind is Kind.META:
                dump.identity(file.path)
            elif file.kind is Kind.OFFSETS:
                for partition, offset in dump.offsets(file.path).items():
                    if partition not in ends:
                        findings.note(file.name, f"it names {partition}, which is not here")
                    elif offset > ends[partition]:
                        findings.problem(
                            file.name, f"{partition} at {offset}, and its log ends at {ends[partition]}"
                        )
        except AndironError as error:
            findings.problem(file.name, str(error))
    if not dump.was_stopped_cleanly(path):
        findings.note(path, "the node runs, or was not stopped cleanly")
    return findings
