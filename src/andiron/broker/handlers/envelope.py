"""Envelope (key 58), version 0: a broker passes a client's request on to the controller.

Within is the request as it would have come to the controller itself, and so it is handled; around it is said
whether this is the controller at all, and still is when it has decided. What has no business with the controller is
refused.
"""

from __future__ import annotations

from typing import Any

from andiron.broker import handlers
from andiron.broker.broker import Broker
from andiron.broker.node.request import ForwardedRequest, Request
from andiron.broker.node.slices import InSlices, in_slices
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.codec import decoder, encoder
from andiron.wire.header import decode_request_header, encode_response_header
from andiron.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from andiron.wire.primitives import MalformedMessage

API = ApiKey.ENVELOPE
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[EnvelopeRequest]) -> InSlices[EnvelopeResponse | Wait]:
    if not broker.controller.is_active:
        return EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER.number)
    frame = memoryview(request.body.request_data)
    try:
        key, version, correlation, client_id, position = decode_request_header(frame, 0, len(frame))
        handler = handlers.HANDLERS.get(key)
        if handler is None or handler.scope is not Scope.BOTH or not handler.serves(version):
            return EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST.number)
        body, _ = decoder(APIS[key].request, version, handler.entries_max)(frame, position, len(frame))
    except MalformedMessage:
        return EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST.number)
    inner = ForwardedRequest(body, version, client_id, by=request)
    response = handler.handle(broker, inner)
    if in_slices(response):
        response = yield from response

    def enclosed(response: Any) -> EnvelopeResponse:
        if inner.not_controller:
            return EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER.number)
        parts: list[Any] = [encode_response_header(key, version, correlation)]
        encoder(APIS[key].response, version)(response, parts)
        return EnvelopeResponse(b"".join(parts))

    return response.and_then(enclosed) if isinstance(response, Wait) else enclosed(response)
