"""DeleteTopics (key 20), versions 1-6: topics are deleted, with all their records.

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
from andiron.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

API = ApiKey.DELETE_TOPICS
SERVED = ADVERTISED = (1, 6)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[DeleteTopicsRequest]) -> Wait:
    body = request.body
    return broker.pass_on(request, body.timeout_ms).or_else(partial(_refusal, body))


def _refusal(body: DeleteTopicsRequest, error: ProtocolError) -> DeleteTopicsResponse:
    topics = body.topics or [DeleteTopicState(name) for name in body.topic_names]
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(topic.name, topic.topic_id, error.code.number, error.detail)
            for topic in topics
        ]
    )
