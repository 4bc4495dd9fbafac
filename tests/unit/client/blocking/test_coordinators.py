"""Which broker is asked about a group or a transactional id, and what happens when it is not there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.coordinators import Coordinators, CoordinatorType
from andiron.client.core.answer_errors import check_error
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, Refused, StaleMetadata
from andiron.wire.apis import ApiKey
from andiron.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from andiron.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from unit.client.coordinating import Coordinating
from unit.client.scripted import NODE_ID, ScriptedBroker

QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)
IMPATIENT = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1, default_api_timeout_ms=20)
NOT_AVAILABLE, LOADING, NOT_COORDINATOR = 15, 14, 16


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    return Coordinating(broker)


@pytest.fixture
def coordinators(broker: ScriptedBroker) -> Iterator[Coordinators]:
    with Client(broker.bootstrap, QUICK) as client:
        yield Coordinators(client, CoordinatorType.GROUP)


def deleted(error: int) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[DeletableGroupResult("g", error)])


def delete(coordinators: Coordinators) -> None:
    def check(answer: DeleteGroupsResponse) -> None:
        check_error(answer.results[0].error_code, None, "group 'g'")

    coordinators.call("g", DeleteGroupsRequest(["g"]), DeleteGroupsResponse, check)


def test_a_coordinator_is_looked_for_once(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    broker.on(ApiKey.DELETE_GROUPS, lambda request: deleted(0))
    delete(coordinators)
    delete(coordinators)

    (request,) = broker.requests("FindCoordinator")
    assert (request.coordinator_keys, request.key_type) == (["g"], CoordinatorType.GROUP)
    assert coordinators.find("g").id == NODE_ID


def test_old_brokers_are_asked_for_one_key(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    broker.versions[ApiKey.FIND_COORDINATOR] = (0, 3)

    assert coordinators.find("g").id == NODE_ID
    assert broker.requests("FindCoordinator")[0].key == "g"


def test_there_may_be_no_coordinator_for_a_moment(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    coordinating.errors[ApiKey.FIND_COORDINATOR] = [NOT_AVAILABLE, LOADING]

    assert coordinators.find("g").id == NODE_ID
    assert len(broker.requests("FindCoordinator")) == 3


def test_one_that_has_moved_is_looked_for_again(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    broker.on(ApiKey.DELETE_GROUPS, lambda request: deleted(NOT_COORDINATOR), lambda request: deleted(0))
    delete(coordinators)

    assert len(broker.requests("FindCoordinator")) == 2


def test_one_that_loads_is_asked_again_and_not_looked_for(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    broker.on(ApiKey.DELETE_GROUPS, lambda request: deleted(LOADING), lambda request: deleted(0))
    delete(coordinators)

    assert len(broker.requests("FindCoordinator")) == 1
    assert len(broker.requests("DeleteGroups")) == 2


def test_a_lost_connection_is_a_reason_to_look_again(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    broker.on(ApiKey.DELETE_GROUPS, lambda request: None, lambda request: deleted(0))
    delete(coordinators)

    assert len(broker.requests("FindCoordinator")) == 2


def test_a_refusal_is_raised_at_once(
    broker: ScriptedBroker, coordinating: Coordinating, coordinators: Coordinators
) -> None:
    broker.on(ApiKey.DELETE_GROUPS, lambda request: deleted(ErrorCode.NON_EMPTY_GROUP.number))

    with pytest.raises(Refused, match="group 'g': the group has members"):
        delete(coordinators)


def test_one_that_is_not_in_the_cluster_is_waited_for(broker: ScriptedBroker) -> None:
    absent = FindCoordinatorResponse(coordinators=[Coordinator("g", 9, "elsewhere", 1)])
    broker.on(ApiKey.FIND_COORDINATOR, lambda request: absent)
    with (
        Client(broker.bootstrap, IMPATIENT) as client,
        pytest.raises(StaleMetadata, match="'g' is kept by broker 9"),
    ):
        Coordinators(client, CoordinatorType.TRANSACTION).find("g")


def test_patience_ends_with_the_brokers_reason(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.errors[ApiKey.FIND_COORDINATOR] = [NOT_AVAILABLE] * 1000
    with (
        Client(broker.bootstrap, IMPATIENT) as client,
        pytest.raises(StaleMetadata, match="transactional id 'x': there is no coordinator"),
    ):
        Coordinators(client, CoordinatorType.TRANSACTION).find("x")
