"""CreatePartitions (key 37), versions 0-3: more partitions for a topic.

The controller decides; the answer leaves when its decision is committed and in effect here.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

API = ApiKey.CREATE_PARTITIONS
SERVED = ADVERTISED = (0, 3)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[CreatePartitionsRequest]) -> Wait:
    body = request.body
    return broker.pass_on(request, body.timeout_ms).or_else(partial(_refusal, body))


def _refusal(body: CreatePartitionsRequest, error: ProtocolError) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(topic.name, error.code.number, error.detail) for topic in body.topics
        ]
    )
