"""Names of a disk in memory, and the journal that says which of them a crash may undo.

    journal   make t-0 · link t-0/0.log │ link t-0/0.index · rename 0.cleaned → 0.swap · …
                         settled ◀──────┘                   a crash undoes from the right

Every change of a name is one entry, done or undone whole: a rename never leaves a file
with two names or none. Removing a directory is as many entries as it had files.

Read next: disk.py, the Disk made of this.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator


class Content:
    """The bytes of a file: those synced, and those that only the page cache holds."""

    __slots__ = ("_cut", "_synced", "data")

    def __init__(self, data: bytearray | None = None) -> None:
        self.data = bytearray() if data is None else data
        self._synced = 0  # so many bytes at the front are on the disk
        self._cut = b""  # were there as well, until a truncation that is not synced yet

    def sync(self, upto: int | None = None) -> None:
        """Everything is on the disk now, or the first `upto` bytes, if so many are still there."""
        size = len(self.data)
        self._synced, self._cut = size if upto is None else max(self._synced, min(upto, size)), b""

    def truncate(self, size: int) -> None:
        if size < self._synced:
            self._cut = bytes(self.data[size : self._synced]) + self._cut
            self._synced = size
        del self.data[size:]

    def crash(self, rng: random.Random) -> None:
        """Decide what of the unsynced bytes is left."""
        lost = self.data[self._synced :]
        del self.data[self._synced :]
        if self._cut and rng.random() < 0.5:
            self.data += self._cut
        elif lost:
            self.data += _torn(lost, rng)
        self.sync()


def _torn(data: bytearray, rng: random.Random) -> bytes | bytearray:
    """What a crash leaves of bytes on their way to the disk."""
    kept = rng.randint(0, len(data))
    missed = rng.randint(0, len(data) - kept)
    match rng.randrange(5):
        case 0:
            return data[:kept] + bytes(missed)  # the size made it, the bytes did not
        case 1:
            return data[:kept] + rng.randbytes(missed)  # the size made it; what was there before shows
        case 2:
            return data[:kept] + bytes(missed) + data[kept + missed :]  # a block in the middle did not
        case _:
            return data[:kept]


class Directory:
    """Names and what they stand for."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[str, Directory | Content] = {}

    def listing(self) -> dict[str, int]:
        found = {
            name + "/" if isinstance(node, Directory) else name: 0
            if isinstance(node, Directory)
            else len(node.data)
            for name, node in self.entries.items()
        }
        return dict(sorted(found.items()))


Node = Directory | Content
Change = tuple[tuple[Directory, str, Node | None], ...]  # what each name stood for before


class Names:
    """The tree of directories, and its journal."""

    def __init__(self) -> None:
        self._root = Directory()
        self._journal: list[Change] = []  # not settled yet, oldest first

    def find(self, path: str) -> Node | None:
        node: Node | None = self._root
        for name in _parts(path):
            if not isinstance(node, Directory):
                return None
            node = node.entries.get(name)
        return node

    def walk(self, path: str) -> Iterator[tuple[str, Content]]:
        """Every file at or below `path`, in the order of the names."""
        node = self.find(path)
        if isinstance(node, Content):
            yield path, node
        elif node:
            for name in sorted(node.entries):
                yield from self.walk(f"{path}/{name}")

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents."""
        node = self._root
        for name in _parts(path):
            inner = node.entries.get(name)
            if inner is None:
                inner = Directory()
                self._change((node, name, inner))
            if isinstance(inner, Content):
                raise FileExistsError(errno.EEXIST, "a file", path)
            node = inner

    def link(self, path: str, content: Content) -> Content | None:
        """Let a name stand for `content`; returns what it stood for."""
        parent, name = self._place(path)
        before = parent.entries.get(name)
        if isinstance(before, Directory):
            raise IsADirectoryError(errno.EISDIR, "a directory", path)
        self._change((parent, name, content))
        return before

    def rename(self, old: str, new: str) -> Content | None:
        """Move a name; returns the content of the file it replaced."""
        source, old_name = self._place(old)
        target, new_name = self._place(new)
        node, before = source.entries.get(old_name), target.entries.get(new_name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file or directory", old)
        if isinstance(before, Directory) and isinstance(node, Content):
            raise IsADirectoryError(errno.EISDIR, "a directory", new)
        if isinstance(before, Directory) and before.entries:
            raise OSError(errno.ENOTEMPTY, "directory not empty", new)
        if isinstance(before, Content) and isinstance(node, Directory):
            raise NotADirectoryError(errno.ENOTDIR, "a file", new)
        self._change((source, old_name, None), (target, new_name, node))
        return before if isinstance(before, Content) else None

    def remove(self, path: str) -> list[tuple[str, Content]]:
        """Remove a file or a directory with all that is in it; returns the files."""
        node = self.find(path)
        if node is None:
            return []
        removed = [(path, node)] if isinstance(node, Content) else []
        if isinstance(node, Directory):
            for name in sorted(node.entries):
                removed += self.remove(f"{path}/{name}")
        parent, name = self._place(path)
        self._change((parent, name, None))
        return removed

    def settle(self, path: str) -> None:
        """Nothing that has been changed in this directory, or before that, will be undone."""
        directory = self.find(path)
        if not isinstance(directory, Directory):
            raise FileNotFoundError(errno.ENOENT, "no such directory", path)
        for index in range(len(self._journal) - 1, -1, -1):
            if any(changed is directory for changed, _, _ in self._journal[index]):
                del self._journal[: index + 1]
                return

    def crash(self, rng: random.Random) -> None:
        """Undo some of the last changes; tear what was being written."""
        for change in reversed(self._journal[rng.randint(0, len(self._journal)) :]):
            for directory, name, before in reversed(change):
                _set(directory, name, before)
        self._journal.clear()
        for _, content in self.walk(""):
            content.crash(rng)

    def _place(self, path: str) -> tuple[Directory, str]:
        """The directory that holds, or would hold, this name."""
        above, _, name = path.rpartition("/")
        parent = self.find(above)
        if isinstance(parent, Content):
            raise NotADirectoryError(errno.ENOTDIR, "a file", above)
        if parent is None:
            raise FileNotFoundError(errno.ENOENT, "no such directory", path)
        return parent, name

    def _change(self, *links: tuple[Directory, str, Node | None]) -> None:
        self._journal.append(
            tuple((directory, name, directory.entries.get(name)) for directory, name, _ in links)
        )
        for directory, name, node in links:
            _set(directory, name, node)


def _set(directory: Directory, name: str, node: Node | None) -> None:
    if node is None:
        directory.entries.pop(name, None)
    else:
        directory.entries[name] = node


def _parts(path: str) -> list[str]:
    return [name for name in path.split("/") if name]
