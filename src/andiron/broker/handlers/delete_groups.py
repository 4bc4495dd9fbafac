"""DeleteGroups (key 42), versions 0-2: groups without members are forgotten, with their offsets."""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

API = ApiKey.DELETE_GROUPS
SERVED = ADVERTISED = (0, 2)


def handle(broker: Broker, request: Request[DeleteGroupsRequest]) -> InSlices[Wait]:
    named = dict.fromkeys(request.body.groups_names)
    answers = Wait.all((yield from each(named, partial(_ask, broker, request), SIZES.deleted_groups)))
    return answers.and_then(lambda results: DeleteGroupsResponse(results=results))


def _ask(broker: Broker, request: Request[DeleteGroupsRequest], group_id: str) -> DeletableGroupResult | Wait:
    asked = DeleteGroupsRequest([group_id])
    deleted = broker.groups.run(group_id, request, asked).or_else(partial(_refusal, group_id))
    answer: DeletableGroupResult | Wait = deleted.settled()
    return answer


def _refusal(group_id: str, error: ProtocolError) -> DeletableGroupResult:
    return DeletableGroupResult(group_id, error.code.number)
