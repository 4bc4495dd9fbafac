"""One connection that says exactly what it is told, for what no client library would say.

`ask` sends a frame and waits; `send` and `receive` apart let a request wait at the broker while others go on,
and let many requests be under way at once.
"""

from __future__ import annotations

import socket
from typing import Any, Self

from peers import frames


class Closed(Exception):
    """The broker closed the connection."""


class Raw:
    """A blocking connection; answers come back from their correlation id on."""

    def __init__(self, port: int, host: str = "127.0.0.1", timeout: float = 60.0) -> None:
        self.link = socket.create_connection((host, port), timeout=timeout)
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes) -> None:
        self.link.sendall(data)

    def receive(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "big"))

    def receive_into(self, buffer: bytearray) -> memoryview:
        """The same without a copy; the view holds until the buffer is used again."""
        view = memoryview(buffer)[: int.from_bytes(self._exactly(4), "big")]
        self._fill(view)
        return view

    def ask(self, request: bytes) -> bytes:
        self.send(request)
        return self.receive()

    def fetch(self, topic: str, offset: int, partition: int = 0, **limits: Any) -> bytes:
        """The record bytes of one partition from an offset on, one fetch's worth."""
        answer = frames.read_fetch(self.ask(frames.fetch(topic, {partition: offset}, **limits)))
        error, _, records = answer.partitions[partition]
        assert not error, f"fetch answered {error}"
        return records

    def close(self) -> None:
        self.link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exactly(self, count: int) -> bytes:
        got = bytearray(count)
        self._fill(memoryview(got))
        return bytes(got)

    def _fill(self, view: memoryview) -> None:
        at = 0
        while at < len(view):
            taken = self.link.recv_into(view[at:])
            if not taken:
                raise Closed(f"the connection ended {len(view) - at} bytes short of an answer")
            at += taken
