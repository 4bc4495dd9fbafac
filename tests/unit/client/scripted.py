"""A broker that says what a test tells it to, over a real socket, in a thread of its own.

    with ScriptedBroker() as broker:
        broker.topic("t", partitions=2)
        broker.on(ApiKey.PRODUCE, lambda request: ProduceResponse(...))

Metadata and ApiVersions are answered as a broker would; other requests by the functions given for them,
one after another, the last for ever after. A function may return None to hang up, bytes to be sent as
they are, or a response with the version to send it in. What was asked is in `asked`, in order.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

from andiron.wire.apis import APIS, ApiKey
from andiron.wire.codec import decoder, encoder
from andiron.wire.frame import SIZE, frame
from andiron.wire.header import decode_request_header, encode_response_header
from andiron.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from andiron.wire.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataResponse,
    MetadataTopic,
)

Answer = Callable[[Any], Any]
NODE_ID, FROZEN_ID = 1, 2


class ScriptedBroker:
    """Listens on a free port of the loopback until it is closed."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.asked: list[tuple[str, int, Any]] = []  # API, version, request
        self.connections = 0
        self.versions = {key: api.versions for key, api in APIS.items()}
        self.topics: dict[str, MetadataTopic] = {}
        self.controller_id = NODE_ID
        self.others: list[MetadataBroker] = []  # in the cluster as well, and not scripted
        self._scripts: dict[int, list[Answer]] = {
            ApiKey.API_VERSIONS: [self.api_versions],
            ApiKey.METADATA: [self.metadata],
        }
        self._links: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def on(self, api_key: int, *answers: Answer) -> None:
        """How requests of an API are answered."""
        self._scripts[api_key] = list(answers)

    def topic(
        self, name: str, partitions: int = 1, leader: int = NODE_ID, topic_id: bytes = b"i" * 16
    ) -> None:
        """A topic for Metadata to tell."""
        rows = [MetadataPartition(0, number, leader, 0, [NODE_ID], [NODE_ID]) for number in range(partitions)]
        self.topics[name] = MetadataTopic(0, name, topic_id, partitions=rows)

    def requests(self, name: str) -> list[Any]:
        """What was asked of one API."""
        return [request for api, _, request in self.asked if api == name]

    def api_versions(self, request: Any) -> ApiVersionsResponse:
        """The usual answer."""
        return ApiVersionsResponse(api_keys=[ApiVersion(key, *span) for key, span in self.versions.items()])

    def metadata(self, request: Any) -> MetadataResponse:
        """The usual answer: this broker alone, and its topics."""
        names = list(self.topics) if request.topics is None else [each.name for each in request.topics]
        told = [self.topics.get(name) or MetadataTopic(3, name) for name in names]
        brokers = [MetadataBroker(NODE_ID, "127.0.0.1", self.port), *self.others]
        return MetadataResponse(
            brokers=brokers, cluster_id="scripted", controller_id=self.controller_id, topics=told
        )

    @contextlib.contextmanager
    def beside_a_frozen_one(self) -> Iterator[None]:
        """With another broker that takes connections, as the system does for a process that is stopped, and says
        nothing."""
        with socket.create_server(("127.0.0.1", 0)) as frozen:
            self.others.append(MetadataBroker(FROZEN_ID, "127.0.0.1", frozen.getsockname()[1]))
            yield

    def hang_up(self) -> None:
        """Close every connection."""
        for link in self._links:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()
        self._links.clear()

    def close(self) -> None:
        """Answer nobody any more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                self.connections += 1
                self._links.append(link)
                threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                size = _exactly(link, SIZE.size)
                answer = self._answer(_exactly(link, SIZE.unpack(size)[0]))
                if answer is None:
                    link.close()
                    return
                link.sendall(answer)

    def _answer(self, data: bytes) -> bytes | None:
        key, version, number, _, pos = decode_request_header(data, 0, len(data))
        request, _ = decoder(APIS[key].request, version)(data, pos, len(data))
        self.asked.append((APIS[key].name, version, request))
        script = self._scripts[key]
        answer = (script.pop(0) if len(script) > 1 else script[0])(request)
        if answer is None or isinstance(answer, bytes):
            return answer
        if isinstance(answer, tuple):
            answer, version = answer
        parts: list[Any] = [encode_response_header(key, version, number)]
        encoder(type(answer), version)(answer, parts)
        return b"".join(frame(parts))  # type: ignore[arg-type]


def _exactly(link: socket.socket, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        piece = link.recv(count - len(got))
        if not piece:
            raise ConnectionResetError
        got += piece
    return bytes(got)
