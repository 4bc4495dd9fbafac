"""ListGroups (key 16), versions 0-5: the groups that this broker coordinates.

A client that wants all groups of a cluster asks every broker.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

API = ApiKey.LIST_GROUPS
SERVED = ADVERTISED = (0, 5)


def handle(broker: Broker, request: Request[ListGroupsRequest]) -> Wait:
    return broker.groups.run_on_all(request).and_then(_response).or_else(_refusal)


def _response(answers: list[ListGroupsResponse]) -> ListGroupsResponse:
    return ListGroupsResponse(groups=[group for answer in answers for group in answer.groups])


def _refusal(error: ProtocolError) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=error.code.number)
