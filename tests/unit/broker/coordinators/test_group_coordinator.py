"""Groups and the partition they live in: found by name, told of topics and of transactions, loaded from the log."""

import logging

import pytest

from andiron.broker.coordinators.coordinator import partition_of
from andiron.groups.records import TransactionEnded
from andiron.model.ids import Offset
from andiron.records.batch import seal
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from andiron.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from andiron.wire.messages.describe_groups import DescribeGroupsRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from worlds.coordinating import (
    DURABLY,
    GROUP,
    OFFSETS,
    SESSION_MS,
    SHARDS,
    TOPIC,
    Member,
    begun,
    commit,
    committed,
    consumer_heartbeat,
    coordinating,
    crash,
    end,
    heartbeat_request,
    joined,
    recover,
    send_join,
    shard_of,
    sync_request,
    topic_id,
    txn_commit,
    write_nonsense,
)
from worlds.node import SmallNode, error_of

GROUP_CONFIG = 32


@pytest.fixture
def node():
    return coordinating()


def described(node, group=GROUP):
    return node.ask(DescribeGroupsRequest([group]), 5).groups[0]


# ── where a group is ─────────────────────────────────────────────────────────────────


def test_a_group_is_kept_in_the_partition_of_its_name(node):
    commit(node, 5)

    ends = [node.log(OFFSETS, index).end for index in range(SHARDS)]

    assert ends == [1 if index == shard_of(GROUP) else 0 for index in range(SHARDS)]


def test_its_number_is_known_before_the_topic_is_there_and_follows_from_the_topic_then():
    node = SmallNode(offsets_topic_num_partitions="7")
    groups = node.node.broker.groups
    assert groups.partition_of("group-é") == partition_of("group-é", 7)

    node.create(OFFSETS, 4)

    assert groups.partition_of("group-é") == partition_of("group-é", 4)


def test_while_there_is_no_topic_nobody_coordinates():
    node = SmallNode()
    node.create(TOPIC)

    assert committed(node) == "NOT_COORDINATOR"
    assert node.ask(ListGroupsRequest()).groups == []


def test_what_all_shards_say_is_put_together(node):
    names = [f"group-{number}" for number in range(10)]
    assert len({shard_of(name) for name in names}) == SHARDS
    for name in names:
        commit(node, 5, group=name)

    listed = node.ask(ListGroupsRequest())

    assert sorted(group.group_id for group in listed.groups) == sorted(names)


def test_a_member_is_known_by_its_client_and_by_its_host_with_a_slash(node):
    joined(node)

    [member] = described(node).members

    assert (member.client_id, member.client_host) == ("test", "/127.0.0.1")


def test_a_client_without_a_name_has_an_empty_one(node):
    node.ask(consumer_heartbeat(), client_id=None)

    [member] = node.ask(ConsumerGroupDescribeRequest([GROUP])).groups[0].members

    assert member.client_id == ""


# ── topics ───────────────────────────────────────────────────────────────────────────


def test_offsets_of_a_topic_go_with_it_and_those_of_others_stay(node):
    node.create("other")
    commit(node, 5)
    commit(node, 6, topic="other")

    node.delete("other")
    node.create("other")

    assert (committed(node), committed(node, topic="other")) == (5, -1)
    recover(node)
    assert (committed(node), committed(node, topic="other")) == (5, -1)


def test_a_group_that_the_broker_assigns_to_hears_of_a_topic_that_grows(node):
    first = node.ask(consumer_heartbeat())
    assert [each.partitions for each in first.assignment.topic_partitions] == [[0, 1, 2]]

    node.ask(CreatePartitionsRequest([CreatePartitionsTopic(TOPIC, 4, None)], 1_000))
    second = node.ask(consumer_heartbeat(epoch=first.member_epoch))

    assert [each.partitions for each in second.assignment.topic_partitions] == [[0, 1, 2, 3]]


def test_topics_can_be_named_by_a_pattern(node):
    node.create("tall")
    node.create("other")
    request = consumer_heartbeat(topics=[])
    request.subscribed_topic_regex = "t.*"

    answer = node.ask(request, 1)

    assigned = sorted(each.topic_id for each in answer.assignment.topic_partitions)
    assert assigned == sorted(topic_id(node, name) for name in (TOPIC, "tall"))


def test_a_group_has_settings_of_its_own(node):
    node.ask(node.alter_request(GROUP_CONFIG, GROUP, {"consumer_heartbeat_interval_ms": 7_000}))

    intervals = [
        node.ask(consumer_heartbeat(group=group)).heartbeat_interval_ms for group in (GROUP, "other")
    ]

    assert intervals == [7_000, 5_000]


# ── transactions ─────────────────────────────────────────────────────────────────────


def test_a_transactions_offsets_count_when_its_marker_is_written(node):
    producer = begun(node)
    assert txn_commit(node, producer, 5) == "NONE"
    assert (committed(node), committed(node, stable=True)) == (-1, "UNSTABLE_OFFSET_COMMIT")

    end(node, producer)

    assert committed(node, stable=True) == 5


@pytest.mark.parametrize(("outcome", "offset"), [(True, 5), (False, -1)])
def test_how_a_transaction_ended_is_known_after_a_crash(node, outcome, offset):
    producer = begun(node)
    txn_commit(node, producer, 5)
    end(node, producer, committed=outcome)

    recover(node)

    assert committed(node, stable=True) == offset


def test_only_the_groups_of_the_partition_hear_of_a_marker(node):
    producer = begun(node)
    txn_commit(node, producer, 5)
    groups = node.node.broker.groups
    elsewhere = node.partition(OFFSETS, (shard_of(GROUP) + 1) % SHARDS)

    groups.transaction_ended(elsewhere, Offset(0), TransactionEnded(producer.id, committed=True))

    assert committed(node, stable=True) == "UNSTABLE_OFFSET_COMMIT"


# ── loading ──────────────────────────────────────────────────────────────────────────


def test_while_a_partition_is_loaded_its_groups_wait_and_those_of_others_do_not(node):
    elsewhere = next(f"g{number}" for number in range(99) if shard_of(f"g{number}") != shard_of(GROUP))
    commit(node, 5)

    crash(node)

    assert committed(node) == "COORDINATOR_LOAD_IN_PROGRESS"
    assert committed(node, group=elsewhere) == -1
    assert error_of(node.ask(ListGroupsRequest())) == "COORDINATOR_LOAD_IN_PROGRESS"
    node.settle()
    assert committed(node) == 5


def test_a_long_log_is_loaded_a_piece_at_a_time(node):
    for number in range(129):
        commit(node, number, metadata="m" * 4_096, partition=number % 3)
    crash(node)
    turns = 0
    while node.node.next_deadline() <= node.now:
        node.wake()
        turns += 1

    assert turns > 1 and [committed(node, partition=index) for index in range(3)] == [126, 127, 128]


def test_members_of_a_group_that_was_loaded_have_a_session_from_then_on(node):
    member = joined(node)
    node.advance(SESSION_MS - 1)
    recover(node)

    node.advance(SESSION_MS - 1)
    assert error_of(node.ask(heartbeat_request(member))) == "NONE"
    node.advance(SESSION_MS)
    assert error_of(node.ask(heartbeat_request(member))) == "UNKNOWN_MEMBER_ID"


def test_a_record_that_makes_no_sense_is_reported_and_the_others_are_loaded(node, caplog):
    commit(node, 5)
    write_nonsense(node, OFFSETS, GROUP)
    commit(node, 6, partition=1)

    with caplog.at_level(logging.WARNING):
        recover(node)

    assert [committed(node, partition=index) for index in range(2)] == [5, 6]
    assert any(f"Record of {OFFSETS} makes no sense" in each for each in caplog.messages)


def test_a_batch_that_cannot_be_read_is_reported_and_the_others_are_loaded(node, caplog):
    commit(node, 5)
    broken = build([Record(0, node.now, b"key", b"value")])
    broken[61:] = bytes(len(broken) - 61)
    seal(broken, 0, len(broken))
    node.partition(OFFSETS, shard_of(GROUP)).append_own(broken, node.now)
    commit(node, 6, partition=1)

    with caplog.at_level(logging.WARNING):
        recover(node)

    assert [committed(node, partition=index) for index in range(2)] == [5, 6]
    assert any(
        f"Batch of {OFFSETS} cannot be read" in each and "offset=1 " in each for each in caplog.messages
    )


# ── trouble ──────────────────────────────────────────────────────────────────────────


def test_an_answer_waits_until_what_it_says_is_on_the_disk():
    node = coordinating(**DURABLY)
    node.flush_at_once = False
    ticket = send_join(node)
    node.settle()
    joining = node.answer(ticket)
    member = Member(joining.member_id, joining.generation_id)
    ticket = node.send(sync_request(member, {member.id: b"all"}))
    assert node.answer(ticket) is None

    node.do_flushes()

    assert node.answer(ticket).assignment == b"all"


def test_a_disk_that_fills_up_in_the_middle_of_a_rebalance_sends_all_to_look_again(node):
    leader = joined(node)
    follower = send_join(node)
    rejoin = send_join(node, member_id=leader.id)
    node.settle()
    generation = node.answer(rejoin).generation_id
    leader, other = Member(leader.id, generation), Member(node.answer(follower).member_id, generation)
    waiting = node.send(sync_request(other))
    node.disk.fill_up()

    refused = node.ask(sync_request(leader, {leader.id: b"a", other.id: b"b"}))

    assert [error_of(refused), error_of(node.answer(waiting))] == ["NOT_COORDINATOR", "NOT_COORDINATOR"]
    node.disk.free_up()
    node.settle()
    assert described(node).group_state == "Stable", "as the log has it: the generation before"
    assert error_of(node.ask(heartbeat_request(leader))) == "ILLEGAL_GENERATION"
    assert joined(node, group="another").generation == 1
