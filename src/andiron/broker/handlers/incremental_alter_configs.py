"""IncrementalAlterConfigs (key 44), versions 0-1: single settings of a resource.

The controller decides; the answer leaves when its decision is committed and in effect here.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.listeners import Scope
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

API = ApiKey.INCREMENTAL_ALTER_CONFIGS
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[IncrementalAlterConfigsRequest]) -> Wait:
    return broker.pass_on(request).or_else(partial(_refusal, request.body))


def _refusal(body: IncrementalAlterConfigsRequest, error: ProtocolError) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error.code.number, error.detail, resource.resource_type, resource.resource_name
            )
            for resource in body.resources
        ]
    )
