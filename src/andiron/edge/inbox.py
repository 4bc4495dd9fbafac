"""Frames out of a byte stream, received once and never copied again.

    ┌ size │ frame ┐┌ size │ frame ┐┌ size │ fra…          free
    └──────┴───────┘└──────┴───────┘└──────┴────┴────────────────────┘
                                    start       end            capacity

One buffer a connection, kept as long as the connection is busy: the kernel writes into
it, the node reads its frames in place (and stamps offsets into them in place), and the
log writes them to the file from there. Bytes move only when a frame that has begun would
not fit behind its beginning.

The buffer starts small, since thousands of connections send small frames, and grows with
what has really arrived: a client that claims a frame of 100 MB and sends nothing gets no
memory for it. A connection that fills its buffer has more to say than fits, and gets a
larger one, so that a stream of frames takes one receive, one turn and one send for many of
them; beyond BUSY it ends up just larger than the frame, so that in a stream of large frames
little of the next one is received with one, and little has to move. A buffer larger than BUSY
takes room that all connections share (room.py), as much as the frame needs, before it grows.

Two laws easy to break. Buffers are replaced, never resized: views of them may be alive.
And nothing may be received while a whole frame is still in here, for there may be no room
left, and a receive into no room looks like the end of the stream.

Read next: connection.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from andiron.edge.room import Room
from andiron.model.errors import AndironError

SMALL = 16 * 1024
BUSY = 256 * 1024  # what a connection that never stops sending may use without having large frames
_SLACK = 4 * 1024  # beyond a large frame: room for the beginning of the next
_GROWTH = 4  # times, at most, while a frame arrives

_size_at = struct.Struct(">I").unpack_from  # a negative size reads as one beyond every limit


class BadSize(AndironError):
    """A frame's size is negative or more than socket.request.max.bytes."""


class NoRoom(AndironError):
    """A large frame has begun, and others have taken the room that there is for such."""


class Inbox:
    """What a connection has received and nobody has taken yet."""

    __slots__ = (
        "_buffer",
        "_end",
        "_frame_bytes_max",
        "_is_busy",
        "_largest",
        "_room",
        "_start",
        "_view",
        "granted",
    )

    def __init__(self, frame_bytes_max: int, room: Room | None = None) -> None:
        self._frame_bytes_max, self._room = frame_bytes_max, room
        self.granted = 0  # bytes of the shared room
        self._start = self._end = 0
        self._largest = 0  # frame that was waited for since the last `rest`
        self._is_busy = False  # a receive filled the buffer since the last `rest`
        self._take_buffer(SMALL)

    @property
    def capacity(self) -> int:
        return len(self._buffer)

    def receive(self, recv_into: Callable[[memoryview], int]) -> int:
        """One receive into what is free; how many bytes came, 0 at the end of the stream. Raises NoRoom."""
        if self._start == self._end:
            self._start = 0
            self._end = count = recv_into(self._view)
        else:
            self._make_room()
            count = recv_into(self._view[self._end :])
            self._end += count
        if self._end == len(self._buffer) < BUSY and count * 2 >= self._end:
            self._grow()  # most of it in one receive: there is more where that came from
        return count

    def next_frame(self) -> memoryview | None:
        """The next whole frame without its size, good until the next `receive`; None if there is none."""
        start = self._start
        body = start + 4
        if body > self._end:
            return None
        size: int = _size_at(self._buffer, start)[0]
        if size > self._frame_bytes_max:
            raise BadSize(complaint(size, self._frame_bytes_max))
        stop = body + size
        if stop > self._end:
            return None
        self._start = stop
        return self._view[body:stop]

    def rest(self) -> None:
        """Give back a buffer much larger than what came lately. To be called every few seconds."""
        wanted = max(BUSY if self._is_busy else SMALL, self._largest + _SLACK)
        if self._start == self._end and wanted * 2 <= len(self._buffer):
            self._shrink(wanted)
        self._largest, self._is_busy = 0, False

    def leave_room(self) -> None:
        """Give back what is shared, if no frame has begun."""
        if self.granted and self._start == self._end:
            self._shrink(BUSY)

    def empty(self) -> tuple[bytes, int]:
        """What was received and not taken, and the room that goes with it; both are another's from now on."""
        received, granted = bytes(self._view[self._start : self._end]), self.granted
        self._start = self._end = self.granted = 0
        return received, granted

    def refill(self, received: bytes, granted: int) -> None:
        """Go on with what another has received."""
        self.granted = granted
        if len(received) > len(self._buffer):
            self._take_buffer(len(received) + _SLACK)
        self._start, self._end = 0, len(received)
        self._view[: self._end] = received

    def close(self) -> None:
        """Give back what is shared: nothing will be received any more."""
        self._give_back(0)

    def _shrink(self, capacity: int) -> None:
        self._start = self._end = 0
        self._take_buffer(capacity)
        self._give_back(0 if capacity <= BUSY else min(self.granted, capacity))

    def _give_back(self, kept: int) -> None:
        granted, self.granted = self.granted, kept
        if self._room is not None:
            self._room.give_back(granted - kept)

    def _have_room(self, needed: int) -> None:
        """For a frame of so many bytes in all."""
        missing = needed - self.granted
        if self._room is not None and needed > BUSY and missing > 0:
            if not self._room.take(missing):
                raise NoRoom("no room for a large request")
            self.granted = needed

    def _grow(self) -> None:
        """The buffer was filled: have more room for the next receive."""
        self._is_busy = True
        held = self._view[: self._end]
        self._take_buffer(min(len(self._buffer) * _GROWTH, BUSY))
        self._view[: self._end] = held

    def _make_room(self) -> None:
        """Let the frame that has begun go on in one piece."""
        start, held = self._start, self._end - self._start
        needed = 4 + _size_at(self._buffer, start)[0] if held >= 4 else 4
        self._largest = max(self._largest, needed)
        capacity = len(self._buffer)
        if start + needed <= capacity:
            return
        old = self._view[start : self._end]
        if held == capacity:
            self._have_room(needed)
            self._take_buffer(min(needed + _SLACK, capacity * _GROWTH))
        elif start == 0:
            return
        self._view[:held] = old
        self._start, self._end = 0, held

    def _take_buffer(self, capacity: int) -> None:
        self._buffer = bytearray(capacity)
        self._view = memoryview(self._buffer)


def complaint(size: int, limit: int) -> str:
    """What is wrong with the size of a request."""
    if size >= 1 << 31:
        return f"the size of a request is negative ({size - (1 << 32)})"
    return f"a request of {size} bytes is larger than socket.request.max.bytes ({limit})"
