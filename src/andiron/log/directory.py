"""A log directory, one of log.dirs: whose it is, how it was left, and what is in it.

    meta.properties           cluster, node and directory id: it is ours, or we do not touch it
    .kafka_cleanshutdown      the last stop was clean; gone while a node runs
    *-offset-checkpoint       checkpoints.py
    orders-0/ orders-1/ …     partitions

A start: `owners` and `open` check whose it is, `take_clean_mark` asks how the last stop went and takes the mark away,
so that a crash from now on shows. A stop: close every log, write the checkpoints, `leave_clean_mark`.

The law: what others have put here is not touched. A folder that has something in it and no meta.properties is refused,
and a folder that looks like a partition's by its name alone (`photos-2024`) is neither renamed nor removed.

Keeping other processes out is the edge's business (edge/disk.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from andiron.log.checkpoints import load_offsets, save_offsets
from andiron.log.disk import Disk
from andiron.log.layout import (
    DELETE,
    FUTURE,
    WHOLE,
    FolderName,
    LayoutError,
    folder_name,
    is_partition,
    parse_folder_name,
)
from andiron.model.errors import AndironError
from andiron.model.ids import Offset, TopicPartition

META: Final = "meta.properties"
CLEAN_MARK: Final = ".kafka_cleanshutdown"

# What a folder may hold and count as empty: of the file system, of whoever keeps it in git, of a first start cut short;
# and the metadata that an operator has brought from another node.
_NOTHING = (
    "lost+found/", ".lock", ".gitkeep", ".gitignore", ".keep", ".DS_Store", f"{META}.tmp", "__cluster_metadata-0/",
)  # fmt: skip

_VERSION = "1"
_EPOCH = re.compile(rb'"brokerEpoch":\s*(-?\d+)')


class DirectoryError(AndironError):
    """A log directory that this node must not use; the message says why, in one line."""


class Identity(NamedTuple):
    """Whose a log directory is. Ids are strings, as the file has them."""

    cluster_id: str
    node_id: int
    directory_id: str = ""

    def encode(self) -> bytes:
        """The contents of meta.properties."""
        lines = ["#", f"cluster.id={self.cluster_id}", f"directory.id={self.directory_id}"]
        return "\n".join((*lines, f"node.id={self.node_id}", f"version={_VERSION}", "")).encode()

    @classmethod
    def decode(cls, data: bytes, path: str) -> Identity:
        """The owner that a meta.properties names."""
        pairs = _properties(data)
        if pairs.get("version") != _VERSION:
            raise DirectoryError(f"{path} has version {pairs.get('version')}, not {_VERSION}")
        for name in ("cluster.id", "node.id"):
            if not pairs.get(name):
                raise DirectoryError(f"{path} has no {name}")
        node_id = pairs["node.id"]
        if not (node_id.isascii() and node_id.isdigit()):
            raise DirectoryError(f"{path} has node.id {node_id!r}, which is not a number")
        return cls(pairs["cluster.id"], int(node_id), pairs.get("directory.id", ""))


class LogDirectory:
    """One of log.dirs, open."""

    __slots__ = ("_disk", "identity", "path")

    def __init__(self, disk: Disk, path: str, identity: Identity) -> None:
        self._disk, self.path, self.identity = disk, path, identity

    @staticmethod
    def identity_at(disk: Disk, path: str) -> Identity | None:
        """The owner of the directory at `path`; None if it has none yet."""
        try:
            return Identity.decode(disk.read_file(f"{path}/{META}"), f"{path}/{META}")
        except FileNotFoundError:
            return None

    @classmethod
    def open(cls, disk: Disk, path: str, wanted: Identity) -> LogDirectory:
        """The directory at `path`, which is to be `wanted`'s: a new one is made its own."""
        there = cls.identity_at(disk, path)
        if there is None:
            disk.make_directory(path)
            disk.write_file(f"{path}/{META}", wanted.encode())
            return cls(disk, path, wanted)
        if there.cluster_id != wanted.cluster_id:
            raise DirectoryError(
                f"{path} belongs to cluster {there.cluster_id}, and this node to {wanted.cluster_id}; "
                "choose another folder"
            )
        if there.node_id != wanted.node_id:
            raise DirectoryError(
                f"{path} belongs to node {there.node_id}, and this is node {wanted.node_id}; "
                f"start it with node.id={there.node_id}, or choose another folder"
            )
        if not there.directory_id:
            there = there._replace(directory_id=wanted.directory_id)
            disk.write_file(f"{path}/{META}", there.encode())
        return cls(disk, path, there)

    # ── how it was left ──────────────────────────────────────────────────────────────

    @property
    def has_clean_mark(self) -> bool:
        """Whether the last stop was clean."""
        return self._disk.exists(f"{self.path}/{CLEAN_MARK}")

    def take_clean_mark(self) -> int | None:
        """If the last stop was clean, the broker's epoch at the time, -1 where it does not tell.
        Asked once: from now on it was not."""
        if not self.has_clean_mark:
            return None
        path = f"{self.path}/{CLEAN_MARK}"
        said = _EPOCH.search(self._disk.read_file(path))
        self._disk.remove(path)
        self._disk.sync_directory(self.path)
        return int(said[1]) if said else -1

    def leave_clean_mark(self, broker_epoch: int) -> None:
        """Everything is on the disk: the next start may trust it."""
        self._disk.write_file(f"{self.path}/{CLEAN_MARK}", b'{"version":0,"brokerEpoch":%d}' % broker_epoch)

    # ── what is in it ────────────────────────────────────────────────────────────────

    def folder_of(self, partition: TopicPartition) -> str:
        """Where a partition's log is, or would be."""
        return f"{self.path}/{folder_name(partition)}"

    def partitions(self) -> list[TopicPartition]:
        """The partitions that have a folder here."""
        return [parsed.partition for name, parsed in self._folders() if not parsed.state]

    def leftovers(self) -> list[str]:
        """Folders given up before the last stop: to be removed. One may have been emptied half by then."""
        given_up = [f"{self.path}/{name}" for name, parsed in self._folders() if parsed.state == DELETE]
        return [path for path in given_up if not (names := self._disk.names(path)) or is_partition(names)]

    def futures(self) -> list[tuple[str, TopicPartition, bool]]:
        """Copies that were to replace logs of other directories: their paths, of what, and whether they are whole."""
        return [
            (f"{self.path}/{name}", parsed.partition, parsed.token.startswith(WHOLE))
            for name, parsed in self._folders()
            if parsed.state == FUTURE
        ]

    def load(self, checkpoint: str, notices: list[str]) -> dict[TopicPartition, Offset]:
        """The offsets of one of the checkpoints."""
        return load_offsets(self._disk, f"{self.path}/{checkpoint}", notices)

    def save(self, checkpoint: str, offsets: Mapping[TopicPartition, Offset]) -> None:
        """Replace one of the checkpoints, durably."""
        save_offsets(self._disk, f"{self.path}/{checkpoint}", offsets)

    def usage(self) -> tuple[int, int]:
        """(total, free) bytes of its file system."""
        return self._disk.usage(self.path)

    def _folders(self) -> list[tuple[str, FolderName]]:
        found = []
        for name in self._disk.names(self.path):
            if name.endswith("/"):
                try:
                    found.append((name[:-1], parse_folder_name(name[:-1])))
                except LayoutError:
                    continue  # somebody else's, such as lost+found
        return found


def owners(disk: Disk, paths: Sequence[str]) -> list[Identity | None]:
    """Whose each of a node's directories is, None of a new one; raises before anything is written where one is neither
    a node's nor empty, or lies within another node's."""
    found = [LogDirectory.identity_at(disk, path) for path in paths]
    for path in [path for path, owner in zip(paths, found, strict=True) if owner is None]:
        held = [name for name in disk.names(path) if name not in _NOTHING]
        if held:
            raise DirectoryError(
                f"{path} has {held[0].rstrip('/')} in it and no {META}, so it is no node's, and nothing in it was "
                "touched; choose a folder that is empty or not there yet"
            )
        above = path.rpartition("/")[0]
        if above not in ("", *paths) and disk.exists(f"{above}/{META}"):
            raise DirectoryError(f"{path} lies in the data of a node, {above}; choose a folder outside of it")
    return found


def _properties(data: bytes) -> dict[str, str]:
    """Names and values of a Java properties file, as far as Kafka uses them here."""
    pairs = {}
    for line in data.decode("utf-8", "replace").splitlines():
        if line.strip() and line.lstrip()[0] not in "#!":
            name, _, value = line.partition("=")
            pairs[name.strip()] = value.strip()
    return pairs
