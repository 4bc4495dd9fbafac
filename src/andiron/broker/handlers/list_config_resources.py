"""ListConfigResources (key 74), versions 0-1: what has settings of its own.

Topics, brokers (and their loggers), and those groups and subscriptions to clients' metrics to which some were given.
Version 0 asks for the last only.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

API = ApiKey.LIST_CONFIG_RESOURCES
SERVED = ADVERTISED = (0, 1)

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
KNOWN = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)


def handle(broker: Broker, request: Request[ListConfigResourcesRequest]) -> ListConfigResourcesResponse:
    asked = [CLIENT_METRICS] if request.version == 0 else request.body.resource_types
    wanted = dict.fromkeys(asked or KNOWN)
    if any(kind not in KNOWN for kind in wanted):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION.number)
    brokers = [str(id) for id in broker.image.brokers]
    names = {TOPIC: list(broker.image.topics), BROKER: brokers, BROKER_LOGGER: brokers}
    for kind in (CLIENT_METRICS, GROUP):
        names[kind] = [name for each, name in broker.image.configs if each == kind]
    return ListConfigResourcesResponse(
        config_resources=[ConfigResource(name, kind) for kind in wanted for name in names.get(kind, [])]
    )
