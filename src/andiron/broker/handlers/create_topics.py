"""CreateTopics (key 19), versions 2-7: topics are created.

The controller decides; the answer leaves when its decision is committed and in effect here.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.metadata.topic_creation import until_created
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

API = ApiKey.CREATE_TOPICS
SERVED = ADVERTISED = (2, 7)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[CreateTopicsRequest]) -> Wait:
    body = request.body
    decided = broker.pass_on(request, body.timeout_ms)
    if body.validate_only:
        return decided.or_else(partial(_refusal, body))
    return decided.and_then(lambda answer: until_created(broker, answer, lambda: answer)).or_else(
        partial(_refusal, body)
    )


def _refusal(body: CreateTopicsRequest, error: ProtocolError) -> CreateTopicsResponse:
    code, reason = error.code.number, error.detail
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(topic.name, error_code=code, error_message=reason) for topic in body.topics
        ]
    )
