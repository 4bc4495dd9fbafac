"""A group forgets how far it has read in what it reads no more."""

import pytest

from andiron.wire.consumer_protocol import Subscription, versioned_bytes
from andiron.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from worlds.coordinating import (
    DURABLY,
    GROUP,
    TOPIC,
    commit,
    committed,
    coordinating,
    joined,
    loading,
    names_of,
    recover,
)
from worlds.node import error_of


def delete_request(*partitions, group=GROUP):
    topics = [
        OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(index)])
        for topic, index in partitions or [(TOPIC, 0)]
    ]
    return OffsetDeleteRequest(group, topics)


def errors_of(answer):
    assert error_of(answer) == "NONE"
    return names_of(topic.partitions[0].error_code for topic in answer.topics)


def test_an_offset_that_is_deleted_is_gone_after_a_crash_too(coordinator):
    commit(coordinator, 1)
    commit(coordinator, 2, partition=1)

    assert errors_of(coordinator.ask(delete_request())) == ["NONE"]

    recover(coordinator)
    assert (committed(coordinator), committed(coordinator, partition=1)) == (-1, 2)


def test_each_partition_is_answered_for_itself(coordinator):
    commit(coordinator, 1)

    answer = coordinator.ask(delete_request((TOPIC, 0), (TOPIC, 9), ("nope", 0)))

    missing = "UNKNOWN_TOPIC_OR_PARTITION"
    assert errors_of(answer) == ["NONE", missing, missing]


def test_what_members_read_is_not_deleted_under_them(coordinator):
    member = joined(coordinator, metadata=versioned_bytes(Subscription([TOPIC])))
    commit(coordinator, 1, member=member)

    assert errors_of(coordinator.ask(delete_request())) == ["GROUP_SUBSCRIBED_TO_TOPIC"]
    assert committed(coordinator) == 1


def test_the_answer_leaves_when_it_is_on_the_disk():
    node = coordinating(**DURABLY)
    commit(node, 1)
    node.flush_at_once = False
    ticket = node.send(delete_request())
    assert node.answer(ticket) is None

    node.do_flushes()

    assert errors_of(node.answer(ticket)) == ["NONE"]


@pytest.mark.parametrize(
    ("group", "code"),
    [
        ("", "INVALID_GROUP_ID"),
        ("none", "GROUP_ID_NOT_FOUND"),
        ("connect", "NON_EMPTY_GROUP"),
        (GROUP, "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_a_refusal_of_all_is_at_the_top(coordinator, group, code):
    if code.startswith("COORDINATOR"):
        loading(coordinator)
    else:
        joined(coordinator, group="connect", protocol_type="connect")

    answer = coordinator.ask(delete_request(group=group))

    assert (error_of(answer), answer.topics) == (code, [])
