"""The way of a request through a node, by its API and version: how it is read, handled and answered.

    frame ─▶ decode ─▶ handle ─▶ encode, behind a header

Read next: node.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from andiron.broker.broker import Broker
from andiron.broker.handlers import HANDLERS, Handler
from andiron.broker.handlers.api_versions import downgrade
from andiron.broker.node.request import Request
from andiron.broker.node.slices import InSlices, in_slices
from andiron.model.effects import Close, Reply
from andiron.model.errors import ErrorCode
from andiron.wire.apis import APIS, Api, ApiKey
from andiron.wire.codec import decoder, encoder, slicing_decoder, slicing_encoder
from andiron.wire.decoders import has_records
from andiron.wire.header import encode_response_header

ANSWER_MAX = 100 << 20  # bytes; as large as a request may be, and clients take no more either
LARGE = 16 * 1024  # bytes of a request beyond which it is decoded and answered in slices


class Route(NamedTuple):
    """What a request of one API and version goes through."""

    decode: Callable[[memoryview, int, int], tuple[Any, int]]
    handle: Callable[[Broker, Request[Any]], Any]
    encode: Callable[[Any, list[Any]], None]
    header: Callable[[int], bytes]
    key: int
    tells_errors: bool  # whether its response has an error of its own, beside those of its parts
    api: Api
    version: int
    entries_max: int
    slices_from: int  # bytes; never where there are records, which must stay in their frame

    @classmethod
    def of(cls, handler: Handler, version: int) -> Route:
        api = APIS[handler.api]
        return cls(
            decoder(api.request, version, handler.entries_max),
            handler.handle,
            encoder(api.response, version),
            partial(encode_response_header, handler.api, version),
            handler.api,
            hasattr(api.response, "error_code"),
            api,
            version,
            handler.entries_max,
            1 << 31 if has_records(api.request, version) else LARGE,
        )

    def parts(self, correlation: int, response: Any) -> list[Any]:
        """The parts of a reply."""
        parts: list[Any] = [self.header(correlation)]
        self.encode(response, parts)
        return parts

    def parts_in_slices(self, correlation: int, response: Any) -> InSlices[list[Any]]:
        """The same of a large response. What is asked for again and again is answered so, but not without end."""
        parts: list[Any] = [self.header(correlation)]
        size = seen = 0
        for written in slicing_encoder(self.api.response, self.version)(response, parts):
            size += sum(map(len, written[seen:]))
            seen = len(written)
            if size > ANSWER_MAX:
                raise ErrorCode.INVALID_REQUEST.error(f"its answer would have more than {ANSWER_MAX} bytes")
            yield
        return parts

    def respond_in_slices(self, broker: Broker, request: Request[Any]) -> InSlices[Any]:
        """The response to a large request, whose body is still bytes."""
        frame = request.body
        decode = slicing_decoder(self.api.request, self.version, self.entries_max)
        request.body, _ = yield from decode(frame, 0, len(frame))
        request.now = broker.step.now
        response = self.handle(broker, request)
        return (yield from response) if in_slices(response) else response


def unserved(conn: int, ticket: int, key: int, version: int, correlation: int) -> Reply | Close:
    """The answer to an API or a version that is not served."""
    if key == ApiKey.API_VERSIONS:
        return Reply(conn, ticket, Route.of(HANDLERS[key], 0).parts(correlation, downgrade()))
    name = APIS[key].name if key in APIS else "an unknown API"
    return Close(conn, f"{name} (key {key}) in version {version} is not served")
