"""JoinGroup: who is taken in, and how."""

from __future__ import annotations

import re

import pytest

from andiron.groups.classic.join import GROUP_BATCHES, uuid_text
from andiron.groups.classic.states import ClassicState
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.machine import Promise
from andiron.wire.codec import encode_message
from groups.classic import BATCH_MAX, DELAY_MS, SESSION_MS, Classic, answer, error_of, refusal


def completing(*instances: str | None) -> Classic:
    """A group whose members have joined and have not synced."""
    classic = Classic()
    for instance in instances:
        classic.arrive(instance=instance)
    classic.pass_time(2 * DELAY_MS)
    assert classic.group().state == ClassicState.COMPLETING_REBALANCE
    return classic


def stable(*instances: str | None, **settings: int) -> tuple[Classic, list[str]]:
    """A group whose members have their own names assigned."""
    classic = Classic(**settings)
    members = [classic.arrive(instance=instance)[0] for instance in instances]
    classic.pass_time(2 * DELAY_MS)
    classic.sync_all()
    assert classic.group().state == ClassicState.STABLE
    return classic, members


# ── newcomers ────────────────────────────────────────────────────────────────────────


def test_a_group_takes_no_newcomer_beyond_its_bound_on_protocol_metadata():
    classic = Classic()
    for _ in range(GROUP_BATCHES + 1):
        classic.arrive({"range": bytes(BATCH_MAX - 100)})

    assert error_of(classic.join()) is ErrorCode.GROUP_MAX_SIZE_REACHED
    classic.leave(*list(classic.group().members)[:2])
    assert error_of(classic.join()) is ErrorCode.MEMBER_ID_REQUIRED


def test_a_dynamic_member_is_sent_back_with_an_id_made_of_its_client_id():
    classic = Classic()

    response = classic.join(version=4)

    assert error_of(response) is ErrorCode.MEMBER_ID_REQUIRED
    assert re.fullmatch(
        r"client-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", response.member_id
    )
    assert list(classic.group().pending) == [response.member_id]
    assert isinstance(classic.join(response.member_id), Promise)
    assert list(classic.group().members) == [response.member_id]


def test_two_newcomers_get_different_member_ids():
    chance = Chance(1)

    assert uuid_text(chance) != uuid_text(chance)


@pytest.mark.parametrize("version", [0, 3])
def test_before_version_4_a_newcomer_is_taken_in_at_once(version):
    classic = Classic()

    assert isinstance(classic.join(version=version), Promise)
    assert len(classic.group().members) == 1


def test_a_static_member_is_taken_in_at_once_under_its_instance_id():
    classic = Classic()

    assert isinstance(classic.join(instance="i", version=5), Promise)
    (member,) = classic.group().members.values()
    assert member.id.startswith("i-")


def test_an_id_that_was_given_is_forgotten_when_its_session_ends():
    classic = Classic()
    member_id = classic.join().member_id

    classic.pass_time(SESSION_MS)

    assert not classic.context.groups, "nobody ever came"
    assert refusal(lambda: classic.join(member_id)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_the_first_version_has_no_rebalance_timeout_of_its_own():
    classic = Classic()

    classic.join(version=0, rebalance_ms=-1, session_ms=7000)
    (member,) = classic.group().members.values()

    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (7000, 7000)


def test_a_member_is_known_by_where_it_comes_from():
    classic = Classic()
    classic.arrive()
    (member,) = classic.group().members.values()

    assert (member.client_id, member.client_host) == ("client", "/1.2.3.4")


# ── refusals ─────────────────────────────────────────────────────────────────────────


def test_a_group_needs_a_name():
    assert refusal(lambda: Classic().join(group="")) is ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize("session_ms", [-1, 0, 5999, 1_800_001])
def test_a_session_is_within_the_bounds_of_the_broker(session_ms):
    classic = Classic()

    assert refusal(lambda: classic.join(session_ms=session_ms)) is ErrorCode.INVALID_SESSION_TIMEOUT
    assert refusal(lambda: classic.join(session_ms=6000)) is ErrorCode.MEMBER_ID_REQUIRED
    assert refusal(lambda: classic.join(session_ms=1_800_000)) is ErrorCode.MEMBER_ID_REQUIRED


def test_nobody_is_a_member_of_a_group_that_is_not_there():
    classic = Classic()

    assert refusal(lambda: classic.join("m")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert not classic.context.groups


def test_nobody_is_a_member_of_a_group_by_saying_so():
    classic, _ = stable(None)

    assert refusal(lambda: classic.join("m")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(lambda: classic.join("m", instance="i")) is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_id_given_to_a_dynamic_member_is_not_a_static_ones():
    classic = Classic()
    member_id = classic.join().member_id

    assert refusal(lambda: classic.join(member_id, instance="i")) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("protocols", "protocol_type"), [({}, "consumer"), ({"range": b""}, "")])
def test_a_group_does_not_begin_without_a_protocol(protocols, protocol_type):
    classic = Classic()

    code = refusal(lambda: classic.join("", protocols, protocol_type=protocol_type))

    assert code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert not classic.context.groups


@pytest.mark.parametrize(
    ("protocols", "protocol_type"),
    [({}, "consumer"), ({"range": b""}, "connect"), ({"other": b""}, "consumer")],
)
def test_members_have_a_protocol_in_common(protocols, protocol_type):
    classic, (member,) = stable(None)

    for member_id in ("", member):
        code = refusal(lambda id=member_id: classic.join(id, protocols, protocol_type=protocol_type))
        assert code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


# ── size ─────────────────────────────────────────────────────────────────────────────


def test_a_full_group_takes_nobody_in_but_its_members():
    classic, (first, second) = stable(None, None, group_max_size=2)

    assert refusal(classic.join) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert classic.join(second).generation_id == 1
    assert isinstance(classic.join(first), Promise)


def test_a_full_group_takes_a_static_member_back():
    classic, members = stable("i", "j", group_max_size=2)

    response = classic.join(instance="i")

    assert error_of(response) is ErrorCode.NONE
    assert response.member_id not in members
    assert refusal(lambda: classic.join(instance="k")) is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_while_a_group_rebalances_those_are_in_who_come_first():
    classic, (first, second) = stable(None, None, group_max_size=2)
    classic.join(first)
    waiting = classic.join(first)
    newcomer, promise = classic.arrive()
    assert not promise.kept

    assert refusal(lambda: classic.join(second)) is ErrorCode.GROUP_MAX_SIZE_REACHED

    assert list(classic.group().members) == [first, newcomer]
    assert answer(waiting).generation_id == answer(promise).generation_id == 2, "nobody else can come"


def test_nobody_loses_a_place_because_another_one_names_it():
    classic, (first, static) = stable(None, "i", group_max_size=1 << 30)
    classic.arrive()
    waiting = classic.join(first)
    classic.context.settings = type(classic.context.settings)(group_max_size=1)

    assert refusal(lambda: classic.join(first, instance="i")) is ErrorCode.GROUP_MAX_SIZE_REACHED

    assert first in classic.group().members and static in classic.group().members
    assert not waiting.kept


# ── members that join again ──────────────────────────────────────────────────────────


def test_a_follower_that_says_what_it_said_is_told_what_it_has_missed():
    classic, (leader, follower) = stable(None, None)

    response = classic.join(follower)

    assert (response.generation_id, response.leader, response.members) == (1, leader, [])
    assert classic.group().state == ClassicState.STABLE


def test_a_follower_that_says_something_else_begins_a_rebalance():
    classic, (_, follower) = stable(None, None)

    assert isinstance(classic.join(follower, {"range": b"other"}), Promise)
    assert classic.group().state == ClassicState.PREPARING_REBALANCE
    assert classic.group().members[follower].protocols == {"range": b"other"}


def test_a_leader_that_joins_again_begins_a_rebalance():
    classic, (leader, _) = stable(None, None)

    assert isinstance(classic.join(leader), Promise)
    assert classic.group().state == ClassicState.PREPARING_REBALANCE


def test_a_member_alone_that_joins_again_is_the_next_generation_at_once():
    classic, (leader,) = stable(None)

    response = classic.join(leader, session_ms=7000, rebalance_ms=8000)

    assert response.generation_id == 2
    member = classic.group().members[leader]
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (7000, 8000)


def test_before_all_have_synced_a_member_that_says_what_it_said_is_told_again():
    classic = completing(None, None)
    leader, follower = classic.group().members

    again = classic.join(leader)

    assert (again.generation_id, len(again.members)) == (1, 2)
    assert classic.join(follower).members == []
    assert classic.group().state == ClassicState.COMPLETING_REBALANCE


def test_before_all_have_synced_a_member_that_says_something_else_begins_a_rebalance():
    classic = completing(None, None)
    leader, follower = classic.group().members
    waiting = classic.sync(leader, 1) if classic.group().leader != leader else classic.sync(follower, 1)

    assert isinstance(classic.join(leader, {"range": b"other"}), Promise)

    assert error_of(answer(waiting)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert classic.group().state == ClassicState.PREPARING_REBALANCE


# ── static members ───────────────────────────────────────────────────────────────────


def test_a_static_follower_comes_back_without_a_rebalance():
    classic, (leader, follower) = stable("i", "j")

    response = classic.join(instance="j")

    assert (response.generation_id, response.leader, response.skip_assignment) == (1, leader, False)
    assert response.member_id.startswith("j-") and response.member_id != follower
    assert classic.sync(response.member_id, 1, instance="j").assignment == follower.encode()
    assert classic.heartbeat(leader, 1) is ErrorCode.NONE


def test_a_static_member_that_came_back_is_written():
    classic, (_, follower) = stable("i", "j")
    written_before = len(classic.log)

    response = classic.join(instance="j", session_ms=7000)

    (record,) = classic.log[written_before:]
    static = next(each for each in record.value.members if each.group_instance_id == "j")
    assert (static.member_id, static.assignment) == (response.member_id, follower.encode())
    assert static.session_timeout == 7000
    assert classic.made_again().heartbeat(response.member_id, 1, instance="j") is ErrorCode.NONE


def test_a_static_leader_comes_back_and_need_not_assign():
    classic, (_, follower) = stable("i", "j")

    response = classic.join(instance="i", version=9)

    assert response.leader == response.member_id == classic.group().leader
    assert response.skip_assignment
    assert {each.member_id for each in response.members} == {response.member_id, follower}


def test_a_static_leader_that_cannot_skip_the_assignment_is_told_that_it_follows():
    classic, (leader, _) = stable("i", "j")

    response = classic.join(instance="i", version=8)

    assert (response.leader, response.members, response.skip_assignment) == (leader, [], False)
    assert classic.group().leader == response.member_id
    assert all(encode_message(response, version) for version in range(5, 9))


def test_who_a_static_member_was_before_is_fenced():
    classic, (leader, former) = stable("i", "j")
    classic.join(instance="j")

    for ask in (
        lambda: classic.heartbeat(former, 1, instance="j"),
        lambda: classic.sync(former, 1, instance="j"),
        lambda: classic.join(former, instance="j"),
    ):
        assert refusal(ask) is ErrorCode.FENCED_INSTANCE_ID
    assert refusal(lambda: classic.heartbeat(former, 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert classic.heartbeat(leader, 1, instance="i") is ErrorCode.NONE


def test_who_a_static_member_was_before_has_no_session_any_more():
    classic, (_, former) = stable("i", "j")
    classic.pass_time(SESSION_MS - 1)
    response = classic.join(instance="j")

    classic.pass_time(SESSION_MS - 1)

    assert response.member_id in classic.group().members
    assert former not in classic.group().members


def test_who_a_static_member_was_before_need_not_wait_to_join_any_longer():
    classic, (_, former) = stable("i", "j")
    classic.arrive()
    waiting = classic.join(former, instance="j")

    again = classic.join(instance="j")

    assert error_of(answer(waiting)) is ErrorCode.FENCED_INSTANCE_ID
    assert isinstance(again, Promise)
    assert classic.group().joining == 2


def test_who_a_static_member_was_before_need_not_wait_to_sync_any_longer():
    classic = completing("i", "j")
    _, former = classic.group().members
    waiting = classic.sync(former, 1, instance="j")

    again = classic.join(instance="j")

    assert error_of(answer(waiting)) is ErrorCode.FENCED_INSTANCE_ID
    assert isinstance(again, Promise)
    assert classic.group().state == ClassicState.PREPARING_REBALANCE


def test_a_static_member_that_changes_the_protocol_begins_a_rebalance():
    classic = Classic()
    likes_robin = {"robin": b"b", "range": b"r"}
    classic.arrive(instance="i"), classic.arrive(likes_robin, instance="j")
    classic.pass_time(2 * DELAY_MS)
    classic.sync_all()
    written_before = len(classic.log)

    assert isinstance(classic.join("", likes_robin, instance="i"), Promise)

    assert classic.group().state == ClassicState.PREPARING_REBALANCE
    assert len(classic.log) == written_before


def test_a_static_member_whose_session_ended_is_new():
    classic, _ = stable("i", "j")
    classic.pass_time(SESSION_MS)

    assert isinstance(classic.join(instance="j"), Promise)
    assert classic.group().generation == 2


def test_a_static_member_that_had_not_synced_before_it_came_back_is_not_left_out():
    classic = completing("i", "j")
    leader, follower = classic.group().members
    classic.sync(leader, 1, {leader: b"1", follower: b"2"}, instance="i")
    response = classic.join(instance="j")

    for _ in range(10):
        classic.pass_time(SESSION_MS - 1000)
        assert classic.heartbeat(response.member_id, 1) is classic.heartbeat(leader, 1) is ErrorCode.NONE
