"""How a slice of a file gets to a socket: by sendfile(2) while it is large, else copied along with its neighbours.

    small    [ bytes │ slice │ bytes │ slice … ]                       gathered in one buffer (preadv), one send
    large    [ bytes ─▶ a piece by sendfile │ a piece by sendfile … ]  as long as more than a piece is left
             [ the last of it │ bytes … ]                              gathered, one send

A carrier sends a piece from the front of a queue and returns how much of it the socket took. What was gathered and the
socket did not take is gathered again next time. The bytes before a large slice are in one packet with its beginning
(MSG_MORE), and the end of it in one send with the bytes after it: nothing small leaves alone.

CPU-seconds of a node for a GB, batches of 16 KB, one connection and four (Linux 6.18, 2 cores that others wanted too;
the least of three or four rounds that took turns):

    a fetch    loopback: copied, by sendfile    veth pair, two namespaces: copied, by sendfile
    64 KB      1.70 1.33   2.04 1.53            1.64 1.31   2.11 1.61
    256 KB     0.61 0.50   0.90 0.68            0.60 0.57   0.74 0.61
    512 KB     0.52 0.40   0.52 0.45            0.52 0.39   0.52 0.43
    1 MB       0.41 0.33   0.38 0.30            0.47 0.37   0.43 0.34

Without a network card the client pays: taking in what left by sendfile costs it twice as much (decision 25). Pieces of
512 KB or 1 MB gave nothing that showed, neither to fetches nor to small produces beside them.

Only a plain socket is sent files: what makes other bytes of them (ssl.SSLSocket) is copied to, and so is what a system
without sendfile, or a file system that refuses it, has to send.

Both ways read when they send. Pages that are not in the page cache are waited for in the loop, either way. And what is
sent is what the file has then: should a log be truncated and written to again meanwhile, an answer has the old bytes
first and new ones after them, and its length is right; checksums of batches tell. By sendfile that goes on until
the client has them, since a socket holds the pages themselves and no copy.

A slice promised its length in its frame's size. If its file has become shorter meanwhile (truncated, removed) the
promise can't be kept, and the connection is of no more use: `SliceLost`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from typing import Any

from andiron.edge.metrics.meter import SampledTimes
from andiron.log.disk import FileSlice
from andiron.model.errors import AndironError

PIECE = 256 * 1024
SENDFILE_MIN = 2 * PIECE  # bytes of a slice; more than a piece
NO_SENDFILE = 1 << 62  # a threshold at which everything is copied

_MORE: int = getattr(socket, "MSG_MORE", 0)  # the rest of the packet follows in another call


class SliceLost(AndironError):
    """A slice that was promised is no longer in its file."""


class Rest(FileSlice):
    """What is left of a slice that has begun to leave."""

    __slots__ = ()


class Carrier:
    """Takes parts to sockets that do not block; all connections of a host share its buffer."""

    def __init__(self, times: SampledTimes | None = None, sendfile_min: int = SENDFILE_MIN) -> None:
        """`times` is told how long reads take."""
        self._buffer = memoryview(bytearray(PIECE))
        self._times = times or SampledTimes()
        self._sendfile_min = sendfile_min if hasattr(os, "sendfile") else NO_SENDFILE
        self.sendfile_bytes = 0  # sent without a copy

    def carry(self, link: socket.socket, parts: Collection[Any]) -> tuple[int, bool]:
        """Send a piece from the front of `parts`; how many bytes the socket took, and if that was all of it."""
        filled = 0
        for part in parts:
            length = len(part)
            if length > PIECE and self._goes_by_sendfile(link, part):
                return self._send_large(link, filled, part)
            length = min(length, PIECE - filled)
            self._copy(part, self._buffer[filled : filled + length])
            filled += length
            if filled == PIECE:
                break
        count = self._send(link, filled)
        return count, count == filled

    def _goes_by_sendfile(self, link: socket.socket, part: Any) -> bool:
        if type(link) is not socket.socket:
            return False
        if type(part) is Rest:
            return self._sendfile_min < NO_SENDFILE
        return type(part) is FileSlice and len(part) >= self._sendfile_min

    def _send_large(self, link: socket.socket, filled: int, part: FileSlice) -> tuple[int, bool]:
        """Send what was gathered, and a piece of the slice after it."""
        if filled and (count := self._send(link, filled, _MORE)) < filled:
            return count, False
        count = self._sendfile(link, part)
        return filled + count, count == PIECE

    def _send(self, link: socket.socket, filled: int, flags: int = 0) -> int:
        """Send what was gathered."""
        try:
            return link.send(self._buffer[:filled], flags)
        except BlockingIOError:
            return 0

    def _sendfile(self, link: socket.socket, part: FileSlice) -> int:
        """Send a piece from the front of a slice.

        What the system does not send this way is copied, which also tells why: a file that cannot be read is another
        thing than a client who is gone.
        """
        times = self._times
        times.left -= 1
        began = 0.0 if times.left else times.begins()
        try:
            count = os.sendfile(link.fileno(), descriptor(part), part.position, PIECE)
        except BlockingIOError:
            return 0
        except OSError:
            self._copy(part, self._buffer)
            return self._send(link, PIECE)
        if began:
            times.ends(began)
        if not count:
            raise lost(part)
        self.sendfile_bytes += count
        return count

    def _copy(self, part: Any, room: memoryview) -> None:
        """Fill `room` from the front of a part."""
        if isinstance(part, FileSlice):
            self._read(part, room)
        elif len(room) == len(part):
            room[:] = part
        else:
            room[:] = memoryview(part)[: len(room)]

    def _read(self, part: FileSlice, room: memoryview) -> None:
        times = self._times
        times.left -= 1
        began = 0.0 if times.left else times.begins()
        try:
            count = os.preadv(descriptor(part), [room], part.position)
        except OSError as error:
            raise SliceLost(f"{part.file.path}: {error.strerror}") from error
        if began:
            times.ends(began)
        if count != len(room):
            raise lost(part)


def descriptor(part: FileSlice) -> int:
    """Good until the next call on the disk; the sockets of a host are served in between."""
    file: Any = part.file  # an edge/disk.py File: the only kind that reaches a socket
    try:
        return int(file.fd())
    except OSError as error:
        raise SliceLost(f"{part.file.path}: {error.strerror}") from error


def lost(part: FileSlice) -> SliceLost:
    return SliceLost(f"{part.file.path} has no {part.length} bytes at {part.position} any more")
