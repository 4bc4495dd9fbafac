"""CreatePartitions (key 37), versions 0-3: more partitions for a topic.

The controller decides; the answer leaves when its decision is committed and in effect here.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_partitions import CreatePartitionsRequest

API = ApiKey.CREATE_PARTITIONS
SERVED = ADVERTISED = (0, 3)


def handle(broker: Broker, request: Request[CreatePartitionsRequest]) -> Wait:
    return broker.decide(request.body, request.now, request.body.timeout_ms)
