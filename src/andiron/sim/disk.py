"""A disk in memory, with everything that can go wrong with one.

Without faults it is a plain Disk and what the tests of log/ run on. Its faults:

    crash          what was not synced is lost, or torn, or comes back
    fuse           the process dies between two operations, in the midst of whatever it was doing
    fill_up        appends fail until something is removed or free_up is called
    use_up_inodes  no file can be made until free_up is called; those that are there grow on
    fail_syncs     nothing reaches the disk any more, and whoever waits for that is told so
    corrupt        bits turn over in what was safely written

What a power loss may do, as POSIX allows and journaling file systems do it:

* A file keeps its synced bytes. Of those appended since, a part at the front stays, and
  behind it may be zeros or garbage, or zeros in the middle where one block did not make it.
  A truncation that was not synced may be undone, and then what was appended after it is gone.
* Names (files and directories made, renamed, removed) go to the disk in the order of the
  changes: a crash undoes some of the last ones. `sync_directory` settles the changes in that
  directory and all before them. Syncing a new file does not settle its name: it can vanish.
* `write_file` settles itself, whole, as it promises.

A process that merely dies loses nothing: open the same disk again. With `fuse` = n it dies at its
n-th change from now, by an exception that nothing catches (`Killed`), and at every one after that.

Read next: names.py.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Iterable
from functools import partial

from andiron.log.disk import Buffer, File
from andiron.sim.names import Content, Directory, Names

_PLENTY = 1 << 50


class Killed(BaseException):
    """The process is no more. Not an Exception: the dead handle nothing."""


class MemoryFile:
    """One file of a MemoryDisk."""

    __slots__ = ("_content", "_disk", "gone", "path", "size")

    def __init__(self, disk: MemoryDisk, path: str, content: Content) -> None:
        self.path, self.size = path, len(content.data)
        self.gone = False  # removed or replaced, or the machine it was open on has crashed
        self._disk, self._content = disk, content

    def append(self, data: Buffer) -> None:
        self._check()
        self._disk.burn()
        self._disk.take_room(len(data), self.path)
        self._content.data += data
        self.size += len(data)

    def read(self, position: int, length: int) -> bytes:
        self._check()
        return bytes(memoryview(self._content.data)[position : position + length])

    def truncate(self, size: int) -> None:
        self._check()
        self._disk.burn()
        if size < self.size:
            self._disk.used -= self.size - size
            self._content.truncate(size)
            self.size = size

    def sync(self, upto: int | None = None) -> None:
        self._check()
        self._disk.burn()
        self._disk.check_sync(self.path)
        self._content.sync(upto)

    def close(self) -> None:
        """There is nothing to give back."""

    def _check(self) -> None:
        if self.gone:
            raise FileNotFoundError(errno.ENOENT, "removed", self.path)


class MemoryDisk:
    """Files and directories in memory; see above for its faults."""

    def __init__(self) -> None:
        self.used = 0
        self.fuse: int | None = None
        self.changes = 0  # by anybody: as long as there are no more, every file is as it was
        self.syncs_fail = False
        self._capacity, self._has_inodes = _PLENTY, True
        self._names = Names()
        self._files: dict[str, MemoryFile] = {}

    # ── a disk like any other ────────────────────────────────────────────────────────

    def open(self, path: str) -> MemoryFile:
        file = self._files.get(path)
        if file is None:
            node = self._names.find(path)
            if isinstance(node, Directory):
                raise IsADirectoryError(errno.EISDIR, "a directory", path)
            if node is None:
                self.burn()
                self._take_inode(path)
                node = Content()
                self._names.link(path, node)
            file = self._files[path] = MemoryFile(self, path, node)
        return file

    def exists(self, path: str) -> bool:
        return self._names.find(path) is not None

    def names(self, directory: str) -> dict[str, int]:
        node = self._names.find(directory)
        if isinstance(node, Content):
            raise NotADirectoryError(errno.ENOTDIR, "a file", directory)
        return node.listing() if node else {}

    def make_directory(self, path: str) -> None:
        self.burn()
        self._take_inode(path)
        self._names.make_directory(path)

    def sync_directory(self, path: str) -> None:
        self.burn()
        self.check_sync(path)
        self._names.settle(path)

    def sync_all(self, files: Iterable[File], directories: Iterable[str]) -> dict[str, OSError]:
        failed: dict[str, OSError] = {}
        syncs: dict[str, Callable[[], None]] = {file.path: file.sync for file in files}
        syncs |= {path: partial(self.sync_directory, path) for path in directories}
        for path, sync in syncs.items():
            try:
                sync()
            except OSError as error:
                failed[path] = error
        return failed

    def read_file(self, path: str) -> bytes:
        node = self._names.find(path)
        if isinstance(node, Directory):
            raise IsADirectoryError(errno.EISDIR, "a directory", path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return bytes(node.data)

    def write_file(self, path: str, data: bytes) -> None:
        self.burn()
        self.check_sync(path)
        self._take_inode(path)
        content = Content(bytearray(data))
        content.sync()
        self.take_room(len(data), path)
        try:
            replaced = self._names.link(path, content)
        except OSError:
            self.used -= len(data)
            raise
        self._forget(path, replaced)
        self._names.settle(path.rpartition("/")[0])

    def rename(self, old: str, new: str) -> None:
        self.burn()
        self._forget(new, self._names.rename(old, new))
        for path in [path for path in self._files if path == old or path.startswith(old + "/")]:
            file = self._files.pop(path)
            file.path = new + path[len(old) :]
            self._files[file.path] = file

    def remove(self, path: str) -> None:
        self.burn()
        for removed, content in self._names.remove(path):
            self._forget(removed, content)

    def usage(self, path: str) -> tuple[int, int]:
        return self._capacity, self._capacity - self.used

    # ── what the world does to it ────────────────────────────────────────────────────

    def begin_sync(self, files: Iterable[MemoryFile]) -> list[tuple[MemoryFile, int]]:
        """A Flush is asked for: what `end_sync` must bring to the disk, and not a byte more."""
        return [(file, file.size) for file in files]

    def end_sync(self, begun: Iterable[tuple[MemoryFile, int]]) -> None:
        """The Flush is done: what those files held when it began survives a crash."""
        for file, size in begun:
            if not file.gone:
                file.sync(size)

    def crash(self, rng: random.Random) -> None:
        """The power goes, and comes back: what was not synced is left to chance."""
        self.fuse = None
        self.changes += 1
        for file in self._files.values():
            file.gone = True
        self._files.clear()
        self._names.crash(rng)
        self.used = sum(len(content.data) for _, content in self._names.walk(""))

    def fill_up(self, room: int = 0) -> None:
        """From now on only `room` more bytes fit."""
        self._capacity = self.used + room

    def use_up_inodes(self) -> None:
        """From now on no more files fit, however small."""
        self._has_inodes = False

    @property
    def is_bad(self) -> bool:
        """Whether it may refuse to take or to sync something."""
        return self.syncs_fail or self._capacity != _PLENTY or not self._has_inodes

    def free_up(self) -> None:
        """There is plenty of room again."""
        self._capacity, self._has_inodes = _PLENTY, True

    def corrupt(self, rng: random.Random, path: str, within: range | None = None) -> int:
        """Turn over one bit of a file, or of the bytes `within`; returns the byte's position."""
        node = self._names.find(path)
        assert isinstance(node, Content) and node.data, f"{path} has no bits to turn over"
        self.changes += 1
        position = rng.choice(within or range(len(node.data)))
        node.data[position] ^= 1 << rng.randrange(8)
        return position

    def fail_syncs(self, failing: bool = True) -> None:
        """From now on nothing can be brought to the disk; or it can again."""
        self.syncs_fail = failing

    def burn(self) -> None:
        """One change more; the last one if the fuse is at its end."""
        self.changes += 1
        if self.fuse is not None:
            if self.fuse <= 0:
                raise Killed
            self.fuse -= 1

    def check_sync(self, path: str) -> None:
        """Refuse to sync where syncs fail."""
        if self.syncs_fail:
            raise OSError(errno.EIO, "cannot be written", path)

    def take_room(self, count: int, path: str) -> None:
        """Account for `count` bytes more, or refuse them all."""
        if self.used + count > self._capacity:
            raise OSError(errno.ENOSPC, "no space left on device", path)
        self.used += count

    def _take_inode(self, path: str) -> None:
        """Refuse to make a file where none fits any more."""
        if not self._has_inodes:
            raise OSError(errno.ENOSPC, "no space left on device", path)

    def _forget(self, path: str, content: Content | None) -> None:
        """The file of this name, with this content, is removed or replaced."""
        if content is not None:
            self.used -= len(content.data)
        file = self._files.pop(path, None)
        if file is not None:
            file.gone = True
