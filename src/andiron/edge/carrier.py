"""Two ways for a slice of a file to get to a socket: copied along with its neighbours, or by sendfile(2).

    Copying     [ bytes │ pread │ bytes │ pread … ] in one buffer ──▶ one send
    Sendfile    send, sendfile, send, sendfile …

Where client and node share a machine, copying is twice as fast and costs two thirds of the
CPU; a network card that reads from the page cache by itself may turn that round. Hence
the setting, and copying as its default.

Both take at most a piece from the front of a queue and return how much the socket took.
What the copying one has read and the socket does not take is read again next time.

A slice promised its length in its frame's size. If its file has become shorter meanwhile
(truncated, removed) the promise can't be kept, and the connection is of no more use:
`SliceLost`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from typing import Any, Protocol

from andiron.edge.metrics.meter import SampledTimes
from andiron.log.disk import FileSlice
from andiron.model.errors import AndironError

PIECE = 256 * 1024

_MORE: int = getattr(socket, "MSG_MORE", 0)  # the rest of the packet follows in another call


class SliceLost(AndironError):
    """A slice that was promised is no longer in its file."""


class Carrier(Protocol):
    """How parts get to a socket that does not block."""

    def carry(self, link: socket.socket, parts: Collection[Any]) -> int:
        """Send up to PIECE bytes from the front of `parts`; how many the socket took."""


class CopyCarrier:
    """Slices and bytes gathered in one buffer, which all connections of a host share."""

    def __init__(self, times: SampledTimes | None = None) -> None:
        """`times` is told how long reads take."""
        self._piece = memoryview(bytearray(PIECE))
        self._times = times or SampledTimes()

    def carry(self, link: socket.socket, parts: Collection[Any]) -> int:
        filled = self._gather(parts)
        try:
            return link.send(self._piece[:filled])
        except BlockingIOError:
            return 0

    def _gather(self, parts: Collection[Any]) -> int:
        piece, filled = self._piece, 0
        for part in parts:
            stop = min(filled + len(part), PIECE)
            room = piece[filled:stop]
            if type(part) is FileSlice:
                self._read(part, room)
            elif len(room) == len(part):
                room[:] = part
            else:
                room[:] = memoryview(part)[: len(room)]
            filled = stop
            if filled == PIECE:
                break
        return filled

    def _read(self, part: FileSlice, room: memoryview) -> None:
        """Fill `room` from the front of a slice."""
        times = self._times
        times.left -= 1
        began = 0.0 if times.left else times.begins()
        try:
            count = os.preadv(_descriptor(part), [room], part.position)
        except OSError as error:
            raise SliceLost(f"{part.file.path}: {error.strerror}") from error
        if began:
            times.ends(began)
        if count != len(room):
            raise _lost(part)


class SendfileCarrier:
    """Slices go from the page cache to the socket; bytes between them are sent as they are."""

    def carry(self, link: socket.socket, parts: Collection[Any]) -> int:
        total = 0
        for after, part in enumerate(parts, 1 - len(parts)):
            wanted = min(len(part), PIECE - total)
            try:
                count = _send_part(link, part, wanted, _MORE if after < 0 else 0)
            except BlockingIOError:
                count = 0
            total += count
            if count < wanted or total == PIECE:
                break
        return total


def _send_part(link: socket.socket, part: Any, wanted: int, flags: int) -> int:
    if type(part) is not FileSlice:
        return link.send(memoryview(part)[:wanted], flags)
    count = os.sendfile(link.fileno(), _descriptor(part), part.position, wanted) if wanted else 0
    if wanted and not count:
        raise _lost(part)
    return count


def _descriptor(part: FileSlice) -> int:
    """Good until the next call on the disk; the sockets of a host are served in between."""
    file: Any = part.file  # an edge/disk.py File: the only kind that reaches a socket
    try:
        return int(file.fd())
    except OSError as error:
        raise SliceLost(f"{part.file.path}: {error.strerror}") from error


def _lost(part: FileSlice) -> SliceLost:
    return SliceLost(f"{part.file.path} has no {part.length} bytes at {part.position} any more")
