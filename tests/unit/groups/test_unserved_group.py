"""Share and streams groups of Kafka's: known by name, listed, and in nobody's way but that of who would take it."""

from __future__ import annotations

import pytest

from andiron.groups.group import Caller
from andiron.groups.records import SHARE, STREAMS, UnservedGroupKey
from andiron.groups.unserved_group import UnservedGroup
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from andiron.wire.messages.offset_delete import OffsetDeleteRequest

MEMBER = {SHARE: 10, STREAMS: 19}
ADMIN, SOMEBODY = Caller("", None, -1), Caller("m", None, 3)


def group(kind: str, *members: str) -> UnservedGroup:
    made = UnservedGroup("g", kind)
    for member in members:
        made.replay(UnservedGroupKey(MEMBER[kind], "g", member), b"")
    return made


def refusal(act, *arguments, **how) -> ErrorCode | None:
    try:
        act(*arguments, **how)
    except ProtocolError as error:
        return error.code
    return None


@pytest.mark.parametrize("kind", [SHARE, STREAMS])
def test_an_unserved_group_is_empty_without_members(kind: str):
    kept = group(kind, "m")
    assert (kept.kind, kept.protocol_type, kept.state) == (kind, kind, "Unknown")
    assert kept.bytes_held > group(kind).bytes_held
    assert (kept.bytes_held_for("m", None), kept.bytes_held_for("n", None)) != (None, None)

    kept.replay(UnservedGroupKey(MEMBER[kind], "g", "m"), None)

    assert kept.state == "Empty"


def test_who_would_join_it_by_another_protocol_is_told_what_kafka_says():
    kept = group(SHARE)

    def told(request: object) -> ErrorCode | None:
        refused = kept.refusal(request)
        return refused and refused.code

    assert told(JoinGroupRequest("g")) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert told(HeartbeatRequest("g")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert told(ConsumerGroupHeartbeatRequest("g")) is ErrorCode.GROUP_ID_NOT_FOUND
    assert told(OffsetDeleteRequest("g")) is ErrorCode.GROUP_ID_NOT_FOUND
    assert told(ListGroupsRequest()) is None
    assert group(STREAMS).refusal(OffsetDeleteRequest("g")) is None


@pytest.mark.parametrize(
    ("kept", "caller", "code"),
    [
        (group(SHARE), ADMIN, ErrorCode.GROUP_ID_NOT_FOUND),
        (group(STREAMS), ADMIN, None),
        (group(STREAMS), SOMEBODY, ErrorCode.UNKNOWN_MEMBER_ID),
        (group(STREAMS, "m"), ADMIN, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_offsets_are_committed_where_kafka_would_take_them(
    kept: UnservedGroup, caller: Caller, code: ErrorCode | None
):
    assert refusal(kept.check_commit, caller, transactional=False, version=9) is code


def test_offsets_of_an_unserved_group_never_expire_and_can_be_fetched():
    kept = group(STREAMS)

    assert kept.offsets_idle_since("t", Millis(0)) is None
    assert kept.check_fetch(SOMEBODY) is None
    assert kept.heard_from("m", Millis(0)) is None
    assert (kept.is_subscribed_to("t"), group(STREAMS, "m").is_subscribed_to("t")) == (False, True)
    assert kept.subscribed_topics() == ()


def test_an_unserved_group_is_not_deleted():
    assert refusal(group(SHARE, "m").check_delete) is ErrorCode.NON_EMPTY_GROUP
    assert refusal(group(SHARE).check_delete) is ErrorCode.INVALID_REQUEST
