"""IncrementalAlterConfigs (key 44), versions 0-1: single settings of a resource.

The controller decides; the answer leaves when its decision is committed and in effect here. The loggers of this
broker (loggers.py) are its own business, and nobody else is asked.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.broker.settings.loggers import alter
from andiron.controller.configs import BROKER_LOGGER
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

API = ApiKey.INCREMENTAL_ALTER_CONFIGS
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.BOTH


def handle(
    broker: Broker, request: Request[IncrementalAlterConfigsRequest]
) -> Wait | IncrementalAlterConfigsResponse:
    body = request.body
    own = [each for each in body.resources if each.resource_type == BROKER_LOGGER]
    if not own:
        return broker.pass_on(request).or_else(partial(_refusal, body))
    here = [_alter_loggers(broker, each, body.validate_only) for each in own]
    body.resources = [each for each in body.resources if each.resource_type != BROKER_LOGGER]
    if not body.resources:
        return IncrementalAlterConfigsResponse(responses=here)
    return broker.pass_on(request).or_else(partial(_refusal, body)).and_then(partial(_joined, here))


def _alter_loggers(
    broker: Broker, resource: AlterConfigsResource, validate_only: bool
) -> AlterConfigsResourceResponse:
    result = AlterConfigsResourceResponse(0, None, resource.resource_type, resource.resource_name)
    try:
        if resource.resource_name != str(broker.settings.node_id):
            raise ErrorCode.INVALID_REQUEST.error(
                f"this is broker {broker.settings.node_id}, not {resource.resource_name!r}: ask that one"
            )
        alter(resource.configs, validate_only=validate_only)
    except ProtocolError as error:
        result.error_code, result.error_message = error.code.number, error.detail
    return result


def _joined(
    here: list[AlterConfigsResourceResponse], response: IncrementalAlterConfigsResponse
) -> IncrementalAlterConfigsResponse:
    response.responses += here
    return response


def _refusal(body: IncrementalAlterConfigsRequest, error: ProtocolError) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error.code.number, error.detail, resource.resource_type, resource.resource_name
            )
            for resource in body.resources
        ]
    )
