"""Envelope (key 58), version 0: a broker passes a client's request on to the controller.

Within are the request as the client sent it, header and all, and who the client is: its principal and the
bytes of its address. The answer holds the response, again with its header; an error of its own means that
there is none. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import data, i16, message


@message(api_key=58, versions=(0, 0), flexible=0)
class EnvelopeRequest:
    request_data: bytes = data()
    request_principal: bytes | None = data(nullable=True, default=None)
    client_host_address: bytes = data()


@message(api_key=58, versions=(0, 0), flexible=0)
class EnvelopeResponse:
    response_data: bytes | None = data(nullable=True, default=None)
    error_code: int = i16()
