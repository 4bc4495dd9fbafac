"""Both ways in which slices leave, and a pair of real sockets for them to leave through."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from andiron.edge.carrier import NO_SENDFILE, PIECE, Carrier

# How large a slice must be to leave by sendfile: never, more than a piece, and as it ships.
WAYS = {"copied": NO_SENDFILE, "by sendfile": PIECE + 1, "by size": None}


def carrier(way: str) -> Carrier:
    """One that sends this way."""
    sendfile_min = WAYS[way]
    return Carrier() if sendfile_min is None else Carrier(sendfile_min=sendfile_min)


@contextmanager
def tcp_pair(segment: int = 0, buffer: int = 100 << 10) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A node's end and a client's end of one connection; bytes of a packet, if not the system's.

    Its buffers do not grow: what was not received bounds what can be sent.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        theirs = socket.socket()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        if segment:
            theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        theirs.connect(listener.getsockname())
        ours, _ = listener.accept()
    ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs
