"""A connection to one broker: a blocking socket, requests pipelined, API versions negotiated.

    send(request) ──▶ ┐ as many as one likes
    send(request) ──▶ ┘
    receive(Response) ◀── answers come in the order of the requests

A connection begins with ApiVersions and speaks of each API the highest version that both know. An answer
is read into a buffer of its own, and the records in it are views of that buffer: nothing is copied.

The law: a connection that failed is closed, since what arrives on it next would be taken for another
answer. Everything that can go wrong on the way comes out as NETWORK_EXCEPTION, which is worth another try
elsewhere.
"""

from __future__ import annotations

import itertools
import socket
from collections import deque
from typing import Any, TypeVar, cast

from andiron import __version__
from andiron.client.core.addresses import Address
from andiron.client.core.versions import Versions, version_to_ask_again
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.codec import decoder, encoder
from andiron.wire.frame import SIZE, frame
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from andiron.wire.primitives import MalformedMessage

R = TypeVar("R")

SOFTWARE = ("andiron", __version__)
ANSWER_BYTES_MAX = 1 << 30  # far beyond what a fetch asks for: a larger size is not Kafka's protocol
_SECOND = 1000


class Connection:
    """A connection to one broker."""

    def __init__(self, address: Address, settings: ClientSettings) -> None:
        self.address = address
        self.in_flight: deque[tuple[int, int, int]] = deque()  # API, version, correlation id
        self.versions = Versions({ApiKey.API_VERSIONS: APIS[ApiKey.API_VERSIONS].versions})
        self._settings = settings
        self._numbers = itertools.count(1)
        self._socket: socket.socket | None = None
        self._connect()
        self._negotiate()

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def call(self, request: Any, response: type[R], at_most: int | None = None) -> R:
        """Send a request and wait for its answer, with none other on the way."""
        assert not self.in_flight, "answers come in order: receive the earlier ones first"
        self.send(request, at_most)
        return self.receive(response)

    def send(self, request: Any, at_most: int | None = None, *, answered: bool = True) -> int:
        """Send a request in the best version, or one `at_most`; return the version.

        With acks=0 a Produce request is not `answered`.
        """
        key = request.__api_key__
        version = self.versions.pick(key, at_most)
        number = next(self._numbers)
        parts: list[Any] = [encode_request_header(key, version, number, self._settings.client_id)]
        encoder(type(request), version)(request, parts)
        try:
            self._open_socket().sendall(b"".join(cast(list[bytes], frame(parts))))
        except OSError as error:
            raise self._lost(f"could not send {APIS[key].name}", error) from error
        if answered:
            self.in_flight.append((key, version, number))
        return version

    def receive(self, response: type[R], extra_ms: int = 0) -> R:
        """The answer to the oldest request; it may take `extra_ms` longer than the settings allow."""
        if self._socket is None:
            raise self._lost("the connection was lost", None)
        key, version, number = self.in_flight.popleft()
        name = APIS[key].name
        try:
            self._open_socket().settimeout((self._settings.request_timeout_ms + extra_ms) / _SECOND)
            data = self._read_frame()
            answered, pos = decode_response_header(data, 0, len(data), key, version)
            if answered != number:
                raise MalformedMessage(f"answer {answered} to request {number}")
            return decoder(response, version)(data, pos, len(data))[0]
        except TimeoutError as error:
            raise self._lost(f"no answer to {name} in time", None) from error
        except (OSError, MalformedMessage) as error:
            raise self._lost(f"{name} was not answered", error) from error

    def close(self) -> None:
        """Close the socket; requests in flight stay unanswered."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self.in_flight.clear()

    def _connect(self) -> None:
        timeout = self._settings.socket_connection_setup_timeout_ms / _SECOND
        try:
            self._socket = socket.create_connection(self.address, timeout)
        except TimeoutError as error:
            raise self._lost("no connection in time", None) from error
        except OSError as error:
            raise self._lost("no connection", error) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(self._settings.request_timeout_ms / _SECOND)

    def _negotiate(self) -> None:
        asked: int | None = APIS[ApiKey.API_VERSIONS].versions[1]
        while asked is not None:
            self.send(ApiVersionsRequest(*SOFTWARE), asked)
            answer = self._receive_versions(asked)
            asked = version_to_ask_again(answer, asked)
        if answer.error_code:
            raise self._lost("ApiVersions was refused", ErrorCode.of(answer.error_code).error())
        self.versions = Versions.of(answer)

    def _receive_versions(self, asked: int) -> ApiVersionsResponse:
        """An answer to ApiVersions: one that says UNSUPPORTED_VERSION is in version 0, whatever was asked."""
        self.in_flight.popleft()
        try:
            data = self._read_frame()
            _, pos = decode_response_header(data, 0, len(data), ApiKey.API_VERSIONS, asked)
            refused = int.from_bytes(data[pos : pos + 2], "big") == ErrorCode.UNSUPPORTED_VERSION.number
            return decoder(ApiVersionsResponse, 0 if refused else asked)(data, pos, len(data))[0]
        except TimeoutError as error:
            raise self._lost("it accepts connections and says nothing", None) from error
        except (OSError, MalformedMessage) as error:
            raise self._lost(
                "it does not answer as a broker with a PLAINTEXT listener does", error
            ) from error

    def _read_frame(self) -> memoryview:
        (size,) = SIZE.unpack(self._read(SIZE.size))
        if not 0 <= size <= ANSWER_BYTES_MAX:
            raise MalformedMessage(f"an answer of {size} bytes")
        return self._read(size)

    def _read(self, size: int) -> memoryview:
        view = memoryview(bytearray(size))
        link, filled = self._open_socket(), 0
        while filled < size:
            count = link.recv_into(view[filled:])
            if not count:
                raise ConnectionResetError("the broker closed the connection")
            filled += count
        return view

    def _open_socket(self) -> socket.socket:
        if self._socket is None:
            raise ConnectionResetError("the connection is closed")
        return self._socket

    def _lost(self, what: str, error: Exception | None) -> ProtocolError:
        """Close, and make a NETWORK_EXCEPTION that names the broker and the reason in one line."""
        self.close()
        why = getattr(error, "strerror", None) or (str(error) if error else "")
        detail = f"{self.address}: {what}" + (f" ({why[0].lower()}{why[1:]})" if why else "")
        return ErrorCode.NETWORK_EXCEPTION.error(detail)
