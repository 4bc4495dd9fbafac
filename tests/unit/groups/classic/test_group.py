"""The tables of a classic group, and what anybody may ask of one."""

from __future__ import annotations

import pytest

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.states import ClassicState, GroupEvent
from andiron.groups.group import Caller, Group
from andiron.groups.records import GroupMetadataKey, GroupRecord
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis
from andiron.model.invariant import BrokenInvariant
from andiron.model.timers import Timers
from andiron.wire.consumer_protocol import Subscription, versioned_bytes

RANGE, ROBIN = {"range": b"r"}, {"range": b"r", "robin": b"b"}


def member(id: str, protocols: dict[str, bytes] | None = None, instance: str | None = None, **given):
    given = {"rebalance_timeout_ms": 60, "session_timeout_ms": 10, **given}
    protocols = RANGE if protocols is None else protocols
    return ClassicMember(id, instance, "client", "/host", protocols=protocols, **given)


def group_of(
    *members: ClassicMember, state: str = ClassicState.STABLE, protocol_type: str = "consumer"
) -> ClassicGroup:
    group = ClassicGroup("g", Timers(), Millis(100))
    for each in members:
        group.add(each, protocol_type)
    if members:
        group.state = ClassicState.PREPARING_REBALANCE
        group.begin_generation(Millis(100))
    group.state = state
    return group


def refusal(group: ClassicGroup, caller: Caller, transactional: bool = False) -> ErrorCode:
    try:
        group.check_commit(caller, transactional=transactional, version=9)
    except ProtocolError as error:
        return error.code
    return ErrorCode.NONE


# ── members ──────────────────────────────────────────────────────────────────────────


def test_the_first_member_leads_and_says_what_kind_of_group_it_is():
    group = group_of(member("a"), member("b"), protocol_type="connect")

    assert group.leader == "a"
    assert group.protocol_type == "connect"


def test_when_the_leader_goes_the_next_member_leads_and_then_nobody():
    group = group_of(member("a"), member("b"))

    group.remove("a")
    assert group.leader == "b"
    group.remove("b")
    assert group.leader is None


def test_a_static_member_is_found_by_its_instance_until_it_goes():
    static = member("a", instance="i")
    group = group_of(static)

    assert group.static_member("i") is static
    group.remove("a")
    assert group.static_member("i") is None
    assert group.static_member(None) is None


def test_a_static_member_under_another_id_leads_if_it_led():
    group = group_of(member("a", instance="i"), member("b"))

    group.rename(group.members["a"], "a2")

    assert group.leader == "a2"
    assert set(group.members) == {"a2", "b"}
    assert group.static_member("i").id == "a2"


def test_a_request_with_an_unknown_member_id_is_refused():
    group = group_of(member("a", instance="i"), member("b"))

    assert group.check_member("a", "i").id == "a"
    assert group.check_member("a", None).id == "a"
    for member_id, instance, code in [
        ("x", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", "j", ErrorCode.UNKNOWN_MEMBER_ID),
        ("b", "i", ErrorCode.FENCED_INSTANCE_ID),
    ]:
        with pytest.raises(ProtocolError) as refused:
            group.check_member(member_id, instance)
        assert refused.value.code is code


# ── protocols ────────────────────────────────────────────────────────────────────────


def test_an_empty_group_supports_anything_that_has_a_name():
    group = group_of(state=ClassicState.EMPTY)

    assert group.supports("consumer", RANGE)
    assert not group.supports("", RANGE)
    assert not group.supports("consumer", {})


def test_a_group_supports_who_has_a_protocol_in_common_with_all():
    group = group_of(member("a", ROBIN), member("b", RANGE))

    assert group.supports("consumer", {"x": b"", "range": b""})
    assert not group.supports("consumer", {"robin": b""})
    assert not group.supports("connect", RANGE)
    assert not group.supports("consumer", {})


def test_a_protocol_that_only_former_members_lacked_is_supported():
    group = group_of(member("a", ROBIN), member("b", RANGE), member("c", RANGE))

    group.remove("b")
    assert not group.supports("consumer", {"robin": b""})
    group.update(group.members["c"], ROBIN)
    assert group.supports("consumer", {"robin": b""})


def test_the_protocol_that_most_like_best_is_chosen():
    likes_robin = {"robin": b"", "range": b""}

    assert (
        group_of(member("a", ROBIN), member("b", likes_robin), member("c", likes_robin)).protocol == "robin"
    )
    assert group_of(member("a", ROBIN), member("b", likes_robin)).protocol == "range"


def test_nobody_gets_a_protocol_that_not_all_support():
    likes_robin = {"robin": b"", "range": b""}

    assert (
        group_of(member("a", likes_robin), member("b", likes_robin), member("c", RANGE)).protocol == "range"
    )


def test_a_rebalance_waits_for_the_longest_rebalance_timeout():
    assert group_of(member("a"), member("b", rebalance_timeout_ms=99)).rebalance_timeout_ms == 99
    assert group_of(state=ClassicState.EMPTY).rebalance_timeout_ms == 0


# ── generations ──────────────────────────────────────────────────────────────────────


def test_a_generation_of_nobody_has_no_protocol():
    group = group_of(member("a"), state=ClassicState.PREPARING_REBALANCE)
    group.remove("a")

    group.begin_generation(Millis(7))

    assert (group.state, group.generation, group.protocol, group.since) == (ClassicState.EMPTY, 2, None, 7)


def test_generations_are_never_negative():
    group = group_of(member("a"), state=ClassicState.PREPARING_REBALANCE)
    group.generation = (1 << 31) - 1

    group.begin_generation(Millis(0))

    assert group.generation == 0


def test_one_who_has_joined_leads_even_if_another_one_led():
    group = group_of(member("a", instance="i"), member("b"))

    assert not group.elect()
    group.await_join(group.members["b"])
    assert group.elect()
    assert group.leader == "b"


def test_a_group_goes_where_the_table_says_and_knows_since_when():
    group = group_of(state=ClassicState.EMPTY)

    group.move(GroupEvent.REBALANCE, Millis(5))
    assert (group.state, group.since) == (ClassicState.PREPARING_REBALANCE, 5)
    with pytest.raises(BrokenInvariant, match="g, PreparingRebalance, ASSIGNED"):
        group.move(GroupEvent.ASSIGNED, Millis(6))


def test_all_have_joined_when_nobody_is_missing_and_nobody_is_on_the_way():
    group = group_of(member("a"), member("b"))

    group.await_join(group.members["a"])
    assert not group.all_have_joined
    group.await_join(group.members["b"])
    assert group.all_have_joined
    group.pending["c"] = None
    assert not group.all_have_joined
    group.remove("c")
    assert group.all_have_joined
    group.take_join(group.members["b"])
    assert group.joining == 1


# ── sessions ─────────────────────────────────────────────────────────────────────────


def test_a_commit_counts_as_a_heartbeat_while_the_member_could_send_one():
    timers = Timers()
    group = ClassicGroup("g", timers, Millis(0))
    group.add(member("a"), "consumer")
    group.state = ClassicState.STABLE

    group.heard_from("a", Millis(5))
    assert timers.next_deadline() == 15
    group.heard_from("", Millis(50))
    group.state = ClassicState.COMPLETING_REBALANCE
    group.heard_from("a", Millis(50))
    assert timers.next_deadline() == 15


def test_the_session_of_one_who_goes_ends():
    timers = Timers()
    group = ClassicGroup("g", timers, Millis(0))
    group.add(member("a"), "consumer")
    group.start_session("a", Millis(5), 10)

    group.remove("a")

    assert timers.next_deadline() == NEVER


# ── commits ──────────────────────────────────────────────────────────────────────────

NOBODY = Caller("", None, -1)


def test_anybody_may_commit_to_an_empty_group_who_claims_no_generation():
    group = group_of(state=ClassicState.EMPTY)

    assert refusal(group, NOBODY) is ErrorCode.NONE
    assert refusal(group, Caller("x", None, -1)) is ErrorCode.NONE
    assert refusal(group, Caller("x", None, 0)) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("state", [ClassicState.PREPARING_REBALANCE, ClassicState.STABLE])
def test_only_members_of_this_generation_commit(state):
    group = group_of(member("a", instance="i"), member("b"), state=state)

    assert refusal(group, Caller("a", "i", 1)) is ErrorCode.NONE
    assert refusal(group, Caller("b", None, 1)) is ErrorCode.NONE
    assert refusal(group, NOBODY) is ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(group, Caller("x", None, 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert refusal(group, Caller("b", "i", 1)) is ErrorCode.FENCED_INSTANCE_ID
    assert refusal(group, Caller("a", None, 0)) is ErrorCode.ILLEGAL_GENERATION
    assert refusal(group, Caller("a", None, -1)) is ErrorCode.ILLEGAL_GENERATION


def test_nobody_commits_while_it_is_assigned_anew_except_in_a_transaction():
    group = group_of(member("a"), state=ClassicState.COMPLETING_REBALANCE)

    assert refusal(group, Caller("a", None, 1)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert refusal(group, Caller("a", None, 1), transactional=True) is ErrorCode.NONE


def test_a_transaction_of_one_who_does_not_say_who_it_is_commits():
    group = group_of(member("a"))

    assert refusal(group, NOBODY, transactional=True) is ErrorCode.NONE
    assert refusal(group, Caller("x", None, 1), transactional=True) is ErrorCode.UNKNOWN_MEMBER_ID


def test_anybody_may_fetch_the_offsets_of_a_classic_group():
    group_of(member("a")).check_fetch(NOBODY)


# ── topics ───────────────────────────────────────────────────────────────────────────


def reads(*topics: str) -> dict[str, bytes]:
    return {"range": versioned_bytes(Subscription(list(topics)))}


def test_a_group_of_consumers_is_subscribed_to_what_its_members_read():
    group = group_of(member("a", reads("x")), member("b", reads("y")))

    assert group.is_subscribed_to("x") and group.is_subscribed_to("y")
    assert not group.is_subscribed_to("z")


def test_consumers_that_cannot_be_understood_may_read_anything():
    assert group_of(member("a")).is_subscribed_to("x")
    assert not group_of(member("a"), protocol_type="connect").is_subscribed_to("x")


def test_an_empty_group_reads_nothing():
    group = group_of(member("a", reads("x")), state=ClassicState.PREPARING_REBALANCE)
    group.remove("a")
    group.begin_generation(Millis(0))

    assert not group.is_subscribed_to("x")


def test_offsets_of_a_group_that_is_empty_expire_from_then_on():
    group = group_of(state=ClassicState.EMPTY)
    assert group.offsets_idle_since("x", Millis(7)) == 7, "it never had members"
    group.protocol_type = "consumer"
    assert group.offsets_idle_since("x", Millis(7)) == 100
    group.since = None
    assert group.offsets_idle_since("x", Millis(7)) == 7


def test_offsets_of_a_stable_group_expire_for_topics_that_nobody_reads():
    group = group_of(member("a", reads("x")))

    assert group.offsets_idle_since("x", Millis(7)) is None
    assert group.offsets_idle_since("y", Millis(7)) == 7
    group.state = ClassicState.PREPARING_REBALANCE
    assert group.offsets_idle_since("y", Millis(7)) is None


def test_offsets_do_not_expire_where_nobody_knows_what_is_read():
    assert group_of(member("a")).offsets_idle_since("x", Millis(7)) is None
    assert group_of(member("a"), protocol_type="connect").offsets_idle_since("x", Millis(7)) is None


# ── deletion ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (ClassicState.PREPARING_REBALANCE, ErrorCode.NON_EMPTY_GROUP),
        (ClassicState.COMPLETING_REBALANCE, ErrorCode.NON_EMPTY_GROUP),
        (ClassicState.STABLE, ErrorCode.NON_EMPTY_GROUP),
        (ClassicState.DEAD, ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_only_an_empty_group_is_deleted(state, code):
    group_of(state=ClassicState.EMPTY).check_delete()
    with pytest.raises(ProtocolError) as refused:
        group_of(state=state).check_delete()
    assert refused.value.code is code


def test_a_group_is_removed_by_one_record():
    group: Group = group_of(state=ClassicState.EMPTY)

    assert group.tombstones() == [GroupRecord(GroupMetadataKey("g"), None)]


def test_metadata_bytes_of_members_are_less_than_the_memory_they_take():
    group = ClassicGroup("g", Timers(), Millis(0))
    for number in range(100):
        group.add_pending(f"m{number}")
    assert group.metadata_bytes < 100 * 10 < group.bytes_held
