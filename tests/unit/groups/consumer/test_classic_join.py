"""JoinGroup to a consumer group."""

from __future__ import annotations

from andiron.groups.classic.group import ClassicGroup
from andiron.model.errors import ErrorCode
from andiron.wire.messages.join_group import JoinGroupRequestProtocol
from groups.consumers import GROUP, Consumer, Coordinator, OldConsumer, settle


def consumer_group(**settings) -> tuple[Coordinator, Consumer]:
    """With one member that speaks the new protocol and holds everything."""
    coordinator = Coordinator(**settings)
    member = Consumer(coordinator, "n", "t")
    settle(member)
    return coordinator, member


def refusal(coordinator: Coordinator, old: OldConsumer, **fields) -> ErrorCode:
    return coordinator.refusal(old.request(**fields), 9)


def test_a_newcomer_is_given_an_id_first():
    coordinator, _ = consumer_group()

    response = coordinator.ask(OldConsumer(coordinator, "t").request(), 9)

    assert (response.error_code, len(response.member_id)) == (ErrorCode.MEMBER_ID_REQUIRED.number, 22)
    assert coordinator.written == []


def test_before_version_4_a_classic_newcomer_joins_at_once():
    coordinator, _ = consumer_group()

    response = coordinator.ask(OldConsumer(coordinator, "t").request(), 3)

    assert response.error_code == 0
    assert response.member_id in coordinator.group.members


def test_a_classic_join_is_answered_at_once_with_the_member_epoch_as_generation():
    coordinator, _ = consumer_group()
    old = OldConsumer(coordinator, "t")

    response = old.join()

    assert (response.generation_id, response.protocol_type, response.protocol_name) == (
        3,
        "consumer",
        "range",
    )
    assert (response.leader, response.members) == ("", [])
    assert coordinator.group.members[old.id].is_classic


def test_in_version_0_the_session_timeout_is_the_rebalance_timeout():
    coordinator, _ = consumer_group()

    response = coordinator.ask(OldConsumer(coordinator, "t").request(rebalance_timeout_ms=-1), 0)

    assert coordinator.group.members[response.member_id].profile.rebalance_timeout_ms == 10_000


def test_a_member_without_anything_in_common_is_refused():
    coordinator, _ = consumer_group()
    first, second = OldConsumer(coordinator, "t"), OldConsumer(coordinator, "t")
    first.join()
    (spoken,) = second.request().protocols
    other = [JoinGroupRequestProtocol("robin", spoken.metadata)]

    assert refusal(coordinator, second, protocols=other) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refusal(coordinator, second, protocols=[]) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refusal(coordinator, second, protocol_type="connect") is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refusal(coordinator, second, protocols=[*other, spoken]) is ErrorCode.MEMBER_ID_REQUIRED


def test_a_subscription_that_cannot_be_read_is_refused():
    coordinator, _ = consumer_group()
    garbage = [JoinGroupRequestProtocol("range", b"\0")]

    code = refusal(coordinator, OldConsumer(coordinator, "t"), member_id="x", protocols=garbage)

    assert code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_session_timeouts_and_the_size_of_the_group_have_bounds():
    coordinator, _ = consumer_group(group_consumer_max_size=1)
    old = OldConsumer(coordinator, "t")

    assert refusal(coordinator, old, session_timeout_ms=1) is ErrorCode.INVALID_SESSION_TIMEOUT
    assert refusal(coordinator, old) is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_where_groups_keep_to_one_protocol_nobody_joins_this_way():
    coordinator, _ = consumer_group(group_consumer_migration_policy="disabled")

    assert refusal(coordinator, OldConsumer(coordinator, "t")) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_static_member_takes_the_place_of_its_former_self():
    coordinator, new = consumer_group()
    first = OldConsumer(coordinator, "t", instance_id="i")
    first.join()
    first.sync()
    settle(new)
    first.rejoin()
    had, epoch = first.owned, coordinator.group.epoch

    again = OldConsumer(coordinator, "t", instance_id="i")
    again.join()
    again.sync()

    assert again.id != first.id
    assert (again.owned, coordinator.group.epoch) == (had, epoch)
    assert first.beat() is ErrorCode.FENCED_INSTANCE_ID
    assert refusal(coordinator, first) is ErrorCode.FENCED_INSTANCE_ID


def test_when_it_replaces_the_last_one_that_spoke_the_new_protocol_the_group_is_a_classic_one():
    coordinator = Coordinator()
    new = Consumer(coordinator, "n", "t", instance_id="i")
    settle(new)

    old = OldConsumer(coordinator, "t", instance_id="i")
    response = old.join()

    assert isinstance(coordinator.groups[GROUP], ClassicGroup)
    assert response.generation_id == coordinator.groups[GROUP].generation == 2
    old.sync()
    assert old.owned == {"t": [0, 1, 2, 3]}
    assert old.beat() is ErrorCode.NONE
    assert coordinator.refusal(new.request()) is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_downgraded_group_rebalances_if_its_targets_are_out_of_date():
    coordinator = Coordinator()
    new = Consumer(coordinator, "n", "t", instance_id="i")
    settle(new)
    coordinator.topics.put("t", 6)

    old = OldConsumer(coordinator, "t", instance_id="i")
    old.join()

    assert coordinator.groups[GROUP].state == "PreparingRebalance"
    coordinator.reload()
    assert coordinator.groups[GROUP].state == "Stable"
