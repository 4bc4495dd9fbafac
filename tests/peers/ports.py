"""Ports for the servers of the tests: nobody else is given them, not even while a server is down between two starts.

    32 768 and above     the system numbers outgoing connections with them: a client that looks for a server which is
                         down could be given its port, or even be connected to itself
    20 000 to 32 000     divided into estates; a process of tests has one of them for as long as it lives

A lock on a file says whose an estate is, so the processes of one run, and those of another run beside it, keep out of
each other's way; what else listens on the machine is asked for before a port is given. Within its estate a process goes
round: a port comes again only when all others have been given since.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
from functools import cache
from pathlib import Path

FIRST, LAST = 20_000, 32_000
ESTATE = 1_000
A_NODE = 2  # its own port, and the one above it for its controller
A_CLUSTER = 30  # as `andiron up --brokers` lays it out: controllers are ten above the brokers, metrics twenty


def free_port(count: int = A_NODE) -> int:
    """The first of some ports in a row, which are this process's alone and which nobody listens on."""
    return _estate().take(count)


class Estate:
    """A row of ports, given one after the other, and round again; `lock` is kept as long as they are."""

    def __init__(self, ports: range, lock: int | None = None) -> None:
        self._ports, self._lock = ports, lock
        self._next = ports.start

    def take(self, count: int) -> int:
        """The first of `count` that are free."""
        for _ in self._ports:
            if self._next + count > self._ports.stop:
                self._next = self._ports.start
            first, self._next = self._next, self._next + count
            if all(map(_is_free, range(first, first + count))):
                return first
        raise OSError(f"no {count} ports in a row are free of {self._ports}")


@cache
def _estate() -> Estate:
    """This process's own."""
    folder = Path(tempfile.gettempdir()) / f"andiron-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for first in range(FIRST, LAST, ESTATE):
        lock = os.open(folder / str(first), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return Estate(range(first, first + ESTATE), lock)
    raise OSError(f"{(LAST - FIRST) // ESTATE} processes of tests have all ports from {FIRST} to {LAST}")


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.socket() as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as a server: a connection that was is no matter
        probe.bind(("", port))
        return True
    return False
