"""The few small files that a voter writes as a whole, in memory; they survive it."""

from __future__ import annotations


class SmallFiles(dict[str, bytes]):
    """Paths to what is in them."""

    def exists(self, path: str) -> bool:
        return path in self

    def read_file(self, path: str) -> bytes:
        return self[path]

    def write_file(self, path: str, data: bytes) -> None:
        self[path] = data
