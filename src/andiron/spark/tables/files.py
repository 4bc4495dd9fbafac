"""A place for files: a local path, a file: URI, or whatever else pyarrow has a file system for (hdfs:, s3:, gs:).

Driver and executors must mean the same place by a name. So a path without a scheme is made absolute and handed to
Spark as a file: URI: left as it is, Spark would look for it in the cluster's default file system.

Read next: checkpoint.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pyarrow import fs

ATOMIC_RENAME = ("file", "hdfs", "viewfs")
_LOCAL = "file"


class FileEntry(NamedTuple):
    """A file or a directory, by its name below the root."""

    name: str
    is_directory: bool
    size: int


class Files:
    """The files below `location`; names are relative to it, with "/" between their parts."""

    def __init__(self, location: str) -> None:
        scheme, colon, rest = location.partition(":")
        is_path = not colon or "/" in scheme
        self.scheme = _LOCAL if is_path else scheme
        if self.scheme == _LOCAL:
            self.root = os.path.abspath(os.path.expanduser(location) if is_path else "/" + rest.lstrip("/"))
            self.uri = f"file://{self.root}"
            self._fs: Any = fs.LocalFileSystem()
        else:
            self._fs, self.root = fs.FileSystem.from_uri(location)
            self.uri = location.rstrip("/")

    def __str__(self) -> str:
        return self.root if self.scheme == _LOCAL else self.uri

    @property
    def renames_at_once(self) -> bool:
        """Whether a directory appears under its new name whole or not at all."""
        return self.scheme in ATOMIC_RENAME

    def path(self, name: str = "") -> str:
        """The path of a file, for the file system."""
        return f"{self.root}/{name}" if name else self.root

    def exists(self, name: str = "") -> bool:
        """Whether there is anything of this name."""
        return bool(self._fs.get_file_info(self.path(name)).type != fs.FileType.NotFound)

    def read(self, name: str) -> str | None:
        """A file's text; None if there is none."""
        try:
            with self._fs.open_input_stream(self.path(name), compression=None) as file:
                return bytes(file.read()).decode()
        except FileNotFoundError:
            return None

    def write(self, name: str, text: str) -> None:
        """Make a file; its directory is there."""
        with self._fs.open_output_stream(self.path(name), compression=None) as file:
            file.write(text.encode())

    def list(self, name: str = "") -> Iterator[FileEntry]:
        """What is in a directory, by name; nothing if there is no such directory."""
        selector = fs.FileSelector(self.path(name), allow_not_found=True)
        for each in sorted(self._fs.get_file_info(selector), key=lambda info: info.path):
            inside = f"{name}/{each.base_name}" if name else each.base_name
            yield FileEntry(inside, each.type == fs.FileType.Directory, each.size or 0)

    def make_directory(self, name: str = "") -> None:
        """Make a directory, with those around it."""
        self._fs.create_dir(self.path(name), recursive=True)

    def move(self, name: str, to: str) -> None:
        """Give a directory another name; fails if there is something of that name."""
        if self.exists(to):
            raise FileExistsError(f"{self.path(to)} is there already")
        self._fs.move(self.path(name), self.path(to))
        self._sync_directories([to])

    def delete(self, name: str) -> None:
        """Remove a file, or a directory with all that is in it; nothing if it is not there."""
        info = self._fs.get_file_info(self.path(name))
        if info.type == fs.FileType.Directory:
            self._fs.delete_dir(self.path(name))
        elif info.type != fs.FileType.NotFound:
            self._fs.delete_file(self.path(name))

    def sync(self, names: Iterable[str]) -> None:
        """Have files on disk, not only in memory, where that is ours to say: elsewhere closing them does it."""
        if self.scheme == _LOCAL:
            names = list(names)
            for name in names:
                _sync(self.path(name))
            self._sync_directories(names)

    def _sync_directories(self, names: Iterable[str]) -> None:
        if self.scheme == _LOCAL:
            for directory in {os.path.dirname(self.path(name)) for name in names}:
                _sync(directory)

    @property
    def filesystem(self) -> Any:
        """pyarrow's file system."""
        return self._fs


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
