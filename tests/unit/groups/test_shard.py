"""A shard sends each request and each record to the part that it is for, and is the replay of its log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from andiron.groups.offsets.records import OffsetCommitKey
from andiron.groups.records import (
    ConsumerGroupMetadataKey,
    GroupMetadataKey,
    GroupRecord,
    Replayed,
    TransactionEnded,
    decode_record,
    encode_record,
)
from andiron.groups.settings import GroupSettings
from andiron.groups.shard import GroupShard, TopicsDeleted
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.model.ids import NEVER, Millis, Offset
from andiron.model.machine import CoordinatorRequest, LogLoaded, Promise, TimePassed
from andiron.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest
from andiron.wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from andiron.wire.messages.leave_group import LeaveGroupRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from andiron.wire.messages.metadata import MetadataRequest
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from andiron.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from worlds.offsets import Shelf, errors

MINUTE = 60_000


class Playground:
    """A shard with its log, and a clock."""

    def __init__(self, log: list[Replayed] | None = None, **settings: Any) -> None:
        self.topics = Shelf(t=3)
        made = replace(GroupSettings(), group_initial_rebalance_delay_ms=0, **settings)
        self.shard = GroupShard(made, self.topics, Chance(1), lambda group_id: {})
        self.now = Millis(1_000_000)
        self.log: list[Replayed] = []
        for record in log or []:
            self.append(record)
        self.run(LogLoaded())

    def append(self, record: Replayed) -> None:
        if isinstance(record, GroupRecord):
            read = decode_record(*encode_record(record), record.producer_id)
            assert read is not None
            record = read
        self.log.append(record)
        self.shard.replay(record, Offset(len(self.log) - 1))

    def run(self, request: Any) -> Any:
        decision = self.shard.decide(request, self.now)
        for record in decision.records:
            self.append(record)
        response = decision.response
        if isinstance(response, Promise):
            self.wait(0)
            assert response.kept
            return response.response
        return response

    def ask(self, body: Any, version: int = 3) -> Any:
        return self.run(CoordinatorRequest(body, version, "client", "/127.0.0.1"))

    def wait(self, ms: int) -> None:
        """Let time pass, one deadline a call."""
        until = self.now + ms
        while self.shard.next_deadline() <= until:
            self.now = Millis(max(self.now, self.shard.next_deadline()))
            self.run(TimePassed())
        self.now = Millis(until)

    # ── what clients do ──────────────────────────────────────────────────────────────

    def commit(self, offset: int, group: str = "g", epoch: int = -1, member: str = "") -> Any:
        topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset, -1, "")])
        return errors(self.ask(OffsetCommitRequest(group, epoch, member, topics=[topic]), 9))["t"][0]

    def fetch(self, group: str = "g") -> list[int]:
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
        topics = self.ask(asked, 8).topics
        return [each.committed_offset for topic in topics for each in topic.partitions]

    def listed(self) -> dict[str, tuple[str, str, str]]:
        groups = self.ask(ListGroupsRequest([], []), 5).groups
        return {each.group_id: (each.protocol_type, each.group_state, each.group_type) for each in groups}

    def join_classic(self, group: str = "g", session_ms: int = 10_000) -> tuple[str, int]:
        """A lone member of a classic group, assigned; its id and generation."""
        protocol = JoinGroupRequestProtocol("range", b"")
        joined = self.ask(JoinGroupRequest(group, session_ms, 5000, "", None, "connect", [protocol]))
        member, generation = joined.member_id, joined.generation_id
        assigned = [SyncGroupRequestAssignment(member, b"all")]
        synced = self.ask(SyncGroupRequest(group, generation, member, assignments=assigned))
        assert synced.assignment == b"all"
        return member, generation

    def join_consumer(self, group: str = "g", member: str = "m") -> int:
        request = ConsumerGroupHeartbeatRequest(
            group, member, 0, rebalance_timeout_ms=5000, subscribed_topic_names=["t"], topic_partitions=[]
        )
        return self.ask(request, 1).member_epoch


# ── requests ─────────────────────────────────────────────────────────────────────────


def test_a_classic_group_from_its_first_member_to_its_last():
    shard = Playground()
    member, generation = shard.join_classic()
    assert shard.listed() == {"g": ("connect", "Stable", "classic")}
    assert shard.ask(HeartbeatRequest("g", generation, member)) == HeartbeatResponse()
    assert shard.commit(5, epoch=generation, member=member) == "NONE"
    assert shard.ask(DescribeGroupsRequest(["g"])).members[0].member_assignment == b"all"

    assert shard.ask(LeaveGroupRequest("g", member), 2).error_code == 0
    assert shard.listed() == {"g": ("connect", "Empty", "classic")}
    assert shard.fetch() == [5]


def test_a_consumer_group_goes_its_own_way():
    shard = Playground()
    epoch = shard.join_consumer()
    assert shard.listed() == {"g": ("consumer", "Stable", "consumer")}
    assert shard.commit(5, epoch=epoch, member="m") == "NONE"

    described = shard.ask(ConsumerGroupDescribeRequest(["g"]), 1)
    assert [each.member_id for each in described.members] == ["m"]
    assert shard.ask(DescribeGroupsRequest(["g"])).group_state == "Dead"


def test_a_group_without_a_name_is_none_that_the_broker_assigns_to():
    with pytest.raises(ProtocolError) as refused:
        Playground().ask(ConsumerGroupDescribeRequest([""]), 1)

    assert refused.value.code is ErrorCode.INVALID_GROUP_ID


def test_who_speaks_the_classic_protocol_to_a_consumer_group_is_heard_there():
    shard = Playground()
    shard.join_consumer()

    for body in (SyncGroupRequest("g", 1, "m"), HeartbeatRequest("g", 1, "m")):
        with pytest.raises(ProtocolError) as refused:
            shard.ask(body)
        assert refused.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(ProtocolError) as refused:
        shard.ask(JoinGroupRequest("g", 10_000, 5000, "", None, "connect", []))
    assert refused.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert shard.listed() == {"g": ("consumer", "Stable", "consumer")}


def test_a_group_of_offsets_alone_is_empty_and_not_dead():
    shard = Playground()
    shard.commit(5)

    assert shard.listed() == {"g": ("", "Empty", "classic")}
    assert shard.ask(DescribeGroupsRequest(["g"]), 6) == DescribedGroup(group_id="g", group_state="Empty")
    assert shard.ask(DescribeGroupsRequest(["x"]), 5) == DescribedGroup(group_id="x", group_state="Dead")
    assert shard.ask(DescribeGroupsRequest(["x"]), 6).error_code == ErrorCode.GROUP_ID_NOT_FOUND.number


@pytest.mark.parametrize("join", [Playground.join_classic, Playground.join_consumer])
def test_members_may_join_a_group_of_offsets_alone(join):
    shard = Playground()
    shard.commit(5)
    join(shard)

    assert shard.listed()["g"][1] == "Stable"
    assert shard.fetch() == [5]


def test_offsets_and_groups_are_deleted():
    shard = Playground()
    shard.commit(5, "a")
    shard.commit(6, "b")
    topic = OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])

    assert errors(shard.ask(OffsetDeleteRequest("a", [topic]), 0)) == {"t": {0: "NONE"}}
    assert shard.ask(DeleteGroupsRequest(["b"]), 2) == DeletableGroupResult("b", 0)
    assert shard.listed() == {}


def test_offsets_of_a_transaction_count_when_it_has_ended():
    shard = Playground()
    topic = TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 5, -1, "")])
    shard.ask(TxnOffsetCommitRequest("tx", "g", 7, 0, topics=[topic]))
    assert shard.fetch() == []

    shard.append(TransactionEnded(7, True))
    assert shard.fetch() == [5]


def test_offsets_of_deleted_topics_go():
    shard = Playground()
    shard.commit(5)
    shard.topics.delete("t")

    assert shard.run(TopicsDeleted(["t"])) is None
    assert shard.listed() == {}


def test_what_is_not_for_a_group_is_refused():
    with pytest.raises(Refused, match="MetadataRequest is not for a group"):
        Playground().ask(MetadataRequest())


# ── time ─────────────────────────────────────────────────────────────────────────────


def test_nothing_is_due_before_the_log_is_loaded():
    shard = GroupShard(GroupSettings(), Shelf(), Chance(1), lambda group_id: {})

    assert shard.next_deadline() == NEVER
    assert shard.decide(TimePassed(), Millis(0)).records == []
    assert shard.decide(LogLoaded(), Millis(0)).response is None
    assert shard.next_deadline() == 10 * MINUTE


@pytest.mark.parametrize("join", [Playground.join_classic, Playground.join_consumer])
def test_a_member_that_falls_silent_is_gone_and_so_is_its_group_in_the_end(join):
    shard = Playground(offsets_retention_minutes=60)
    join(shard)
    shard.wait(MINUTE)
    assert shard.listed()["g"][1] == "Empty"
    shard.commit(5)

    shard.wait(59 * MINUTE)
    assert shard.fetch() == [5]
    shard.wait(15 * MINUTE)
    assert shard.listed() == {}


def test_a_deadline_is_handled_at_a_time():
    shard = Playground()
    shard.join_classic("a", 10_000)
    shard.join_classic("b", 10_000)
    shard.now = Millis(shard.now + 10_000)

    shard.run(TimePassed())
    assert sorted(state for _, state, _ in shard.listed().values()) == ["Empty", "Stable"]
    assert shard.shard.next_deadline() <= shard.now
    shard.run(TimePassed())
    assert [state for _, state, _ in shard.listed().values()] == ["Empty", "Empty"]
    assert shard.shard.next_deadline() > shard.now


# ── the log ──────────────────────────────────────────────────────────────────────────


def test_a_shard_is_the_replay_of_its_log():
    shard = Playground()
    member, generation = shard.join_classic("classic")
    shard.commit(1, "classic", generation, member)
    epoch = shard.join_consumer("new")
    shard.commit(2, "new", epoch, "m")
    shard.commit(3, "alone")
    shard.commit(4, "gone")
    shard.ask(DeleteGroupsRequest(["gone"]), 2)
    assert {type(each.key) for each in shard.log if isinstance(each, GroupRecord)} > {
        OffsetCommitKey,
        GroupMetadataKey,
        ConsumerGroupMetadataKey,
    }

    again = Playground(shard.log)

    assert again.listed() == shard.listed()
    assert [again.fetch(group) for group in shard.listed()] == [[1], [2], [3]]
    assert again.ask(HeartbeatRequest("classic", generation, member)) == HeartbeatResponse()
    assert again.commit(7, "new", epoch, "m") == "NONE"


def test_members_that_do_not_come_back_after_a_failover_are_gone_in_the_end():
    shard = Playground()
    shard.join_classic("classic")
    shard.join_consumer("new")

    again = Playground(shard.log)
    again.wait(MINUTE)

    assert {state for _, state, _ in again.listed().values()} == {"Empty"}


# ── groups that are not served ───────────────────────────────────────────────────────


def kept(number: int, *names: str, value: bytes | None = b"as Kafka wrote it") -> GroupRecord:
    texts = b"".join(len(name).to_bytes(2, "big") + name.encode() for name in names)
    record = decode_record(number.to_bytes(2, "big") + texts, value)
    assert record is not None
    return record


def with_kafkas_groups() -> Playground:
    """One of shares and one of streams, the latter with an offset and without members."""
    shard = Playground()
    for record in (kept(10, "shares", "m"), kept(11, "shares"), kept(19, "flow", "m"), kept(17, "flow")):
        shard.shard.replay(record, Offset(0))
    shard.shard.replay(kept(19, "flow", "m", value=None), Offset(0))
    assert shard.commit(7, group="flow") == "NONE"
    return shard


def test_share_and_streams_groups_of_kafkas_are_listed():
    listed = with_kafkas_groups().listed()

    assert listed == {"shares": ("share", "Unknown", "share"), "flow": ("streams", "Empty", "streams")}


@pytest.mark.parametrize("group", ["shares", "flow"])
def test_nobody_takes_the_name_of_a_group_that_is_not_served(group: str):
    shard = with_kafkas_groups()
    before = len(shard.log)

    with pytest.raises(ProtocolError, match="INCONSISTENT_GROUP_PROTOCOL"):
        shard.join_classic(group)
    with pytest.raises(ProtocolError, match="GROUP_ID_NOT_FOUND"):
        shard.join_consumer(group)
    with pytest.raises(ProtocolError, match=r"NON_EMPTY_GROUP|INVALID_REQUEST"):
        shard.ask(DeleteGroupsRequest([group]))
    for request, version in ((DescribeGroupsRequest([group]), 6), (ConsumerGroupDescribeRequest([group]), 1)):
        told = shard.ask(request, version)
        assert told.error_code == ErrorCode.GROUP_ID_NOT_FOUND.number
        assert told.error_message.startswith(
            f"{group} is a {shard.listed()[group][2]} group, which is kept for Kafka"
        )
    assert len(shard.log) == before


def test_offsets_of_a_group_that_is_not_served_outlive_their_retention():
    shard = with_kafkas_groups()

    shard.wait(30 * 24 * 60 * MINUTE)

    assert shard.fetch("flow") == [7]


@pytest.mark.parametrize(("number", "group"), [(11, "shares"), (17, "flow")])
def test_one_that_kafka_deleted_is_gone_and_its_name_is_free(number: int, group: str):
    shard = with_kafkas_groups()

    shard.shard.replay(kept(number, group, value=None), Offset(0))
    shard.shard.replay(kept(number, group, value=None), Offset(0))

    shard.join_classic(group)
    assert shard.listed()[group][2] == "classic"
