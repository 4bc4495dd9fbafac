"""The disk as the log sees it, and the slices it hands out for sending.

The page cache is a parameter: a log calls its Disk directly, and both edges bring one,
edge/disk.py on POSIX and sim/disk.py with a memory that tears, forgets and fills up.
What is slow (fsync, compaction) does not happen here on the hot path; it goes out as an
effect (model/effects.py). `sync` below is for start, stop and recovery.

    append ──▶ page cache ──(Flush effect, or sync)──▶ disk
               survives kill -9                        survives power loss

Paths are plain strings with "/" between the names. A method that cannot do what it
promises raises OSError, and then has changed nothing: a failed append leaves the file
at the size it had.

Read next: segment.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview


class File(Protocol):
    """One file, opened for appending and for reading anywhere."""

    path: str  # follows Disk.rename
    size: int  # bytes appended so far; kept in memory, so asking costs nothing

    def append(self, data: Buffer) -> None:
        """Add bytes at the end, all of them or none. `data` is free to change once this returns."""

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`; fewer only at the end of the file."""

    def truncate(self, size: int) -> None:
        """Cut the file back to `size` bytes."""

    def sync(self) -> None:
        """Bring the file to the disk, now."""

    def close(self) -> None:
        """Give the descriptor back. A later read or append opens the file again."""


class Disk(Protocol):
    """Directories and small files; big ones are opened as `File`."""

    def open(self, path: str) -> File:
        """The file at `path`, made empty if there is none. One File per path at a time."""

    def exists(self, path: str) -> bool: ...

    def names(self, directory: str) -> dict[str, int]:
        """What is in a directory: file names with their sizes; sub-directories end in "/" and have size 0.
        In the order of the names. A directory that is not there has nothing in it."""

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents; one that is there already is fine."""

    def sync_directory(self, path: str) -> None:
        """Bring the names in a directory to the disk (after files were made, renamed or removed in it)."""

    def sync_all(self, files: Iterable[File], directories: Iterable[str]) -> dict[str, OSError]:
        """Bring many files, and the names in many directories, to the disk, side by side where that is quicker.
        Returns by their paths which did not get there, and why."""

    def read_file(self, path: str) -> bytes:
        """A small file, whole. FileNotFoundError if there is none."""

    def write_file(self, path: str, data: bytes) -> None:
        """Replace a small file, whole and durably: a crash leaves the old one or the new one."""

    def rename(self, old: str, new: str) -> None:
        """Atomically give a file or directory another name, replacing a file; open Files follow."""

    def remove(self, path: str) -> None:
        """Remove a file or a whole directory; one that is not there is fine. May finish in the background."""

    def usage(self, path: str) -> tuple[int, int]:
        """(total, free) bytes of the file system that holds `path`."""


class LogFolder(NamedTuple):
    """Where the log of one partition lies: a folder, and the disk that it is on."""

    disk: Disk
    path: str


class FileSlice:
    """Bytes of a file to be sent as they are: the zero-copy currency between log and socket.

    Of a log, `next_offset` is where whoever reads them goes on; else it is not told.
    """

    __slots__ = ("file", "length", "next_offset", "position")

    def __init__(self, file: File, position: int, length: int, next_offset: int = -1) -> None:
        self.file, self.position, self.length, self.next_offset = file, position, length, next_offset

    def __len__(self) -> int:
        return self.length

    def read(self) -> bytes:
        """The bytes, in memory: for the simulator, tools and tests."""
        return self.file.read(self.position, self.length)
