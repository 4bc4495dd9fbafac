"""How far groups have read: one group or several, in the form of each version."""

import pytest

from andiron.broker.handlers import offset_fetch
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from worlds.coordinating import (
    DURABLY,
    GROUP,
    TOPIC,
    begun,
    commit,
    commit_request,
    consumer_heartbeat,
    coordinating,
    every_version,
    joined,
    loading,
    offset_fetch_request,
    recover,
    topic_id,
    txn_commit,
)
from worlds.node import SmallNode, error_of

SEVERAL_SINCE, ALL_SINCE, STABLE_SINCE, MEMBERS_SINCE, IDS_SINCE = 8, 2, 7, 9, 10


def fetch(node, version, **how):
    """The partitions that a version answers with, of one topic."""
    answer = node.ask(offset_fetch_request(node, **how), version)
    topics = answer.topics if version < SEVERAL_SINCE else answer.groups[0].topics
    return topics[0].partitions


def error_at_top(node, version, **how):
    """The error of all, in the place that the version has for it."""
    answer = node.ask(offset_fetch_request(node, **how), version)
    if version >= SEVERAL_SINCE:
        [group] = answer.groups
        assert group.topics == []
        return error_of(group)
    if version >= ALL_SINCE:
        assert answer.topics == []
        return error_of(answer)
    [[found]] = [topic.partitions for topic in answer.topics]
    assert (found.committed_offset, found.metadata) == (-1, "")
    return error_of(found)


@every_version(offset_fetch)
def test_what_was_committed_is_told_and_nothing_where_nothing_was(coordinator, version):
    commit(coordinator, 42, partition=1)

    found = fetch(coordinator, version, partitions=[0, 1, 7])

    assert [(each.partition_index, each.committed_offset, each.metadata, error_of(each)) for each in found] == [
        (0, -1, "", "NONE"), (1, 42, "note", "NONE"), (7, -1, "", "NONE"),
    ]  # fmt: skip


@every_version(offset_fetch, since=ALL_SINCE)
def test_no_topics_are_all_topics(coordinator, version):
    coordinator.create("u")
    commit(coordinator, 1)
    commit(coordinator, 2, topic="u")
    request = OffsetFetchRequest(GROUP, None, [OffsetFetchRequestGroup(GROUP, topics=None)])

    answer = coordinator.ask(request, version)

    topics = answer.topics if version < SEVERAL_SINCE else answer.groups[0].topics
    assert [topic.partitions[0].committed_offset for topic in topics] == [1, 2]
    if version >= IDS_SINCE:
        assert [topic.topic_id for topic in topics] == [topic_id(coordinator, name) for name in "tu"]
    else:
        assert [topic.name for topic in topics] == ["t", "u"]


@every_version(offset_fetch, since=SEVERAL_SINCE)
def test_several_groups_are_answered_each_for_itself(coordinator, version):
    commit(coordinator, 1, group="a")
    commit(coordinator, 2, group="b")
    wanted = [OffsetFetchRequestTopics(TOPIC, topic_id(coordinator), [0])]
    groups = [OffsetFetchRequestGroup(name, topics=wanted) for name in ("b", "none", "a")]

    answer = coordinator.ask(OffsetFetchRequest(groups=groups), version)

    found = [(each.group_id, each.topics[0].partitions[0].committed_offset) for each in answer.groups]
    assert found == [("b", 2), ("none", -1), ("a", 1)]


@every_version(offset_fetch, since=IDS_SINCE)
def test_an_id_that_no_topic_has(coordinator, version):
    wanted = [OffsetFetchRequestTopics("", b"\x07" * 16, [0])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, topics=wanted)])

    [topic] = coordinator.ask(request, version).groups[0].topics

    assert [error_of(each) for each in topic.partitions] == ["UNKNOWN_TOPIC_ID"]


@every_version(offset_fetch, since=STABLE_SINCE)
def test_an_offset_that_a_transaction_may_replace_is_not_stable(coordinator, version):
    commit(coordinator, 5)
    txn_commit(coordinator, begun(coordinator), 6)

    [unstable] = fetch(coordinator, version, stable=True)
    [found] = fetch(coordinator, version)

    assert (error_of(unstable), unstable.committed_offset) == ("UNSTABLE_OFFSET_COMMIT", -1)
    assert found.committed_offset == 5


@every_version(offset_fetch)
def test_the_answer_waits_for_what_it_tells_to_be_committed(version):
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    node.send(commit_request(node, 42))
    ticket = node.send(offset_fetch_request(node), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert node.answer(ticket) is not None


@every_version(offset_fetch)
def test_if_that_takes_too_long_clients_are_sent_to_look_for_the_coordinator(version):
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    node.send(commit_request(node, 42))
    ticket = node.send(offset_fetch_request(node), version)

    node.advance(5_000)

    answer = node.answer(ticket)
    if version < ALL_SINCE:
        answer = answer.topics[0].partitions[0]
    elif version >= SEVERAL_SINCE:
        answer = answer.groups[0]
    assert error_of(answer) == "NOT_COORDINATOR"


@every_version(offset_fetch)
def test_while_the_group_is_loaded_the_error_stands_where_the_version_has_a_place_for_it(
    coordinator, version
):
    loading(coordinator)

    assert error_at_top(coordinator, version) == "COORDINATOR_LOAD_IN_PROGRESS"
    recover(coordinator)
    assert [each.committed_offset for each in fetch(coordinator, version)] == [5]


@every_version(offset_fetch)
def test_where_there_is_no_coordinator(version):
    node = SmallNode()
    node.create(TOPIC)

    assert error_at_top(node, version) == "NOT_COORDINATOR"


@every_version(offset_fetch)
def test_anybody_may_know_what_a_classic_group_has_committed(coordinator, version):
    member = joined(coordinator)
    commit(coordinator, 5, member=member)

    assert [each.committed_offset for each in fetch(coordinator, version)] == [5]


@every_version(offset_fetch, since=MEMBERS_SINCE)
def test_of_a_group_that_the_broker_assigns_to_only_members_of_the_epoch_are_told(coordinator, version):
    epoch = coordinator.ask(consumer_heartbeat()).member_epoch

    def answer(member_id, member_epoch):
        group = OffsetFetchRequestGroup(GROUP, member_id, member_epoch, topics=None)
        return error_of(coordinator.ask(OffsetFetchRequest(groups=[group]), version).groups[0])

    assert answer("m", epoch) == "NONE"
    assert answer("m", epoch - 1) == "STALE_MEMBER_EPOCH"
    assert answer("who?", epoch) == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("group", ["", "none"])
@every_version(offset_fetch)
def test_a_group_that_nobody_knows_has_committed_nothing(coordinator, version, group):
    assert [each.committed_offset for each in fetch(coordinator, version, group=group)] == [-1]
