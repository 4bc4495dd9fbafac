"""Requests about hundreds of partitions: they go in slices, between which others are served, and come to the same."""

from __future__ import annotations

import pytest

from andiron.broker.node.slice_sizes import slices_of
from andiron.groups.offsets import fetches
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from andiron.wire.messages.metadata import MetadataRequest
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from worlds.node import SmallNode, error_of, records_in

PARTITIONS = 12
OTHER = 2  # a connection


@pytest.fixture
def node(monkeypatch):
    """One with a topic of some partitions, for which a slice is five."""
    monkeypatch.setattr(fetches, "SLICE", 5)
    with slices_of(5):
        node = SmallNode()
        node.create("t", PARTITIONS)
        node.connect(OTHER)
        node.settle()
        yield node


def to_all(node, value):
    def made(index):
        return PartitionProduceData(index, build([Record(0, node.now, None, value)]))

    data = [TopicProduceData("t", partition_data=[made(index) for index in range(PARTITIONS)])]
    return ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=data)


def of_all(*, wait_ms=0, offset=0, session_epoch=-1):
    wanted = [
        FetchPartition(index, fetch_offset=offset, partition_max_bytes=1_000) for index in range(PARTITIONS)
    ]
    return FetchRequest(
        session_epoch=session_epoch, max_wait_ms=wait_ms, min_bytes=1, max_bytes=1 << 20,
        topics=[FetchTopic("t", partitions=wanted)],
    )  # fmt: skip


def values(answer):
    return [
        record.value
        for topic in answer.responses
        for partition in topic.partitions
        for record in records_in(partition.records)
    ]


def test_a_produce_is_appended_some_at_a_time_and_in_the_order_of_its_connection(node):
    first, second = node.send(to_all(node, b"a"), 9), node.send(to_all(node, b"b"), 9)
    assert node.answer(first) is None
    assert error_of(node.produce("t", b"x", partition=11, conn=OTHER)) == "NONE", (
        "others are served in between"
    )
    node.settle()

    for ticket, base in ((first, 0), (second, 1)):
        answers = node.answer(ticket).responses[0].partition_responses
        assert [each.error_code for each in answers] == [0] * PARTITIONS
        assert [each.base_offset for each in answers[:11]] == [base] * 11
        assert answers[11].base_offset == base + 1


def test_a_fetch_looks_at_some_partitions_at_a_time(node):
    node.send(to_all(node, b"a"), 9)
    node.settle()

    ticket = node.send(of_all(), 12)
    assert node.answer(ticket) is None
    node.settle()

    assert values(node.answer(ticket)) == [b"a"] * PARTITIONS


@pytest.mark.parametrize("session_epoch", [-1, 0], ids=["alone", "in a session"])
def test_what_is_written_while_a_fetch_looks_is_not_missed(node, session_epoch):
    ticket = node.send(of_all(wait_ms=10_000, session_epoch=session_epoch), 12)
    node.produce("t", b"a", conn=OTHER)  # to the first one, which was looked at already
    node.settle()

    assert values(node.answer(ticket)) == [b"a"]


def test_a_fetch_that_found_nothing_waits(node):
    ticket = node.send(of_all(wait_ms=10_000), 12)
    node.settle()
    assert node.answer(ticket) is None

    node.produce("t", b"a", partition=7, conn=OTHER)
    assert values(node.answer(ticket)) == [b"a"]


def test_a_fetch_is_answered_in_the_end(node):
    ticket = node.send(of_all(wait_ms=500), 12)
    node.settle()
    node.advance(500)

    assert values(node.answer(ticket)) == []


def commit(node, offset):
    partitions = [OffsetCommitRequestPartition(index, offset, -1, "") for index in range(PARTITIONS)]
    topics = [OffsetCommitRequestTopic(name, partitions=partitions) for name in ("t", "u")]
    return node.ask(OffsetCommitRequest("g", topics=topics), 8, conn=OTHER)


@pytest.mark.parametrize("version", [7, 8])
def test_all_offsets_of_a_group_are_those_of_one_moment(node, version):
    node.create("u", PARTITIONS)
    node.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
    node.settle()
    commit(node, 1)

    ticket = node.send(OffsetFetchRequest("g", None, [OffsetFetchRequestGroup("g", topics=None)]), version)
    commit(node, 2)
    node.settle()

    answer = node.answer(ticket)
    topics = answer.topics if version < 8 else answer.groups[0].topics
    assert [each.committed_offset for topic in topics for each in topic.partitions] == [1] * 2 * PARTITIONS


def test_groups_and_topics_are_all_told(node):
    node.create("u", 450)
    node.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
    node.settle()
    commit(node, 1)

    tickets = node.send(ListGroupsRequest(["nonsense", " empty "])), node.send(MetadataRequest(None))
    node.settle()

    groups, topics = map(node.answer, tickets)
    assert [each.group_id for each in groups.groups] == ["g"]
    assert {topic.name: len(topic.partitions) for topic in topics.topics}["u"] == 450


def test_in_a_session_only_what_has_moved_counts_as_many(node):
    """A follower's session has thousands of partitions, and few of them move at a time: those are answered at once."""
    ticket = node.send(of_all(session_epoch=0), 12)
    node.settle()
    session = node.answer(ticket).session_id
    node.send(
        FetchRequest(session_id=session, session_epoch=1, max_bytes=1 << 20), 12
    )  # all are looked at once more
    node.settle()
    node.produce("t", b"a", conn=OTHER)

    answer = node.ask(FetchRequest(session_id=session, session_epoch=2, max_bytes=1 << 20), 12)
    assert values(answer) == [b"a"]
