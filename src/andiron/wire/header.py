"""What goes before a request or a response: which API, which version, which of many in flight.

    request   api key i16 · api version i16 · correlation id i32 · client id · [tagged section]
    response  correlation id i32 · [tagged section]

Flexible versions of an API have the tagged section, with two exceptions that are easy to forget:
the client id keeps its old form (i16 length, -1 for null) in every version, so that a broker can
read it before it knows the API; and the response to ApiVersions never has one, so that a client
can read it before it knows the broker.
"""

from __future__ import annotations

import struct

from andiron.wire.apis import APIS, ApiKey
from andiron.wire.primitives import Buffer, MalformedMessage, UnencodableMessage, skip_tags
from andiron.wire.schema import NEVER

_REQUEST = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")
_CLIENT_ID_MAX = (1 << 15) - 1

_FLEXIBLE_SINCE = {api.key: api.flexible_since for api in APIS.values()}


def request_header_version(api_key: int, api_version: int) -> int:
    """2 with a tagged section, 1 without."""
    return 2 if api_version >= _FLEXIBLE_SINCE.get(api_key, NEVER) else 1


def response_header_version(api_key: int, api_version: int) -> int:
    """1 with a tagged section, 0 without."""
    if api_key == ApiKey.API_VERSIONS:
        return 0
    return 1 if api_version >= _FLEXIBLE_SINCE.get(api_key, NEVER) else 0


def decode_request_header(buf: Buffer, pos: int, end: int) -> tuple[int, int, int, str | None, int]:
    """The API's key and version, the correlation id, the client id, and where the body begins.

    An API that is not in the table is read without a tagged section: its body is nobody's.
    """
    try:
        api_key, api_version, correlation_id, length = _REQUEST.unpack_from(buf, pos)
        pos += 10
        client_id = None
        if length >= 0:
            stop = pos + length
            if stop > end:
                raise MalformedMessage("client_id runs past the end")
            client_id = str(buf[pos:stop], "utf-8")
            pos = stop
        if api_version >= _FLEXIBLE_SINCE.get(api_key, NEVER):
            tags = buf[pos]
            pos += 1
            if tags:
                pos = skip_tags(buf, pos, end, tags)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise MalformedMessage(f"request header: {error}") from error
    if pos > end:
        raise MalformedMessage("the request header is cut short")
    return api_key, api_version, correlation_id, client_id, pos


def encode_request_header(
    api_key: int, api_version: int, correlation_id: int, client_id: str | None
) -> bytes:
    """The header that goes before the body of a request."""
    name = b"" if client_id is None else client_id.encode()
    if len(name) > _CLIENT_ID_MAX:
        raise UnencodableMessage(f"client_id of {len(name)} bytes")
    length = -1 if client_id is None else len(name)
    tags = b"\0" if request_header_version(api_key, api_version) == 2 else b""
    return _REQUEST.pack(api_key, api_version, correlation_id, length) + name + tags


def encode_response_header(api_key: int, api_version: int, correlation_id: int) -> bytes:
    """The header that goes before the body of a response."""
    head = _CORRELATION.pack(correlation_id)
    return head + b"\0" if response_header_version(api_key, api_version) else head


def decode_response_header(
    buf: Buffer, pos: int, end: int, api_key: int, api_version: int
) -> tuple[int, int]:
    """The correlation id of the response to a request of that API and version, and where its body begins."""
    try:
        (correlation_id,) = _CORRELATION.unpack_from(buf, pos)
        pos += 4
        if response_header_version(api_key, api_version):
            tags = buf[pos]
            pos += 1
            if tags:
                pos = skip_tags(buf, pos, end, tags)
    except (IndexError, struct.error) as error:
        raise MalformedMessage(f"response header: {error}") from error
    if pos > end:
        raise MalformedMessage("the response header is cut short")
    return correlation_id, pos
