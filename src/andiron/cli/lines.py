"""Lines from a file, a pipe or a keyboard, in chunks, without waiting for more than there is.

    b"one\\ntwo\\nthr" ──▶ b"one\\ntwo\\n"    then a pause ──▶ b""    then b"ee\\n" ──▶ b"three\\n"

A block is whole lines of what had arrived. An empty one says that nothing more has for a moment: the time to send
what was gathered, so that a line typed by hand is written at once, while a large file goes out in full batches.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator

from andiron.model.errors import AndironError

CHUNK_BYTES = 1 << 20
LINE_BYTES_MAX = 1 << 27  # no broker takes a record of this size; a file without newlines is not lines


class LineError(AndironError):
    """A line that is no record; `before` are the good ones of its block."""

    def __init__(self, message: str, before: int = 0) -> None:
        super().__init__(message)
        self.before = before


def read_blocks(descriptor: int, pause_s: float) -> Iterator[bytes]:
    """Blocks of lines, each with its newline; the last line may lack one."""
    begun: list[bytes] = []  # of a line whose end has not come yet
    size = 0
    while data := os.read(descriptor, CHUNK_BYTES):
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            yield b"".join([*begun, whole, newline])
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > LINE_BYTES_MAX:
            raise LineError(f"a line of more than {LINE_BYTES_MAX} bytes; is the input text?")
        if not select.select([descriptor], [], [], pause_s)[0]:
            yield b""
    if size:
        yield b"".join(begun)
