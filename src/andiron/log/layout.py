"""The names of files and folders: what a data directory looks like from outside.

    <log dir>/
    ├── meta.properties · .kafka_cleanshutdown · *-offset-checkpoint     directory.py, checkpoints.py
    └── orders-0/                                  one partition: topic, "-", number
        ├── partition.metadata                     partition_metadata.py: the topic's id
        ├── leader-epoch-checkpoint                leader_epochs.py
        ├── 00000000000000005000.log               a segment, named by its base offset, 20 digits
        ├── 00000000000000005000.index             offset_index.py
        ├── 00000000000000005000.timeindex         time_index.py
        ├── 00000000000000005000.txnindex          abort_index.py, once a transaction was aborted
        └── 00000000000000005000.snapshot          producer_snapshots.py: producers as of that offset

A file in transition carries a second suffix, and what it means decides what a start does with it:

    .cleaned   compaction is still writing it: worth nothing
    .swap      whole, and about to take its segment's place: the start completes that
    .deleted   given up, kept for a while for whoever reads it: the start removes it

Folders do the same: orders-0.<id>-delete, -future (a copy that is about to replace a log in another log dir), -stray.
A copy that has all of it is called orders-0.whole<id>-future for the moment in which it takes the log's place.

Read next: segment.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition

LOG, INDEX, TIME_INDEX, ABORT_INDEX, SNAPSHOT = ".log", ".index", ".timeindex", ".txnindex", ".snapshot"
DRAFT: Final = ".tmp"  # of a small file: it takes its name when it is whole
DELETED, CLEANED, SWAP = ".deleted", ".cleaned", ".swap"
SEGMENT_FILES: Final = (LOG, INDEX, TIME_INDEX, ABORT_INDEX)

DELETE, FUTURE, STRAY = "-delete", "-future", "-stray"
WHOLE: Final = "whole"  # how the token of a copy begins that has everything

PARTITION_METADATA: Final = "partition.metadata"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"

_FOLDER_NAME_MAX = 255
_FILE = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.deleted|\.cleaned|\.swap)?")
_FOLDER = re.compile(r"(\S+)-(\d+)")
_MOVING_FOLDER = re.compile(r"(\S+)-(\d+)\.([^.\s]+)(-delete|-future|-stray)")


class LayoutError(AndironError):
    """A file or folder that is not what its place says it is."""


class FileName(NamedTuple):
    """A file of a segment: where the segment starts, what the file is, and its transition."""

    base: int
    kind: str
    state: str = ""

    def __str__(self) -> str:
        return f"{self.base:020d}{self.kind}{self.state}"


class FolderName(NamedTuple):
    """A partition's folder, and its transition if it is in one."""

    partition: TopicPartition
    state: str = ""
    token: str = ""


def file_name(base: int, kind: str, state: str = "") -> str:
    """The name of a segment's file."""
    return f"{base:020d}{kind}{state}"


def parse_file_name(name: str) -> FileName | None:
    """What a file's name says, None if it is not a file of a segment."""
    found = _FILE.fullmatch(name)
    return None if found is None else FileName(int(found[1]), found[2], found[3] or "")


def folder_name(partition: TopicPartition) -> str:
    """The name of a partition's folder."""
    return f"{partition.topic}-{partition.partition}"


def moving_folder_name(partition: TopicPartition, token: str, state: str) -> str:
    """A partition's folder in transition; the topic is shortened where the name would be too long to make."""
    tail = f"-{partition.partition}.{token}{state}"
    return partition.topic[: _FOLDER_NAME_MAX - len(tail)] + tail


def parse_folder_name(name: str) -> FolderName:
    """Which partition a folder holds; LayoutError if none."""
    moving = _MOVING_FOLDER.fullmatch(name)
    if moving is not None:
        return FolderName(TopicPartition(moving[1], int(moving[2])), moving[4], moving[3])
    plain = _FOLDER.fullmatch(name)
    if plain is None:
        raise LayoutError(f"{name!r} is not the folder of a partition, which is <topic>-<number>")
    return FolderName(TopicPartition(plain[1], int(plain[2])))


def is_partition(names: Iterable[str]) -> bool:
    """Whether a folder with these names in it is a partition's: what it is called itself proves nothing."""
    held = list(names)
    marks = [name for name in held if name in (PARTITION_METADATA, LEADER_EPOCHS) or parse_file_name(name)]
    return bool(marks) and not any(name.endswith("/") for name in held)
