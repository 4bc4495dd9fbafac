"""A group remembers how far it has read."""

import pytest

from andiron.broker.handlers import offset_commit
from andiron.wire.messages.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from worlds.coordinating import (
    DURABLY,
    GROUP,
    SESSION_MS,
    TOPIC,
    Member,
    commit,
    commit_request,
    committed,
    coordinating,
    every_version,
    heartbeat_request,
    joined,
    loading,
    names_of,
    recover,
    send_join,
)
from worlds.node import SmallNode, error_of

IDS_SINCE, NOT_FOUND_SINCE = 10, 9


@every_version(offset_commit)
def test_an_offset_is_committed_by_anybody_while_the_group_has_no_members(coordinator, version):
    assert commit(coordinator, 42, version) == "NONE"

    assert committed(coordinator) == 42


@every_version(offset_commit)
def test_an_offset_is_committed_by_a_member(coordinator, version):
    member = joined(coordinator)

    assert commit(coordinator, 42, version, member=member) == "NONE"
    assert commit(coordinator, 43, version) == "UNKNOWN_MEMBER_ID"
    assert commit(coordinator, 43, version, member=Member(member.id, 7)) == "ILLEGAL_GENERATION"
    assert committed(coordinator) == 42


def test_a_member_that_commits_is_heard_from(coordinator):
    member = joined(coordinator)
    for _ in range(3):
        coordinator.advance(SESSION_MS - 1)
        assert commit(coordinator, 1, member=member) == "NONE"

    assert error_of(coordinator.ask(heartbeat_request(member))) == "NONE"


def test_a_member_hears_of_a_rebalance_when_it_is_too_late_to_commit(coordinator):
    member = joined(coordinator)
    send_join(coordinator)
    assert commit(coordinator, 1, member=member) == "NONE", "what it has read before the rebalance"

    coordinator.advance(SESSION_MS)

    assert commit(coordinator, 2, member=member) == "UNKNOWN_MEMBER_ID"


@every_version(offset_commit)
def test_the_answer_leaves_when_the_offset_is_on_the_disk(version):
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    ticket = node.send(commit_request(node, 42), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert error_of(node.answer(ticket).topics[0].partitions[0]) == "NONE"


@every_version(offset_commit)
def test_one_that_does_not_get_there_in_time_says_so(version):
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    ticket = node.send(commit_request(node, 42), version)

    node.advance(5_000)

    assert error_of(node.answer(ticket).topics[0].partitions[0]) == "COORDINATOR_NOT_AVAILABLE"


@pytest.mark.parametrize("clean", [True, False])
def test_an_offset_is_there_after_a_restart(coordinator, clean):
    commit(coordinator, 42)

    coordinator.restart(clean)
    coordinator.settle()

    assert committed(coordinator) == 42


# ── refusals ─────────────────────────────────────────────────────────────────────────


def mixed_request(node, **how):
    """An offset for a partition that is there, for one that is not, and for a topic that is not."""
    request = commit_request(node, 5, **how)
    request.topics[0].partitions.append(OffsetCommitRequestPartition(9, 5, committed_metadata=""))
    nowhere = [OffsetCommitRequestPartition(0, 5, committed_metadata="")]
    request.topics.append(OffsetCommitRequestTopic("nope", b"\x07" * 16, nowhere))
    return request


def errors_of(answer):
    return [names_of(each.error_code for each in topic.partitions) for topic in answer.topics]


def missing(version):
    return "UNKNOWN_TOPIC_ID" if version >= IDS_SINCE else "UNKNOWN_TOPIC_OR_PARTITION"


@every_version(offset_commit)
def test_a_partition_that_is_not_there_keeps_the_others_from_nothing(coordinator, version):
    answer = coordinator.ask(mixed_request(coordinator), version)

    assert errors_of(answer) == [["NONE", "UNKNOWN_TOPIC_OR_PARTITION"], [missing(version)]]
    assert committed(coordinator) == 5


@every_version(offset_commit)
def test_topics_are_answered_by_what_they_were_called_by(coordinator, version):
    request = mixed_request(coordinator)

    answer = coordinator.ask(request, version)

    if version >= IDS_SINCE:
        assert [topic.topic_id for topic in answer.topics] == [topic.topic_id for topic in request.topics]
    else:
        assert [topic.name for topic in answer.topics] == [TOPIC, "nope"]


@every_version(offset_commit)
def test_a_refusal_of_the_member_goes_to_the_partitions_that_are_there(coordinator, version):
    joined(coordinator)

    answer = coordinator.ask(mixed_request(coordinator, member=("who?", 1)), version)

    assert errors_of(answer) == [["UNKNOWN_MEMBER_ID", "UNKNOWN_TOPIC_OR_PARTITION"], [missing(version)]]


@every_version(offset_commit)
def test_a_generation_of_a_group_that_nobody_knows(coordinator, version):
    code = commit(coordinator, 5, version, member=("m", 3))

    assert code == ("GROUP_ID_NOT_FOUND" if version >= NOT_FOUND_SINCE else "ILLEGAL_GENERATION")


@every_version(offset_commit)
def test_a_group_without_a_name_may_have_offsets(coordinator, version):
    assert commit(coordinator, 5, version, group="") == "NONE"
    assert committed(coordinator, group="") == 5


@every_version(offset_commit)
def test_metadata_that_is_too_large_is_refused_for_its_partition(coordinator, version):
    assert commit(coordinator, 5, version, metadata="m" * 4_097) == "OFFSET_METADATA_TOO_LARGE"
    assert committed(coordinator) == -1


@every_version(offset_commit)
def test_while_the_group_is_loaded_clients_come_again(coordinator, version):
    loading(coordinator)

    assert commit(coordinator, 6, version) == "COORDINATOR_LOAD_IN_PROGRESS"
    recover(coordinator)
    assert (commit(coordinator, 6, version), committed(coordinator)) == ("NONE", 6)


@every_version(offset_commit)
def test_where_there_is_no_coordinator(version):
    node = SmallNode()
    node.create(TOPIC)

    assert commit(node, 6, version) == "NOT_COORDINATOR"


@every_version(offset_commit)
def test_a_full_disk_takes_no_offset_and_loses_none(coordinator, version):
    commit(coordinator, 5)
    coordinator.disk.fill_up()

    assert commit(coordinator, 6, version) == "NOT_COORDINATOR"
    assert committed(coordinator) == 5
    coordinator.disk.free_up()

    assert (commit(coordinator, 7, version), committed(coordinator, group=GROUP)) == ("NONE", 7)
