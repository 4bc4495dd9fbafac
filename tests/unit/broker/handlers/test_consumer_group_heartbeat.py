"""The one request of members to which the broker assigns."""

import pytest

from andiron.broker.handlers import consumer_group_heartbeat
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from worlds.coordinating import (
    DURABLY,
    GROUP,
    TOPIC,
    consumer_heartbeat,
    coordinating,
    crash,
    every_version,
    topic_id,
)
from worlds.node import SmallNode, error_of

SESSION_MS = 45_000


def next_heartbeat(epoch, member_id="m"):
    return ConsumerGroupHeartbeatRequest(GROUP, member_id, epoch)


@every_version(consumer_group_heartbeat)
def test_a_member_that_joins_is_assigned_to(coordinator, version):
    answer = coordinator.ask(consumer_heartbeat(), version)

    assert (error_of(answer), answer.member_id, answer.heartbeat_interval_ms) == ("NONE", "m", 5_000)
    assert answer.member_epoch > 0
    [assigned] = answer.assignment.topic_partitions
    assert (assigned.topic_id, assigned.partitions) == (topic_id(coordinator, TOPIC), [0, 1, 2])


@every_version(consumer_group_heartbeat)
def test_after_that_it_says_only_that_it_is_there(coordinator, version):
    joined = coordinator.ask(consumer_heartbeat(), version)
    takes = next_heartbeat(joined.member_epoch)
    takes.topic_partitions = joined.assignment.topic_partitions

    for beat in (takes, next_heartbeat(joined.member_epoch)):
        answer = coordinator.ask(beat, version)
        assert (error_of(answer), answer.member_epoch, answer.assignment) == (
            "NONE", joined.member_epoch, None,
        )  # fmt: skip


def test_version_0_is_given_an_id_and_version_1_brings_one(coordinator):
    given = coordinator.ask(consumer_heartbeat(member_id=""), 0)
    refused = coordinator.ask(consumer_heartbeat(member_id=""), 1)

    assert error_of(given) == "NONE" and given.member_id
    assert error_of(refused) == "INVALID_REQUEST"


@every_version(consumer_group_heartbeat)
def test_a_member_that_is_not_heard_from_is_out(coordinator, version):
    joined = coordinator.ask(consumer_heartbeat(), version)

    coordinator.advance(SESSION_MS)

    assert error_of(coordinator.ask(next_heartbeat(joined.member_epoch), version)) in (
        "UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND",
    )  # fmt: skip


@every_version(consumer_group_heartbeat)
def test_a_member_that_leaves_is_told_so(coordinator, version):
    coordinator.ask(consumer_heartbeat(), version)

    answer = coordinator.ask(next_heartbeat(-1), version)

    assert (error_of(answer), answer.member_epoch) == ("NONE", -1)


@every_version(consumer_group_heartbeat)
def test_the_answer_leaves_when_the_assignment_is_on_the_disk(version):
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    ticket = node.send(consumer_heartbeat(), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert error_of(node.answer(ticket)) == "NONE"


@pytest.mark.parametrize(
    ("request_of", "code"),
    [
        (lambda: consumer_heartbeat(group=""), "INVALID_REQUEST"),
        (lambda: next_heartbeat(5, member_id="who?"), "UNKNOWN_MEMBER_ID"),
        (lambda: next_heartbeat(99), "FENCED_MEMBER_EPOCH"),
    ],
    ids=["no group", "no member", "another epoch"],
)
@every_version(consumer_group_heartbeat)
def test_a_refusal_has_its_reason_with_it(coordinator, version, request_of, code):
    coordinator.ask(consumer_heartbeat())

    answer = coordinator.ask(request_of(), version)

    assert error_of(answer) == code
    assert answer.error_message
    assert answer.assignment is None


@every_version(consumer_group_heartbeat)
def test_a_member_goes_on_after_a_crash(coordinator, version):
    joined = coordinator.ask(consumer_heartbeat(), version)

    crash(coordinator)
    loading = coordinator.ask(next_heartbeat(joined.member_epoch), version)
    coordinator.settle()
    answer = coordinator.ask(next_heartbeat(joined.member_epoch), version)

    assert error_of(loading) == "COORDINATOR_LOAD_IN_PROGRESS"
    assert (error_of(answer), answer.member_epoch) == ("NONE", joined.member_epoch)


@every_version(consumer_group_heartbeat)
def test_where_there_is_no_coordinator(version):
    assert error_of(SmallNode().ask(consumer_heartbeat(), version)) == "NOT_COORDINATOR"


@every_version(consumer_group_heartbeat)
def test_a_full_disk_assigns_nothing_and_forgets_nothing(coordinator, version):
    joined = coordinator.ask(consumer_heartbeat(), version)
    coordinator.disk.fill_up()

    refused = coordinator.ask(consumer_heartbeat(member_id="another"), version)
    coordinator.disk.free_up()
    coordinator.settle()

    assert error_of(refused) == "NOT_COORDINATOR"
    assert error_of(coordinator.ask(next_heartbeat(joined.member_epoch), version)) == "NONE"
