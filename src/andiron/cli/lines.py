"""Lines from a file, a pipe or a keyboard, in chunks, without waiting for more than there is.

    b"one\\ntwo\\nthr" ──▶ [one, two]    then a pause ──▶ []    then b"ee\\n" ──▶ [three]

A chunk is what had arrived. An empty one says that nothing more has for a moment: the time to send what
was gathered, so that a line typed by hand is written at once, while a large file goes out in full
batches.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator

from andiron.model.errors import AndironError

CHUNK_BYTES = 1 << 18
LINE_BYTES_MAX = 1 << 27  # no broker takes a record of this size; a file without newlines is not lines


class LineError(AndironError):
    """A line that is no record."""


def read_lines(descriptor: int, pause_s: float) -> Iterator[list[bytes]]:
    """Chunks of lines without their newlines; the last line may lack one."""
    begun: list[bytes] = []  # of a line whose end has not come yet
    size = 0
    while data := os.read(descriptor, CHUNK_BYTES):
        first, newline, rest = data.partition(b"\n")
        begun.append(first)
        size += len(first)
        if size > LINE_BYTES_MAX:
            raise LineError(f"a line of more than {LINE_BYTES_MAX} bytes; is the input text?")
        if newline:
            lines = rest.split(b"\n")
            last = lines.pop()
            yield [b"".join(begun), *lines]
            begun, size = [last], len(last)
        if not select.select([descriptor], [], [], pause_s)[0]:
            yield []
    if size:
        yield [b"".join(begun)]
