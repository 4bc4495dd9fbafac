"""CreateTopics (key 19), versions 2-7: new topics.

The controller decides; the answer leaves when its decision is committed and in effect here.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_topics import CreateTopicsRequest

API = ApiKey.CREATE_TOPICS
SERVED = ADVERTISED = (2, 7)


def handle(broker: Broker, request: Request[CreateTopicsRequest]) -> Wait:
    return broker.decide(request.body, request.now, request.body.timeout_ms)
