"""Frames: four bytes that say how many follow.

    ┌──────────┬───────────────────────┐┌──────────┬─────────
    │ size i32 │ header, then the body ││ size i32 │ header, ...
    └──────────┴───────────────────────┘└──────────┴─────────

A stream of bytes arrives in pieces that know nothing of this. `FrameSplitter` keeps what is not
yet a whole frame. It refuses a size as soon as it has read it, so that four bytes cannot make it
wait for, or make room for, more than the limit. The broker's own connections read into reused
buffers (edge/connection.py); this is for those who are not in such a hurry.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence, Sized

from andiron.wire.primitives import Buffer, MalformedMessage

SIZE = struct.Struct(">i")
FRAME_BYTES_MAX = 100 * 1024 * 1024  # Kafka's default for socket.request.max.bytes


class FrameSplitter:
    """Bytes in, whole frames out, without their size."""

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._held = bytearray()

    def feed(self, data: Buffer) -> list[bytes]:
        """Take in what has arrived; return the frames that it completes."""
        held = self._held
        held += data
        frames: list[bytes] = []
        pos = 0
        while len(held) - pos >= SIZE.size:
            (size,) = SIZE.unpack_from(held, pos)
            self._check(size)
            start = pos + SIZE.size
            if len(held) - start < size:
                break
            pos = start + size
            frames.append(bytes(held[start:pos]))
        del held[:pos]
        return frames

    def _check(self, size: int) -> None:
        if size < 0:
            raise MalformedMessage(f"a frame of {size} bytes")
        if size > self.frame_bytes_max:
            raise MalformedMessage(f"a frame of {size} bytes, the limit is {self.frame_bytes_max}")


def frame(parts: Sequence[Sized]) -> list[Sized]:
    """The parts of one message with their size before them."""
    return [SIZE.pack(sum(map(len, parts))), *parts]
