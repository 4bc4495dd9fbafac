"""Disk on POSIX: one descriptor a file, few of them open, nothing slow on the way.

    append   one pwrite(2) at the end; what does not fit is cut off again
    read     one pread(2)
    remove   the names go at once, the blocks are given back by a thread

A node may hold tens of thousands of files and is allowed fewer descriptors. Files are
opened when first used, and beyond the limit the ones not used of late are closed: a
clock hand goes round, takes away the mark that each use but the first leaves, and closes
what it finds unmarked. So a use costs one store, and only an opening pays for the search.

The law easy to break: a descriptor is good until the next call on its disk, since that
call may close it. Whoever needs it for longer (flusher.py) takes a duplicate.

Read next: reaper.py, then flusher.py.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from andiron.edge.metrics.meter import DiskTimes
from andiron.edge.reaper import Reaper
from andiron.log.disk import Buffer, File
from andiron.model.errors import AndironError

# Records are their owner's business, and that of a group that makes backups; umask can take away more. What is there
# already keeps the mode that somebody gave it.
DIRECTORY_MODE, FILE_MODE = 0o750, 0o640

SYNCS_AT_A_TIME = 16  # more of them gain nothing

_PLENTY = 1 << 17  # descriptors, where the system sets no limit

# Brings data and size to the disk and spares the inode's times, where the system can.
sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class PosixFile:
    """One file; its descriptor comes and goes."""

    __slots__ = ("_disk", "_fd", "gone", "path", "size", "used")

    def __init__(self, disk: PosixDisk, path: str, size: int) -> None:
        self.path, self.size = path, size
        self.used = False  # since the clock hand last passed
        self.gone = False  # removed or replaced: there is nothing left to read or to sync
        self._disk, self._fd = disk, -1

    def append(self, data: Buffer) -> None:
        fd = self._fd
        if fd < 0:
            fd = self.fd()
        else:
            self.used = True
        times = self._disk.times.writes
        times.left -= 1
        began = 0.0 if times.left else times.begins()
        try:
            written = os.pwrite(fd, data, self.size)
            if written != len(data):
                written += self._append_rest(fd, memoryview(data).cast("B")[written:], self.size + written)
        except OSError:
            self._cut_back(fd)
            raise
        self.size += written
        if began:
            times.ends(began)

    def read(self, position: int, length: int) -> bytes:
        fd = self._fd
        if fd < 0:
            fd = self.fd()
        else:
            self.used = True
        left = self.size - position
        if length > left:
            length = max(left, 0)
        times = self._disk.times.reads
        times.left -= 1
        began = 0.0 if times.left else times.begins()
        data = os.pread(fd, length, position)
        if began:
            times.ends(began)
        if len(data) == length:
            return data
        return data + self._read_rest(fd, position + len(data), length - len(data))

    def truncate(self, size: int) -> None:
        if size < self.size:
            os.ftruncate(self.fd(), size)
            self.size = size

    def sync(self) -> None:
        sync_data(self.fd())

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            self._disk.note_closed(self)
            os.close(fd)

    def fd(self) -> int:
        """A descriptor for preadv and sendfile; see the law above."""
        if self._fd >= 0:
            self.used = True
        elif self.gone:
            raise FileNotFoundError(errno.ENOENT, "removed", self.path)
        else:
            self._fd = self._disk.descriptor(self)
        return self._fd

    def _append_rest(self, fd: int, rest: memoryview, position: int) -> int:
        """A write may take less than all, most often the last one before the disk is full."""
        written = 0
        while written < len(rest):
            written += os.pwrite(fd, rest[written:], position + written)
        return written

    def _read_rest(self, fd: int, position: int, length: int) -> bytes:
        """A read gives less than asked for beyond the kernel's limit of 2 GiB a call."""
        parts = []
        while length > 0 and (data := os.pread(fd, length, position)):
            parts.append(data)
            position += len(data)
            length -= len(data)
        return b"".join(parts)

    def _cut_back(self, fd: int) -> None:
        """Undo half an append. Should even that fail, the next append writes over it."""
        try:
            os.ftruncate(fd, self.size)
        except OSError:
            return


class PosixDisk:
    """Files and directories of this machine; paths are taken as they are."""

    file_type: type[PosixFile] = PosixFile

    def __init__(self, descriptors: int | None = None) -> None:
        """Keep at most `descriptors` files open; half of what the process may have unless told."""
        self._descriptors = descriptors or _descriptors_allowed() // 2
        self._files: dict[str, dict[str, PosixFile]] = {}  # directory → name → file
        self._open: OrderedDict[PosixFile, None] = OrderedDict()  # the clock: its hand is at the first
        self._locks: dict[str, int] = {}
        self._reaper = Reaper()
        self.times = DiskTimes()

    def open(self, path: str) -> PosixFile:
        directory, name = os.path.split(path)
        files = self._files.setdefault(directory, {})
        file = files.get(name)
        if file is None:
            file = files[name] = self.file_type(self, path, self._size_or_make(path))
        return file

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def names(self, directory: str) -> dict[str, int]:
        try:
            with os.scandir(directory or ".") as entries:
                return dict(sorted(filter(None, map(_name_and_size, entries))))
        except FileNotFoundError:
            return {}

    def make_directory(self, path: str) -> None:
        os.makedirs(path, DIRECTORY_MODE, exist_ok=True)

    def sync_directory(self, path: str) -> None:
        fd = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_all(self, files: Iterable[File], directories: Iterable[str]) -> dict[str, OSError]:
        """What a sync waits for, the journal and the disk's own cache, many that wait together wait for once."""
        failed: dict[str, OSError] = {}
        room = threading.Semaphore(SYNCS_AT_A_TIME)

        def sync(path: str, fd: int, bring: Callable[[int], None]) -> None:
            try:
                bring(fd)
            except OSError as error:
                failed[path] = error
            finally:
                os.close(fd)
                room.release()

        with ThreadPoolExecutor(SYNCS_AT_A_TIME) as pool:
            for file in cast("Iterable[PosixFile]", files):
                room.acquire()
                pool.submit(sync, file.path, os.dup(file.fd()), sync_data)
            for path in directories:
                room.acquire()
                pool.submit(sync, path, os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY), os.fsync)
        return failed

    def read_file(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def write_file(self, path: str, data: bytes) -> None:
        draft = path + ".tmp"
        try:
            with open(draft, "wb", buffering=0, opener=private) as file:
                if file.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
                os.fsync(file.fileno())
            os.replace(draft, path)
        except OSError:
            self._reaper.remove(draft)
            raise
        self._forget(path)
        self.sync_directory(os.path.dirname(path))

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)
        self._forget(new)
        if os.path.isdir(new):
            self._follow_directory(old, new)
            return
        directory, name = os.path.split(old)
        file = self._files.get(directory, {}).pop(name, None)
        if file is not None:
            file.path = new
            directory, name = os.path.split(new)
            self._files.setdefault(directory, {})[name] = file

    def remove(self, path: str) -> None:
        self._forget(path)
        self._forget_directory(path)
        self._reaper.remove(path)

    def usage(self, path: str) -> tuple[int, int]:
        room = os.statvfs(path)
        return room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize

    def lock(self, directory: str) -> None:
        """Keep every other process out of a directory until this one ends or closes the disk.

        Both kinds of lock, for the system keeps them apart: a Kafka broker takes the second.
        """
        fd = os.open(f"{directory}/.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(fd)
            raise AndironError(
                f"{directory} is in use by another process; stop that one, or choose another folder"
            ) from None
        self._locks[directory] = fd

    def close_all(self) -> None:
        """Give back every descriptor and lock, and wait until what was removed is gone."""
        for file in list(self._open):
            file.close()
        for fd in self._locks.values():
            os.close(fd)
        self._locks.clear()
        self._reaper.finish()

    def descriptor(self, file: PosixFile) -> int:
        """Open `file`, closing others where there are too many."""
        while len(self._open) >= self._descriptors:
            first = next(iter(self._open))
            if first.used:
                first.used = False
                self._open.move_to_end(first)
            else:
                first.close()
        fd = os.open(file.path, os.O_RDWR | os.O_CLOEXEC)
        self._open[file] = None
        return fd

    def note_closed(self, file: PosixFile) -> None:
        """`file` has no descriptor any more."""
        del self._open[file]

    def _size_or_make(self, path: str) -> int:
        """A file that exists is not opened yet: at start there may be ten thousand of them."""
        try:
            found = os.stat(path)
        except FileNotFoundError:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
            return 0
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return found.st_size

    def _forget(self, path: str) -> None:
        """The file of this name is removed or replaced."""
        directory, name = os.path.split(path)
        file = self._files.get(directory, {}).pop(name, None)
        if file is not None:
            file.close()
            file.gone = True

    def _forget_directory(self, path: str) -> None:
        for directory in [d for d in self._directories(path) if d in self._files]:
            for file in self._files.pop(directory).values():
                file.close()
                file.gone = True

    def _follow_directory(self, old: str, new: str) -> None:
        for directory in self._directories(new):
            files = self._files.pop(old + directory[len(new) :], None)
            if files:
                self._files[directory] = files
                for name, file in files.items():
                    file.path = f"{directory}/{name}"

    def _directories(self, path: str) -> list[str]:
        """`path` and the directories below it, as they are on the disk."""
        found = [path] if os.path.isdir(path) and not os.path.islink(path) else []
        for directory in found:
            with os.scandir(directory) as entries:
                found += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        return found


def private(path: str, flags: int) -> int:
    """Open a file, for `open` to use; a new one is not for everybody to read."""
    return os.open(path, flags, FILE_MODE)


def _descriptors_allowed() -> int:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _PLENTY if allowed == resource.RLIM_INFINITY else max(allowed, 32)


def _name_and_size(entry: os.DirEntry[str]) -> tuple[str, int] | None:
    if entry.is_dir():
        return entry.name + "/", 0
    try:
        return entry.name, entry.stat().st_size
    except FileNotFoundError:
        return None  # another process removed it meanwhile
