"""What a connection has still to send: bytes, and slices of files that are read when they leave.

    add(parts) ─▶ [ size │ bytes │ FileSlice │ size │ bytes … ] ─▶ send(), at most a piece a turn

All replies of a turn leave in one send. A piece (carrier.py) is the most a turn does for one
connection, so that a reader of 50 MB does not hold up a producer of 50 bytes. What the
socket does not take stays here, slices as slices: a reader who never reads costs no memory.

Read next: carrier.py, then connection.py.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Sequence
from typing import Any

from andiron.edge.carrier import PIECE, Carrier, Rest
from andiron.log.disk import FileSlice
from andiron.model.effects import Part

_pack_size = struct.Struct(">I").pack


class Outbox:
    """Replies in the order in which they leave."""

    __slots__ = ("_carrier", "_has_slices", "_link", "_parts", "backlog")

    def __init__(self, link: socket.socket, carrier: Carrier) -> None:
        self._link, self._carrier = link, carrier
        self._parts: deque[Any] = deque()  # bytes, memoryview, FileSlice
        self._has_slices = False
        self.backlog = 0  # bytes not sent yet

    def add(self, parts: list[Part]) -> None:
        """Take one reply; its size goes before it."""
        size = 0
        for part in parts:
            size += len(part)
            if type(part) is FileSlice:
                self._has_slices = True
        self._parts.append(_pack_size(size))
        self._parts.extend(parts)
        self.backlog += size + 4

    def take_back(self) -> list[Any]:
        """What is not sent yet, for another to send."""
        parts = list(self._parts)
        self._parts.clear()
        self._has_slices, self.backlog = False, 0
        return parts

    def put_back(self, parts: Sequence[Any]) -> None:
        """Go on with what another has not sent."""
        self._parts.extend(parts)
        self._has_slices = any(isinstance(part, FileSlice) for part in parts)
        self.backlog += sum(map(len, parts))

    def send(self) -> bool:
        """Send one piece; False if the socket did not take all of it."""
        if self._has_slices or self.backlog > PIECE:
            return self._send_piece()
        data = b"".join(self._parts)
        try:
            count = self._link.send(data)
        except BlockingIOError:
            count = 0
        self._parts.clear()
        self.backlog -= count
        if not self.backlog:
            return True
        self._parts.append(memoryview(data)[count:])
        return False

    def _send_piece(self) -> bool:
        count, all_taken = self._carrier.carry(self._link, self._parts)
        self.backlog -= count
        self._strike(count)
        return all_taken

    def _strike(self, count: int) -> None:
        """Take `count` bytes off the front."""
        parts = self._parts
        while parts and count >= len(parts[0]):
            count -= len(parts.popleft())
        if count:
            parts[0] = _after(parts[0], count)
        elif not parts:
            self._has_slices = False


def _after(part: Any, count: int) -> Any:
    """A part without its first `count` bytes."""
    if isinstance(part, FileSlice):
        return Rest(part.file, part.position + count, part.length - count)
    return memoryview(part)[count:]
