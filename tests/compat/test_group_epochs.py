"""The new protocol, by hand and with ill will: members, epochs, subscriptions and names that cannot be.

Every answer is the one that Kafka gives.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from peers.asking import Asker
from peers.process import Server
from peers.waiting import eventually

UNKNOWN_MEMBER_ID = 25
INVALID_REQUEST = 42
GROUP_ID_NOT_FOUND = 69
GROUP_MAX_SIZE_REACHED = 81
FENCED_INSTANCE_ID = 82
FENCED_MEMBER_EPOCH = 110
UNRELEASED_INSTANCE_ID = 111
UNSUPPORTED_ASSIGNOR = 112
STALE_MEMBER_EPOCH = 113
INVALID_REGULAR_EXPRESSION = 128
GROUP_MAX_SIZE = 12  # of the node under test
LEAVE = -1


def member_id() -> str:
    """In version 1 a member makes its own."""
    return str(uuid.uuid4())


def joining(group: str, topic: str = "any", **more: Any) -> dict[str, Any]:
    fields = {"group_id": group, "member_id": member_id(), "member_epoch": 0, "rebalance_timeout": 10_000}
    return fields | {"subscribed_topic_names": [topic], "topic_partitions": []} | more


def joined(asker: Asker, group: str, **more: Any) -> Any:
    answer = asker.ask("consumer_group_heartbeat", 1, **joining(group, **more))
    assert answer.error_code == 0, answer
    answer.group_id = group
    return answer


def refusal(asker: Asker, fields: dict[str, Any], version: int = 1) -> int:
    return int(asker.ask("consumer_group_heartbeat", version, **fields).error_code)


@pytest.mark.parametrize(
    "bad",
    [
        {"group_id": ""},
        {"member_id": ""},
        {"member_epoch": -3},
        {"rebalance_timeout": -1},
        {"subscribed_topic_names": None},
        {"topic_partitions": None},
        {"topic_partitions": [{"topic_id": uuid.UUID(int=7), "partitions": [0]}]},
        {"instance_id": ""},
        {"rack_id": ""},
    ],
    ids=str,
)
def test_a_request_to_join_must_be_complete(asker: Asker, name: str, bad: dict[str, Any]) -> None:
    assert refusal(asker, joining(name) | bad) == INVALID_REQUEST


def test_in_version_0_the_broker_gives_the_id(asker: Asker, name: str) -> None:
    answer = asker.ask("consumer_group_heartbeat", 0, **joining(name, member_id=""))

    assert answer.error_code == 0 and answer.member_id
    assert answer.heartbeat_interval == 300


@pytest.mark.parametrize("assignor", ["fair", ""])
def test_an_assignor_that_the_broker_does_not_have(asker: Asker, name: str, assignor: str) -> None:
    assert refusal(asker, joining(name, server_assignor=assignor)) == UNSUPPORTED_ASSIGNOR


@pytest.mark.parametrize("regex", ["[", "(?=ahead)", "*"])
def test_a_regular_expression_that_is_none(asker: Asker, name: str, regex: str) -> None:
    wrong = joining(name, subscribed_topic_names=None, subscribed_topic_regex=regex)

    assert refusal(asker, wrong) == INVALID_REGULAR_EXPRESSION


def test_a_group_grows_to_its_largest_size_and_no_further(asker: Asker, name: str) -> None:
    for _ in range(GROUP_MAX_SIZE):
        joined(asker, name)

    assert refusal(asker, joining(name)) == GROUP_MAX_SIZE_REACHED


def test_heartbeats_of_the_unknown_and_the_stale(asker: Asker, name: str) -> None:
    me = joined(asker, name)

    def beat(member: str, epoch: int, group: str = name) -> int:
        return refusal(asker, {"group_id": group, "member_id": member, "member_epoch": epoch})

    assert beat(me.member_id, me.member_epoch) == 0
    assert beat(member_id(), 1, f"{name}-nobody") == GROUP_ID_NOT_FOUND
    assert beat(member_id(), me.member_epoch) == UNKNOWN_MEMBER_ID
    assert beat(me.member_id, me.member_epoch + 1) == FENCED_MEMBER_EPOCH
    assert beat(me.member_id, LEAVE) == 0
    assert beat(me.member_id, me.member_epoch) == UNKNOWN_MEMBER_ID
    assert beat(me.member_id, LEAVE) == UNKNOWN_MEMBER_ID


def test_an_epoch_that_is_over_fences(asker: Asker, name: str, make_topic: Callable[..., str]) -> None:
    """The one before the last is taken for a retry if the member still owned what it says it owns."""
    topic = make_topic(2)
    me = joined(asker, name, topic=topic)
    first = beating_until(
        asker, me, lambda answer: bool(answer.assignment and answer.assignment.topic_partitions)
    )
    held = [
        {"topic_id": each.topic_id, "partitions": each.partitions}
        for each in first.assignment.topic_partitions
    ]
    for _ in range(3):
        other = joined(asker, name, topic=topic)
        gone = {"group_id": name, "member_id": other.member_id, "member_epoch": LEAVE}
        asker.ask("consumer_group_heartbeat", 1, **gone)
    first.group_id = name
    beating_until(
        asker, first, lambda answer: answer.member_epoch > first.member_epoch, topic_partitions=held
    )

    then = {"group_id": name, "member_id": me.member_id, "member_epoch": first.member_epoch}
    assert refusal(asker, then) == FENCED_MEMBER_EPOCH
    assert refusal(asker, then | {"topic_partitions": held}) == 0
    assert refusal(asker, then | {"member_epoch": 0}) == INVALID_REQUEST


def test_what_a_member_was_given_and_does_not_name_is_given_to_another(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    """Though it may be about to read it: that is for the member to know, and librdkafka does not always. It says that
    it owns nothing until it has found out the name of the topic, and begins to read as soon as it has."""
    topic = make_topic(6)

    def given(member: Any, size: int, owned: list[dict[str, Any]]) -> Any:
        """Its answer when it has so many partitions; it says everything each time, so that it is told everything."""
        everything = {
            "rebalance_timeout": 10_000,
            "subscribed_topic_names": [topic],
            "topic_partitions": owned,
        }
        answer = beating_until(asker, member, lambda answer: len(partitions_of(answer)) == size, **everything)
        answer.group_id = name
        return answer

    first = given(joined(asker, name, topic=topic), 6, [])
    second = joined(asker, name, topic=topic)
    kept = named(given(first, 3, named(first)))
    beating_until(
        asker, first, lambda answer: answer.member_epoch > first.member_epoch, topic_partitions=kept
    )
    second = given(second, 3, [])
    third = joined(asker, name, topic=topic)

    left = given(second, 2, [])

    assert left.member_epoch == third.member_epoch
    assert partitions_of(given(third, 1, [])) == partitions_of(second) - partitions_of(left)


def partitions_of(answer: Any) -> set[int]:
    assigned = answer.assignment.topic_partitions if answer.assignment else []
    return {partition for each in assigned for partition in each.partitions}


def named(answer: Any) -> list[dict[str, Any]]:
    return [vars(each) for each in answer.assignment.topic_partitions]


def beating_until(asker: Asker, member: Any, so: Callable[[Any], bool], **more: Any) -> Any:
    """Targets are computed in their own time; each heartbeat asks for what there is."""
    answers = [member]

    def beat() -> bool:
        place = {
            "group_id": member.group_id,
            "member_id": member.member_id,
            "member_epoch": answers[-1].member_epoch,
        }
        answers.append(asker.ask("consumer_group_heartbeat", 1, **place, **more))
        return so(answers[-1])

    if not so(member):
        eventually(beat)
    return answers[-1]


def test_a_name_of_an_instance_is_taken_until_it_is_given_up(asker: Asker, name: str) -> None:
    first = joined(asker, name, instance_id="one")
    assert refusal(asker, joining(name, instance_id="one")) == UNRELEASED_INSTANCE_ID

    place = {"group_id": name, "member_id": first.member_id, "instance_id": "one"}
    away = asker.ask("consumer_group_heartbeat", 1, **place, member_epoch=-2)
    assert (away.error_code, away.member_epoch) == (0, -2)
    second = joined(asker, name, instance_id="one")
    assert second.member_epoch == first.member_epoch
    assert refusal(asker, place | {"member_epoch": first.member_epoch}) == FENCED_INSTANCE_ID
    assert refusal(asker, place | {"instance_id": "two", "member_epoch": 1}) == UNKNOWN_MEMBER_ID


def test_commits_and_fetches_of_the_unknown_and_the_stale(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    me = joined(asker, name, topic=topic)
    rows = [
        {
            "name": topic,
            "partitions": [{"partition_index": 0, "committed_offset": 5, "committed_metadata": ""}],
        }
    ]

    def commit(member: str, epoch: int) -> int:
        fields = {
            "group_id": name,
            "member_id": member,
            "generation_id_or_member_epoch": epoch,
            "topics": rows,
        }
        return int(asker.ask("offset_commit", 9, **fields).topics[0].partitions[0].error_code)

    def fetch(member: str | None, epoch: int) -> int:
        wanted = [{"name": topic, "partition_indexes": [0]}]
        group = {"group_id": name, "member_id": member, "member_epoch": epoch, "topics": wanted}
        return int(asker.ask("offset_fetch", 9, groups=[group]).groups[0].error_code)

    assert commit(me.member_id, me.member_epoch) == fetch(me.member_id, me.member_epoch) == 0
    assert commit("nobody", me.member_epoch) == fetch("nobody", me.member_epoch) == UNKNOWN_MEMBER_ID
    assert commit("", -1) == UNKNOWN_MEMBER_ID
    assert fetch(None, -1) == 0
    for epoch in (me.member_epoch - 1, me.member_epoch + 1):
        assert commit(me.member_id, epoch) == fetch(me.member_id, epoch) == STALE_MEMBER_EPOCH


def test_the_classic_calls_on_a_group_of_the_new_protocol(node: Server, asker: Asker, name: str) -> None:
    me = joined(asker, name)
    place = {"group_id": name, "generation_id": me.member_epoch, "member_id": me.member_id}

    assert asker.ask("heartbeat", 4, **place).error_code == UNKNOWN_MEMBER_ID
    assert asker.ask("sync_group", 4, **place, assignments=[]).error_code == UNKNOWN_MEMBER_ID
    described = asker.ask("describe_groups", 6, groups=[name]).groups[0]
    assert (described.error_code, described.group_state) == (GROUP_ID_NOT_FOUND, "Dead")
