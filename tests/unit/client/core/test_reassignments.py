"""Reassignments, as they are under way and as a file has them."""

from __future__ import annotations

import json

import pytest

from andiron.client.core.reassignments import (
    Change,
    PlanError,
    Reassignment,
    changes,
    check_plan,
    decode_plan,
    encode_plan,
)
from andiron.model.ids import TopicPartition
from andiron.wire.messages.list_partition_reassignments import OngoingPartitionReassignment

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_in_the_end_a_partition_has_what_is_not_being_removed() -> None:
    under_way = Reassignment.of(OngoingPartitionReassignment(0, [4, 2, 3, 1], [4], [1]))

    assert under_way == Reassignment([4, 2, 3, 1], [4], [1])
    assert under_way.target == [4, 2, 3]


def test_a_change_is_another_broker_or_another_order() -> None:
    before = {P0: [1, 2], P1: [1, 2], TopicPartition("u", 0): [1]}
    after = {P0: [2, 1], P1: [1, 2], TopicPartition("u", 0): [3]}

    found = changes(before, after)

    assert found == [Change(P0, [1, 2], [2, 1]), Change(TopicPartition("u", 0), [1], [3])]
    assert [each.added for each in found] == [[], [3]]
    assert [each.removed for each in found] == [[], [1]]


def test_a_file_is_read_as_it_was_written() -> None:
    plan = {P1: [2, 1], P0: [1]}

    assert decode_plan(encode_plan(plan)) == plan
    assert json.loads(encode_plan(plan))["partitions"][0] == {"topic": "t", "partition": 0, "replicas": [1]}


def test_a_file_of_kafkas_tool_is_read() -> None:
    text = (
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'
    )

    assert decode_plan(text) == {P0: [1, 2]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "no partitions"),
        ('{"version":1,"partitions":[]}', "no partitions"),
        ('{"version":2,"partitions":[1]}', "version 2"),
        ('{"partitions":[{"topic":"t","replicas":[1]}]}', "a row without"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[]}]}', "a row without"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":["1"]}]}', "not numbers"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[1,1]}]}', "twice"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["/a"]}]}', "log directory"),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1]},'
            '{"topic":"t","partition":0,"replicas":[2]}]}',
            "names t-0 twice",
        ),
    ],
)
def test_a_file_that_says_nothing_sensible_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(PlanError, match=complaint):
        decode_plan(text)


def test_a_plan_names_what_is_there() -> None:
    check_plan({P0: [1, 2]}, [P0], [1, 2, 3])
    with pytest.raises(PlanError, match="t-1, which is not there"):
        check_plan({P1: [1]}, [P0], [1])
    with pytest.raises(PlanError, match="broker 9"):
        check_plan({P0: [1, 9]}, [P0], [1, 2])
