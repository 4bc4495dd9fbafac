"""DeleteTopics (key 20), versions 1-6: topics that go, with all their records.

The controller decides; the answer leaves when its decision is committed and in effect here.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.wire.apis import ApiKey
from andiron.wire.messages.delete_topics import DeleteTopicsRequest

API = ApiKey.DELETE_TOPICS
SERVED = ADVERTISED = (1, 6)


def handle(broker: Broker, request: Request[DeleteTopicsRequest]) -> Wait:
    return broker.decide(request.body, request.now, request.body.timeout_ms)
