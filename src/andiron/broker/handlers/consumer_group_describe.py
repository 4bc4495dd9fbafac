"""ConsumerGroupDescribe (key 69), versions 0-1: state and members of groups that assign on the broker.

One entry for each group asked for, always: librdkafka aborts its application on an answer without any. A group of
the classic protocol is not found here, and clients then ask DescribeGroups.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.operations import ON_GROUPS
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)

API = ApiKey.CONSUMER_GROUP_DESCRIBE
SERVED = ADVERTISED = (0, 1)
ENTRIES_MAX = 50_000


def handle(broker: Broker, request: Request[ConsumerGroupDescribeRequest]) -> InSlices[Wait]:
    named = dict.fromkeys(request.body.group_ids)
    answers = Wait.all((yield from each(named, partial(_ask, broker, request), SIZES.described_groups)))
    return answers.and_then(partial(_response, request.body))


def _ask(
    broker: Broker, request: Request[ConsumerGroupDescribeRequest], group_id: str
) -> DescribedGroup | Wait:
    asked = ConsumerGroupDescribeRequest([group_id])
    described = broker.groups.run(group_id, request, asked).or_else(partial(_refusal, group_id))
    answer: DescribedGroup | Wait = described.settled()
    return answer


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
