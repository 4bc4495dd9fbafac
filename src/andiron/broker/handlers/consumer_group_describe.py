"""ConsumerGroupDescribe (key 69), versions 0-1: state and members of groups that assign on the broker.

One entry for each group asked for, always: librdkafka aborts its application on an answer without any. A group of
the classic protocol is not found here, and clients then ask DescribeGroups.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.operations import ON_GROUPS
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)

API = ApiKey.CONSUMER_GROUP_DESCRIBE
SERVED = ADVERTISED = (0, 1)


def handle(broker: Broker, request: Request[ConsumerGroupDescribeRequest]) -> Wait:
    answers = Wait.all([_ask(broker, request, group_id) for group_id in request.body.group_ids])
    return answers.and_then(partial(_response, request.body))


def _ask(broker: Broker, request: Request[ConsumerGroupDescribeRequest], group_id: str) -> Wait:
    asked = ConsumerGroupDescribeRequest([group_id])
    return broker.groups.run(group_id, request, asked).or_else(partial(_refusal, group_id))


def _response(
    body: ConsumerGroupDescribeRequest, groups: list[DescribedGroup]
) -> ConsumerGroupDescribeResponse:
    if body.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE.number:
                group.authorized_operations = ON_GROUPS
    return ConsumerGroupDescribeResponse(groups=groups)


def _refusal(group_id: str, error: ProtocolError) -> DescribedGroup:
    return DescribedGroup(error.code.number, error.detail, group_id)
