"""The bytes of a connection by a network thread, which receives, frames and sends beside the node (native/processor.c).

    thread ─▶ request channel ─▶ frames        post ─▶ request channel ─▶ thread, with the turn's flush
           ─▶ notices: the stream has ended, all is sent, room is wanted …

Replies of bytes alone are copied to the thread at once. Slices of files wait for the end of the turn, and then a window
of them is handed over: each large one takes a descriptor of its own, since the log's may be closed by the next call on
its disk, and small ones are read here, which costs no more than that. So a reader who does not read costs some
descriptors and a megabyte.

The laws easy to break. The thread is told what was taken (`taken`), or it will wait for that for ever. And between
`release` and `RELEASED` nothing may be said to it but `close`: replies wait, and leave by the loop.

Read next: request_channel.py, then native/processor.h.
"""

from __future__ import annotations

import os
import socket
import struct
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from andiron.edge import native
from andiron.edge.carrier import PIECE, SliceLost, descriptor, lost
from andiron.edge.inbox import BadSize, complaint
from andiron.edge.loop_transport import Handed
from andiron.edge.transport import StreamEnded
from andiron.log.disk import FileSlice
from andiron.model.effects import Part

if TYPE_CHECKING:
    from andiron.edge._native import Channel
    from andiron.edge.connection import Connection
    from andiron.edge.host import Host

TOLD_BYTES = 64 * 1024  # taken and not told of: less than a thread reads ahead
SMALL_SLICE = 16 * 1024  # is read here; a larger one has a descriptor
WINDOW = 1 << 20  # of slices that a thread has: their bytes, or SMALL_SLICE for a descriptor

_pack_size = struct.Struct(">I").pack


class ProcessorTransport:
    """A seat in the request channel."""

    __slots__ = (
        "_channel",
        "_end",
        "_frame_bytes_max",
        "_granted",
        "_host",
        "_in_window",
        "_is_closed",
        "_is_muted",
        "_is_releasing",
        "_moved",
        "_posted",
        "_room_wanted",
        "_seat",
        "_send_due",
        "_taken",
        "_told",
        "_unsent",
        "_unsent_bytes",
        "frames",
        "owner",
        "thread",
    )

    is_choked = False  # the thread stops receiving by itself

    def __init__(self, host: Host, owner: Connection, channel: Channel, thread: int, handed: Handed) -> None:
        self._host, self.owner, self._channel, self.thread = host, owner, channel, thread
        self._frame_bytes_max = host.settings.socket_request_max_bytes
        self.frames: deque[memoryview] = deque()  # not taken yet
        self._taken = self._told = 0  # bytes of frames
        self._end: BadSize | StreamEnded | None = None  # of the stream, behind the frames
        self._granted, self._room_wanted = handed.granted, 0
        self._unsent: deque[Any] = deque()  # parts that the thread does not have yet
        self._unsent_bytes = 0
        self._posted = 0  # bytes that it has got
        self._in_window = 0
        self._send_due = False  # in the host's list of senders
        self._is_muted = self._is_releasing = self._is_closed = False
        self._moved = 0, 0  # bytes received and sent at the last look
        fd = handed.link.detach()
        try:
            self._seat = channel.adopt(thread, fd, self._frame_bytes_max, handed.granted, handed.received)
        except BaseException:
            os.close(fd)
            raise
        if handed.unsent:
            self._wait(handed.unsent)

    @property
    def id(self) -> int:
        """What the host's log calls it."""
        return self.owner.id

    @property
    def seat(self) -> int:
        return self._seat

    @property
    def backlog(self) -> int:
        if self._is_closed:
            return 0
        return self._posted - self._channel.sent(self._seat) + self._unsent_bytes

    @property
    def has_taken_room(self) -> bool:
        return self._granted > 0

    # ── frames ───────────────────────────────────────────────────────────────────────

    def next_frame(self) -> memoryview | None:
        if self._taken - self._told > TOLD_BYTES and not self._is_closed:
            self._told = self._taken
            self._channel.taken(self._seat, self._taken)
        if self.frames:
            frame = self.frames.popleft()
            self._taken += len(frame) + 4
            return frame
        if self._end is not None:
            raise self._end
        return None

    def mute(self) -> None:
        self._is_muted = True
        self._say(native.MUTE)

    def unmute(self) -> None:
        if self._is_muted:
            self._is_muted = False
            self._say(native.UNMUTE)

    # ── replies ──────────────────────────────────────────────────────────────────────

    def post(self, parts: list[Part]) -> None:
        if not self._unsent and not self._is_releasing:
            for part in parts:
                if isinstance(part, FileSlice):
                    break
            else:
                self._posted += self._channel.put_reply(self._seat, parts)
                return
        self._wait([_pack_size(sum(map(len, parts))), *parts])

    def tell_when_sent(self) -> None:
        self._say(native.TELL_SENT)

    def flush(self) -> None:
        """Hand over a window of what waits."""
        self._send_due = False
        if self._is_closed or self._is_releasing:
            return
        if self._posted == self._channel.sent(self._seat):
            self._in_window = 0
        try:
            while self._unsent and self._in_window < WINDOW:
                self._hand_over(self._unsent.popleft())
        except SliceLost as error:
            self.owner.broke(f"while sending: {error}", usual=False)
            return
        if self._unsent:
            self.tell_when_sent()

    def give_up(self, reason: str) -> None:
        """What is due cannot be sent."""
        self.owner.give_up(reason)

    def _wait(self, parts: Sequence[Any]) -> None:
        self._unsent.extend(parts)
        self._unsent_bytes += sum(map(len, parts))
        if not self._send_due and not self._is_releasing:
            self._send_due = True
            self._host.senders.append(self)

    def _hand_over(self, part: Any) -> None:
        length = len(part)
        self._unsent_bytes -= length
        if not isinstance(part, FileSlice):
            self._put(part, length)
        elif length < SMALL_SLICE:
            self._put(_read(part), length)
        else:
            try:
                self._channel.put(self._seat, [(descriptor(part), part.position, length)])
                self._in_window += SMALL_SLICE
            except (
                OSError
            ):  # there are no descriptors left: a piece is read here, and what is left of it waits
                length = min(length, PIECE)
                self._put(_read(FileSlice(part.file, part.position, length)), length)
                if length < len(part):
                    self._unsent.appendleft(FileSlice(part.file, part.position + length, len(part) - length))
                    self._unsent_bytes += len(part) - length
        self._posted += length

    def _put(self, data: Any, length: int) -> None:
        self._channel.put(self._seat, [data])
        self._in_window += length

    # ── room for large requests ──────────────────────────────────────────────────────

    def has_room(self) -> None:
        if not self._room_wanted or self._is_closed:
            return
        room, granted = self._host.room, self._granted
        self._granted = 0
        room.give_back(granted)  # what it had for a smaller one: nothing of that is in use
        if not room.take(self._room_wanted):
            self.owner.lacks_room()
            return
        self._granted, self._room_wanted = self._room_wanted, 0
        self.owner.room_since = self._host.now
        self._say(native.GRANT, self._granted)

    def leave_room(self) -> None:
        if self._granted and not self.frames and not self._room_wanted:
            self._say(native.LEAVE_ROOM)

    def rest(self) -> None:
        """Large requests of late keep their room; who moves bytes is not idle."""
        if self._is_closed:
            return
        before = self._moved
        self._moved = self._channel.received(self._seat), self._channel.sent(self._seat)
        if before != self._moved:
            self.owner.active_at = self._host.now
        if before == self._moved or self._host.room.waiting:
            self.leave_room()

    # ── the end, and moving ──────────────────────────────────────────────────────────

    def release(self) -> None:
        """Let the loop serve it, once what the thread has to send is sent."""
        self._is_releasing = True
        self._say(native.RELEASE)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.frames.clear()
            self._unsent.clear()
            self._host.room.give_back(self._granted)
            self._granted = 0
            self._channel.say(self._seat, native.CLOSE)

    def _say(self, word: int, value: int = 0) -> None:
        if not self._is_closed:
            self._channel.say(self._seat, word, value)

    # ── what the thread says ─────────────────────────────────────────────────────────

    def heed(self, kind: int, value: int, more: Any) -> None:
        """A notice of its thread."""
        if self._is_closed:
            return
        match kind:
            case native.ENDED | native.BAD_SIZE:
                self._end = self._ending(kind, value)
                self.owner.arrived()
            case native.BROKEN:
                self.owner.broke("the connection broke")
            case native.UNSENT:
                self.owner.broke(f"while sending: {OSError(value, os.strerror(value))}")
            case native.SLICE_LOST:
                self.owner.broke(
                    f"while sending: a file has no {more} bytes at {value} any more", usual=False
                )
            case native.ROOM_WANTED:
                self._room_wanted = value
                self.has_room()
            case native.ROOM_LEFT:
                granted, self._granted = self._granted, 0
                self._host.room.give_back(granted)
            case native.SENT_ALL:
                self._sent_all()

    def returned(self, fd: int, received: bytes) -> Handed | None:
        """The thread has let go: all that the loop needs to go on with it. None if it was closed meanwhile."""
        link = socket.socket(fileno=fd)
        if self._is_closed:
            link.close()
            return None
        self._is_closed = True
        left = b"".join([each for frame in self.frames for each in (_pack_size(len(frame)), frame)])
        return Handed(link, left + received, self._granted, list(self._unsent))

    def _ending(self, kind: int, value: int) -> BadSize | StreamEnded:
        if kind == native.BAD_SIZE:
            return BadSize(complaint(value, self._frame_bytes_max))
        if value:
            return StreamEnded(f"while receiving: {OSError(value, os.strerror(value))}")
        return StreamEnded("the client closed it")

    def _sent_all(self) -> None:
        if self._unsent:
            self.flush()
        elif not self._is_releasing:
            self.owner.sent_all()


def _read(part: FileSlice) -> bytes:
    data = os.pread(descriptor(part), part.length, part.position)
    if len(data) != part.length:
        raise lost(part)
    return data
