"""DescribeGroups (key 15), versions 0-6: state and members of classic groups.

Each group is asked for by itself, and one that cannot be told of has its error in its own entry. One that is named
twice is told of once, where Kafka does it twice.
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
from andiron.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

API = ApiKey.DESCRIBE_GROUPS
SERVED = ADVERTISED = (0, 6)
ENTRIES_MAX = 50_000


def handle(broker: Broker, request: Request[DescribeGroupsRequest]) -> InSlices[Wait]:
    named = dict.fromkeys(request.body.groups)
    answers = Wait.all((yield from each(named, partial(_ask, broker, request), SIZES.described_groups)))
    return answers.and_then(partial(_response, request.body))


def _ask(broker: Broker, request: Request[DescribeGroupsRequest], group_id: str) -> DescribedGroup | Wait:
    asked = DescribeGroupsRequest([group_id])
    described = broker.groups.run(group_id, request, asked).or_else(partial(_refusal, group_id))
    answer: DescribedGroup | Wait = described.settled()
    return answer


def _response(body: DescribeGroupsRequest, groups: list[DescribedGroup]) -> DescribeGroupsResponse:
    if body.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE.number:
                group.authorized_operations = ON_GROUPS
    return DescribeGroupsResponse(groups=groups)


def _refusal(group_id: str, error: ProtocolError) -> DescribedGroup:
    return DescribedGroup(error.code.number, error.detail, group_id)
