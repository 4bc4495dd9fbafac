"""ListGroups (key 16), versions 0-5: the groups that this broker coordinates.

A client that wants all groups of a cluster asks every broker.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slices import InSlices, nothing_before
from andiron.broker.node.waiting import Wait
from andiron.groups.listing import STATES, TYPES, existing_filters
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

API = ApiKey.LIST_GROUPS
SERVED = ADVERTISED = (0, 5)


def handle(broker: Broker, request: Request[ListGroupsRequest]) -> InSlices[Wait]:
    body = request.body
    body.states_filter = existing_filters(map(str.strip, body.states_filter), STATES)
    body.types_filter = existing_filters(body.types_filter, TYPES)
    asked = yield from broker.groups.run_on_all(request)
    return asked.and_then(_response).or_else(_refusal)


def _response(answers: list[ListGroupsResponse]) -> InSlices[ListGroupsResponse]:
    groups = [group for answer in answers for group in answer.groups]
    return nothing_before(ListGroupsResponse(groups=groups))


def _refusal(error: ProtocolError) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=error.code.number)
