"""A listening socket with a name: PLAINTEXT://host:port.

    bind ──▶ open: connections may come ──▶ pause ⇄ resume ──▶ close

The address is taken before the node opens its logs, so that a port in use costs a second
start one line and no recovery; connections are let in when the node is ready. While a
listener is paused (too many connections, or no descriptors left) they wait in the kernel,
and the loop does not hear of them: one that cannot be accepted would otherwise make every
poll return at once.

Read next: connections.py, which decides who is let in.
"""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING, Protocol

from andiron.edge.loop import READ, Loop
from andiron.model.errors import AndironError

if TYPE_CHECKING:
    from andiron.broker.settings.broker_settings import BrokerSettings

ACCEPTS_MAX = 64  # in one turn

_MAPPED = "::ffff:"  # an IPv4 address as an IPv6 socket shows it
_OUT_OF_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Door(Protocol):
    """Who decides on those that come."""

    def admit(self, link: socket.socket, listener: str, address: str) -> None:
        """Take in a connection that was accepted, or close it."""

    def cannot_accept(self, why: str) -> None:
        """The system refuses another descriptor."""


class CannotListen(AndironError):
    """The address of a listener is not to be had."""


class Listener:
    """One address, and what comes in there."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self.name = name
        self._socket = _bound(name, host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._loop: Loop | None = None
        self._paused = True

    def open(self, loop: Loop, door: Door, settings: BrokerSettings) -> None:
        """Let connections in through `door`. They inherit the sizes of the buffers; -1 is the system's."""
        for option, size in (
            (socket.SO_SNDBUF, settings.socket_send_buffer_bytes),
            (socket.SO_RCVBUF, settings.socket_receive_buffer_bytes),
        ):
            if size > 0:
                self._socket.setsockopt(socket.SOL_SOCKET, option, size)
        try:
            self._socket.listen(settings.socket_listen_backlog_size)
        except OSError as error:  # another process bound the same address and was the first to listen
            raise _cannot(self.name, self.host, self.port, error) from error
        self._loop, self._door = loop, door
        self.resume()

    def pause(self) -> None:
        """Let them wait."""
        if not self._paused and self._loop is not None:
            self._paused = True
            self._loop.forget(self._socket.fileno())

    def resume(self) -> None:
        if self._paused and self._loop is not None:
            self._paused = False
            self._loop.watch(self._socket.fileno(), READ, self._accept)

    def close(self) -> None:
        self.pause()
        self._loop = None
        self._socket.close()

    def _accept(self, _events: int) -> None:
        for _ in range(ACCEPTS_MAX):
            if self._paused:  # the door is full
                return
            try:
                link, address = self._socket.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_ROOM:
                    self._door.cannot_accept(str(error.strerror))
                    return
                continue  # it was gone before it was accepted
            link.setblocking(False)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._door.admit(link, self.name, str(address[0]).removeprefix(_MAPPED))


def _bound(name: str, host: str, port: int) -> socket.socket:
    """A socket that has the address and does not listen yet."""
    try:
        family, address = _resolve(host, port)
        link = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _cannot(name, host, port, error) from error
    try:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            link.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if not host else 1)
        link.setblocking(False)
        link.bind(address)
    except OSError as error:
        link.close()
        raise _cannot(name, host, port, error) from error
    return link


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """No host is every address, of both families where there are two; of a name, IPv4 comes first."""
    if not host:
        both = socket.has_dualstack_ipv6()
        return (socket.AF_INET6, ("::", port)) if both else (socket.AF_INET, ("0.0.0.0", port))
    plain = host.encode() if host.isascii() else host  # as bytes it does not load the codec for other scripts
    found = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, (str(address[0]), port)


def _cannot(name: str, host: str, port: int, error: OSError | UnicodeError) -> CannotListen:
    where = f"{name}://{f'[{host}]' if ':' in host else host}:{port}"
    if isinstance(error, socket.gaierror | UnicodeError):
        reason = "there is no host of that name"
    elif error.errno == errno.EADDRINUSE:
        reason = "the port is in use; stop what listens there, or choose another"
    else:
        reason = (error.strerror or str(error)).lower()
    return CannotListen(f"cannot listen on {where}: {reason}")
