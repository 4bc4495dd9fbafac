"""What is asked about groups, of whom, and how refusals come back. Against real brokers: tests/cli."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.descriptions import EARLIEST
from andiron.client.core.group_descriptions import CommittedOffset, GroupListing
from andiron.client.core.lag import Lag
from andiron.client.core.offset_reset import Move, Target
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from unit.client.coordinating import Coordinating
from unit.client.logs import Logs
from unit.client.scripted import NODE_ID, ScriptedBroker

P0, P1, GONE = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("gone", 0)
NOW = 5_000


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    return Coordinating(broker)


@pytest.fixture
def admin(broker: ScriptedBroker, coordinating: Coordinating) -> Iterator[GroupAdmin]:
    with Client(broker.bootstrap, ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)) as client:
        yield GroupAdmin(client)


def at(offset: int) -> CommittedOffset:
    return CommittedOffset(offset, -1, "")


def refused(error: pytest.ExceptionInfo[ProtocolError]) -> ErrorCode:
    return error.value.code


def test_groups_are_asked_of_every_broker_and_come_by_name(
    coordinating: Coordinating, admin: GroupAdmin
) -> None:
    coordinating.consumer_group("b", "Stable")
    coordinating.classic_group("a")

    assert admin.groups() == [
        GroupListing("a", "classic", "consumer", "Empty", NODE_ID),
        GroupListing("b", "consumer", "consumer", "Stable", NODE_ID),
    ]
    assert [each.id for each in admin.groups(states=["Stable"])] == ["b"]
    assert [each.id for each in admin.groups(types=["classic"])] == ["a"]


def test_a_list_waits_for_a_coordinator_that_loads(coordinating: Coordinating, admin: GroupAdmin) -> None:
    coordinating.errors[ApiKey.LIST_GROUPS] = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.number]

    assert admin.groups() == []


@pytest.mark.parametrize(("last", "filters"), [(3, {"states": ["Empty"]}), (4, {"types": ["classic"]})])
def test_a_filter_that_a_broker_would_not_mind_is_refused(
    broker: ScriptedBroker, admin: GroupAdmin, last: int, filters: dict[str, list[str]]
) -> None:
    broker.versions[ApiKey.LIST_GROUPS] = (0, last)

    assert admin.groups() == []
    with pytest.raises(Refused, match=f"needs ListGroups {last + 1}"):
        admin.groups(**filters)


def test_a_group_is_described_by_the_new_protocol_if_it_is_of_it(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    coordinating.consumer_group("g", "Stable")
    group = admin.describe("g")

    assert (group.type, group.state, group.coordinator.id) == ("consumer", "Stable", NODE_ID)
    assert broker.requests("DescribeGroups") == []


def test_a_classic_group_is_described_by_the_older_api(coordinating: Coordinating, admin: GroupAdmin) -> None:
    coordinating.classic_group("g", "Stable", m1=[0], m2=[1])
    group = admin.describe("g")

    assert (group.type, group.assignor) == ("classic", "range")
    assert [(each.id, each.partitions) for each in group.members] == [("m1", [P0]), ("m2", [P1])]


def test_a_broker_without_the_new_protocol_is_asked_the_old_way(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    del broker.versions[ApiKey.CONSUMER_GROUP_DESCRIBE]
    coordinating.classic_group("g")

    assert admin.describe("g").type == "classic"


@pytest.mark.parametrize("last", [6, 5])
def test_a_group_that_is_not_there_is_refused_by_any_broker(
    broker: ScriptedBroker, admin: GroupAdmin, last: int
) -> None:
    broker.versions[ApiKey.DESCRIBE_GROUPS] = (0, last)

    with pytest.raises(Refused, match="there is no") as caught:
        admin.describe("nosuch")
    assert refused(caught) is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("kind", ["share", "streams"])
@pytest.mark.parametrize("last", [5, 4])  # which does not tell types
def test_a_group_that_is_not_one_of_consumers_is_described_as_it_is_listed(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin, kind: str, last: int
) -> None:
    broker.versions[ApiKey.LIST_GROUPS] = (0, last)
    coordinating.unserved["g"] = kind
    group = admin.describe("g")

    assert (group.type, group.state, group.members, group.coordinator.id) == (kind, "Empty", [], NODE_ID)
    assert not group.is_of_consumers


@pytest.mark.parametrize("last", [10, 9, 7])
def test_committed_offsets_are_read_in_every_form(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin, last: int
) -> None:
    broker.versions[ApiKey.OFFSET_FETCH] = (1, last)
    coordinating.committed["g"] = {"t": {0: 5, 1: -1}}

    assert admin.committed("g") == {P0: at(5)}


def test_stable_offsets_are_waited_for(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    coordinating.committed["g"] = {"t": {0: 5}}
    coordinating.errors[ApiKey.OFFSET_FETCH] = [ErrorCode.UNSTABLE_OFFSET_COMMIT.number]

    assert admin.committed("g", stable=True) == {P0: at(5)}
    assert [request.require_stable for request in broker.requests("OffsetFetch")] == [True, True]
    admin.committed("g")
    assert not broker.requests("OffsetFetch")[-1].require_stable


def test_a_broker_that_does_not_wait_is_not_asked_for_stable_offsets(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    broker.versions[ApiKey.OFFSET_FETCH] = (1, 6)

    with pytest.raises(Refused, match="waiting for stable offsets needs OffsetFetch 7"):
        admin.committed("g", stable=True)


def test_metadata_is_kept_with_the_offsets(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    admin.commit("g", {P0: 1, P1: 2}, "batch 7")

    (request,) = broker.requests("OffsetCommit")
    assert {each.committed_metadata for each in request.topics[0].partitions} == {"batch 7"}


def test_lag_is_known_as_far_as_it_can_be(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    Logs(broker).write(0, b"a", b"b", b"c")
    coordinating.committed["g"] = {"t": {0: 1}, "gone": {0: 7}}

    coordinating.classic_group("g", "Stable", m1=[1])

    assert admin.lag(admin.describe("g"), NOW) == {
        GONE: Lag(at(7), None, None, None),
        P0: Lag(at(1), 3, 2, NOW - 1000),
        P1: Lag(None, 0, None, None, unread=0),
    }


def test_without_a_lag_nothing_is_fetched(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    Logs(broker).write(0, b"a")
    coordinating.committed["g"] = {"t": {0: 1}}

    coordinating.classic_group("g")

    assert admin.lag(admin.describe("g"), NOW)[P0] == Lag(at(1), 1, 0, 0)
    assert broker.requests("Fetch") == []


def test_a_reset_is_planned_and_then_committed_by_nobody(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    Logs(broker).write(0, b"a", b"b", b"c")
    coordinating.committed["g"] = {"t": {0: 3}}
    moves = admin.plan_reset("g", [P0, P1], Target(time=EARLIEST))

    assert moves == [Move(P0, 3, 0), Move(P1, None, 0)]
    assert coordinating.committed["g"] == {"t": {0: 3}}
    admin.commit("g", {move.partition: move.after for move in moves})
    assert coordinating.committed["g"] == {"t": {0: 0, 1: 0}}
    (request,) = broker.requests("OffsetCommit")
    assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")


def test_offsets_of_a_group_with_members_are_not_touched(
    coordinating: Coordinating, admin: GroupAdmin
) -> None:
    coordinating.classic_group("g", "Stable", m=[0])

    with pytest.raises(Refused, match="group 'g' has members") as caught:
        admin.commit("g", {P0: 1})
    assert refused(caught) is ErrorCode.NON_EMPTY_GROUP


def test_an_offset_of_a_partition_that_is_not_there_is_refused(
    coordinating: Coordinating, admin: GroupAdmin
) -> None:
    coordinating.errors[ApiKey.OFFSET_COMMIT] = [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number]

    with pytest.raises(Refused, match="there is no partition gone-0"):
        admin.commit("g", {GONE: 1})


def test_offsets_are_forgotten(coordinating: Coordinating, admin: GroupAdmin) -> None:
    coordinating.committed["g"] = {"t": {0: 3, 1: 4}}
    admin.delete_offsets("g", [P1])
    assert admin.committed("g") == {P0: at(3)}

    coordinating.errors[ApiKey.OFFSET_DELETE] = [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC.number]
    with pytest.raises(Refused, match="partition t-0: the group is subscribed"):
        admin.delete_offsets("g", [P0])


def test_a_group_is_deleted_if_it_has_no_members(coordinating: Coordinating, admin: GroupAdmin) -> None:
    coordinating.classic_group("empty")
    coordinating.classic_group("busy", "Stable", m=[0])
    admin.delete("empty")

    assert [each.id for each in admin.groups()] == ["busy"]
    with pytest.raises(Refused) as caught:
        admin.delete("busy")
    assert refused(caught) is ErrorCode.NON_EMPTY_GROUP


def test_a_member_is_removed_by_its_id_or_its_instance(
    broker: ScriptedBroker, coordinating: Coordinating, admin: GroupAdmin
) -> None:
    coordinating.classic_group("g", "Stable", m=[0])
    admin.remove_member("g", "m")
    admin.remove_member("g", instance_id="static")

    gone = [each for request in broker.requests("LeaveGroup") for each in request.members]
    assert [(each.member_id, each.group_instance_id) for each in gone] == [("m", None), ("", "static")]
    with pytest.raises(Refused, match="group 'g', member 'x'"):
        admin.remove_member("g", "x")
