"""A small HTTP server between two turns of the loop: GET /metrics and GET /healthz, and nothing else.

    accepted ─▶ reading: a request's head ─▶ answering: a slice of the answer a turn ─▶ lingering ─▶ closed
                  too long, not HTTP: 4xx ─┘       until the client has closed, or a sweep comes ┘

The text of the metrics is made while it is sent, a millisecond of it a turn, so that ten thousand partitions hold up
nobody else; it goes out in chunks, since nobody knows its length before its end, and a scrape that breaks off cannot be
taken for a whole one. One request a connection.

The law: nothing that a client sends, and no bug in what is told, gets further than its own connection.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from andiron.edge.loop import READ, WRITE, Loop
from andiron.edge.metrics.text import CONTENT_TYPE
from andiron.model.line import Line

if TYPE_CHECKING:
    from andiron.broker.settings.broker_settings import BrokerSettings
    from andiron.edge.listener import Listener

HEAD_BYTES_MAX = 8192
OPEN_MAX = 16  # connections; the one that came first goes when there are more
SLICE_S = 0.001  # of a turn, for one of them
OUT_BYTES = 1 << 16  # that are made ahead of the socket
PATIENCE_S = 30.0  # with a client that does not go on

PLAIN = "text/plain; charset=utf-8"

log = logging.getLogger(__name__)


class MetricsServer:
    """The connections of a listener, and what they are told."""

    def __init__(
        self, loop: Loop, scrape: Callable[[], Iterator[bytes]], trouble: Callable[[], str | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`scrape` gives the metrics in pieces; `trouble` says why the node is not ready, if it is not."""
        self.loop, self.clock = loop, clock
        self._scrape, self._trouble = scrape, trouble
        self._open: dict[int, Exchange] = {}
        self._listener: Listener | None = None

    def serve(self, listener: Listener, settings: BrokerSettings) -> None:
        """Let clients in."""
        self._listener = listener
        listener.open(self.loop, self, settings)

    def admit(self, link: socket.socket, listener: str, address: str) -> None:
        """Take in a connection that was accepted."""
        if len(self._open) >= OPEN_MAX:
            next(iter(self._open.values())).close()
        exchange = Exchange(self, link)
        self._open[exchange.fd] = exchange

    def cannot_accept(self, why: str) -> None:
        """The system refuses another descriptor: wait for the next sweep."""
        log.warning(
            Line("Scrapes have to wait: the system refuses another descriptor; raise LimitNOFILE", error=why)
        )
        if self._listener is not None:
            self._listener.pause()

    def sweep(self) -> None:
        """Called every few seconds: close who does not go on, accept again."""
        for exchange in list(self._open.values()):
            if self.clock() - exchange.since > PATIENCE_S:
                exchange.close()
        if self._listener is not None:
            self._listener.resume()

    def close(self) -> None:
        for exchange in list(self._open.values()):
            exchange.close()

    def forget(self, exchange: Exchange) -> None:
        """It is about to close."""
        del self._open[exchange.fd]

    def answer(self, method: str, path: str) -> tuple[HTTPStatus, str, Iterable[bytes]]:
        """Status, content type and body of the answer to a request."""
        if method not in ("GET", "HEAD"):
            return _plain(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not for this place; GET is")
        match path.partition("?")[0]:
            case "/metrics":
                return HTTPStatus.OK, CONTENT_TYPE, self._scrape()
            case "/healthz":
                trouble = self._trouble()
                if trouble is None:
                    return _plain(HTTPStatus.OK, "ready")
                return _plain(HTTPStatus.SERVICE_UNAVAILABLE, trouble)
        return _plain(HTTPStatus.NOT_FOUND, "there are /metrics and /healthz")


class Exchange:
    """One connection: a request, and the answer to it."""

    def __init__(self, server: MetricsServer, link: socket.socket) -> None:
        self._server, self._link, self.fd = server, link, link.fileno()
        self.since = server.clock()
        self._head = bytearray()
        self._out = b""  # what the socket has not taken yet
        self._pieces: Iterator[bytes] | None = None  # of the answer; None before and after it
        self._lingers = False
        server.loop.watch(self.fd, READ, self._on_ready)

    def close(self) -> None:
        """At once, wherever it is."""
        if self.fd >= 0:
            self._server.forget(self)
            self._server.loop.forget(self.fd)
            self._link.close()
            self.fd = -1

    def _on_ready(self, events: int) -> None:
        try:
            if self._pieces is not None or self._out:
                self._send()
            elif self._lingers:
                self._discard()
            else:
                self._receive()
        except BlockingIOError:
            return
        except OSError as error:
            log.debug(Line("Scrape was broken off", error=error))
            self.close()
        except Exception:
            log.exception(Line("Scrape failed: a bug in Andiron; please report it"))
            self.close()

    def _receive(self) -> None:
        data = self._link.recv(HEAD_BYTES_MAX)
        if not data:
            self.close()
            return
        self._head += data
        if b"\r\n\r\n" in self._head or b"\n\n" in self._head:
            self._answer()
        elif len(self._head) >= HEAD_BYTES_MAX:
            self._respond(*_plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too long"))

    def _answer(self) -> None:
        line = bytes(self._head).splitlines()[0].decode("latin-1")
        words = line.split()
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self._respond(*_plain(HTTPStatus.BAD_REQUEST, "this speaks HTTP/1.1"))
            return
        method, path, version = words
        self._respond(
            *self._server.answer(method, path), chunked=version != "HTTP/1.0", headers_only=method == "HEAD"
        )

    def _respond(
        self, status: HTTPStatus, content_type: str, body: Iterable[bytes], *,
        chunked: bool = False, headers_only: bool = False,
    ) -> None:  # fmt: skip
        head = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"Content-Type: {content_type}",
            "Connection: close",
        ]
        if isinstance(body, list):
            head.append(f"Content-Length: {sum(map(len, body))}")
            chunked = False
        elif chunked:
            head.append("Transfer-Encoding: chunked")
        self._out = "\r\n".join([*head, "", ""]).encode()
        pieces = iter(()) if headers_only else iter(body)
        self._pieces = _in_chunks(pieces) if chunked and not headers_only else pieces
        self._server.loop.change(self.fd, WRITE)

    def _send(self) -> None:
        if len(self._out) < OUT_BYTES and self._pieces is not None:
            self._make_more(self._pieces)
        if self._out:
            self._out = self._out[self._link.send(self._out) :]
        if self._pieces is None and not self._out:
            self._end()

    def _make_more(self, pieces: Iterator[bytes]) -> None:
        """What the answer says next, as far as this turn allows."""
        until, parts, size = time.perf_counter() + SLICE_S, [self._out], len(self._out)
        for piece in pieces:
            parts.append(piece)
            size += len(piece)
            if size >= OUT_BYTES or time.perf_counter() >= until:
                break
        else:
            self._pieces = None
        self._out = b"".join(parts)

    def _end(self) -> None:
        """Let the client close first: what it may still have sent would otherwise cost it the answer."""
        self._link.shutdown(socket.SHUT_WR)
        self._lingers = True
        self._server.loop.change(self.fd, READ)

    def _discard(self) -> None:
        if not self._link.recv(HEAD_BYTES_MAX):
            self.close()


def _plain(status: HTTPStatus, text: str) -> tuple[HTTPStatus, str, list[bytes]]:
    return status, PLAIN, [f"{text}\n".encode()]


def _in_chunks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """As HTTP/1.1 sends what has no length; an empty chunk would end it, so there is none before the end."""
    for piece in pieces:
        yield b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
    yield b"0\r\n\r\n"
