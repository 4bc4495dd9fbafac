"""AlterConfigs (key 33), versions 0-2: all settings of a resource, replaced.

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
from andiron.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

API = ApiKey.ALTER_CONFIGS
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[AlterConfigsRequest]) -> Wait:
    return broker.pass_on(request).or_else(partial(_refusal, request.body))


def _refusal(body: AlterConfigsRequest, error: ProtocolError) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error.code.number, error.detail, resource.resource_type, resource.resource_name
            )
            for resource in body.resources
        ]
    )
