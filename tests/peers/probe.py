"""Is anything answering there, and is it a broker that is ready?

The smallest client that can tell: one ApiVersions (the port speaks Kafka) and one Metadata (the node knows
itself as a broker). Written by hand because everything else, ours and others', is what is being tested.
"""

from __future__ import annotations

import socket
import struct

API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)
METADATA_NO_TOPICS = struct.pack(">hhihi", 3, 1, 2, -1, 0)


def answers(port: int, host: str = "127.0.0.1", timeout: float = 5.0) -> bool:
    """Whether an ApiVersions request is answered."""
    return _ask(host, port, API_VERSIONS, timeout) is not None


def is_ready(port: int, host: str = "127.0.0.1", timeout: float = 5.0) -> bool:
    """Whether a Metadata request names at least one broker."""
    answer = _ask(host, port, METADATA_NO_TOPICS, timeout)
    return answer is not None and struct.unpack_from(">i", answer, 4)[0] > 0


def _ask(host: str, port: int, request: bytes, timeout: float) -> bytes | None:
    try:
        with socket.create_connection((host, port), timeout=timeout) as link:
            link.sendall(struct.pack(">i", len(request)) + request)
            size = _exactly(link, 4)
            return _exactly(link, int.from_bytes(size, "big")) if size else None
    except OSError:
        return None


def _exactly(link: socket.socket, count: int) -> bytes:
    """`count` bytes, or none where the other side closed first."""
    got = bytearray()
    while len(got) < count:
        piece = link.recv(count - len(got))
        if not piece:
            return b""
        got += piece
    return bytes(got)
