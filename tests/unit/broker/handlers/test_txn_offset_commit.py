"""Offsets of a group that count once the transaction commits."""

import pytest

from andiron.broker.coordinators import transaction_admission
from andiron.broker.handlers import txn_offset_commit
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode
from andiron.replication.leader import LeaderAndIsr
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from worlds.coordinating import (
    DURABLY,
    GROUP,
    OFFSETS,
    TOPIC,
    TX,
    Member,
    Producer,
    add_offsets_request,
    begun,
    commit,
    committed,
    coordinating,
    end,
    end_request,
    every_version,
    in_transaction,
    joined,
    loading,
    marker_request,
    names_of,
    recover,
    shard_of,
    transaction,
    txn_commit,
    txn_commit_request,
)
from worlds.node import SmallNode, error_of

ADDS_SINCE, ABORTABLE_SINCE, MEMBERS_SINCE, LOADING_SINCE = 5, 4, 3, 2


def producer_for(node, version, group=GROUP):
    """A producer in whose transaction the group's partition is, or will be."""
    producer = begun(node)
    if version < ADDS_SINCE:
        node.ask(add_offsets_request(producer, group=group))
    return producer


@pytest.mark.parametrize(("outcome", "offset"), [(True, 42), (False, 7)])
@every_version(txn_offset_commit)
def test_offsets_count_with_the_transaction_or_not_at_all(coordinator, version, outcome, offset):
    commit(coordinator, 7)
    producer = producer_for(coordinator, version)

    assert txn_commit(coordinator, producer, 42, version) == "NONE"
    assert committed(coordinator) == 7
    end(coordinator, producer, committed=outcome)

    assert committed(coordinator, stable=True) == offset


@every_version(txn_offset_commit)
def test_what_was_committed_in_a_transaction_survives_a_crash_in_the_middle_of_it(coordinator, version):
    producer = producer_for(coordinator, version)
    txn_commit(coordinator, producer, 42, version)

    recover(coordinator)

    assert committed(coordinator, stable=True) == "UNSTABLE_OFFSET_COMMIT"
    end(coordinator, producer)
    assert committed(coordinator, stable=True) == 42


@every_version(txn_offset_commit)
def test_the_groups_partition_must_be_part_of_the_transaction_or_becomes_so(coordinator, version):
    code = txn_commit(coordinator, begun(coordinator), 42, version)

    if version >= ADDS_SINCE:
        assert code == "NONE"
        [topic] = transaction(coordinator).topics
        assert (topic.topic, topic.partitions) == (OFFSETS, [shard_of(GROUP)])
    else:
        assert code == ("TRANSACTION_ABORTABLE" if version >= ABORTABLE_SINCE else "INVALID_TXN_STATE")
        assert committed(coordinator, stable=True) == -1


@every_version(txn_offset_commit)
def test_further_offsets_of_the_transaction_need_no_question(coordinator, version):
    producer = producer_for(coordinator, version)
    assert txn_commit(coordinator, producer, 1, version) == "NONE"

    assert txn_commit(coordinator, producer, 2, version, partition=1) == "NONE"

    end(coordinator, producer)
    assert (committed(coordinator), committed(coordinator, partition=1)) == (1, 2)


@every_version(txn_offset_commit)
def test_the_answer_leaves_when_the_offsets_are_on_the_disk(version):
    node = coordinating(**DURABLY)
    producer = producer_for(node, version)
    node.flush_at_once = False
    ticket = node.send(txn_commit_request(producer), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert error_of(node.answer(ticket).topics[0].partitions[0]) == "NONE"


def test_commits_that_come_together_while_the_question_is_out_are_all_taken():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    tickets = [node.send(txn_commit_request(producer, 5, partition=index), 5) for index in range(3)]

    node.do_flushes()

    answers = [node.answer(ticket).topics[0].partitions[0] for ticket in tickets]
    assert [error_of(answer) for answer in answers] == ["NONE", "NONE", "NONE"]


def test_a_commit_whose_transaction_is_ended_while_the_question_is_out_is_refused():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    late = node.send(txn_commit_request(producer), 5)
    node.send(marker_request(producer, (OFFSETS, shard_of(GROUP)), committed=False))

    node.do_flushes()

    assert error_of(node.answer(late).topics[0].partitions[0]) == "INVALID_TXN_STATE"


@pytest.mark.parametrize("zombie_first", [False, True])
def test_a_producer_that_was_replaced_takes_nothing_from_the_one_that_replaced_it(zombie_first):
    """Both ask at once: the old one is refused, and the answer to the new one is not thrown away with its own."""
    node = coordinating(**DURABLY)
    old = begun(node)
    new = begun(node)
    node.flush_at_once = False
    order = [old, new] if zombie_first else [new, old]
    tickets = {producer: node.send(txn_commit_request(producer), 5) for producer in order}

    node.do_flushes()

    codes = {each: error_of(node.answer(ticket).topics[0].partitions[0]) for each, ticket in tickets.items()}
    assert codes == {old: "INVALID_PRODUCER_EPOCH", new: "NONE"}


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_commit_whose_group_moves_while_the_question_is_out_is_sent_to_the_next_coordinator(comes_back):
    """INVALID_TXN_STATE would be the end of a producer that has done nothing wrong."""
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    ticket = node.send(txn_commit_request(producer), 5)
    partition, shards = node.partition(OFFSETS, shard_of(GROUP)), node.node.broker.groups.shards
    led = partition.leader()
    partition.follow(partition.epoch + 1, 0)
    shards.follow(partition, node.now)
    if comes_back:
        everybody = frozenset({1})
        partition.lead(
            LeaderAndIsr(1, partition.epoch + 1, everybody, everybody),
            watermark=led.watermark,
            now=node.now,
            lag_ms_max=1,
        )
        shards.follow(partition, node.now)

    node.do_flushes()

    assert error_of(node.answer(ticket).topics[0].partitions[0]) == "NOT_COORDINATOR"


@pytest.mark.parametrize("code", ["NETWORK_EXCEPTION", "NOT_COORDINATOR"])
def test_a_coordinator_of_the_transaction_that_cannot_be_asked_is_an_answer_that_is_not_there_yet(
    coordinator, code, monkeypatch
):
    away = Wait.failed(ErrorCode[code].error("gone"))
    monkeypatch.setattr(transaction_admission, "ask_coordinator", lambda *arguments: away)

    assert txn_commit(coordinator, begun(coordinator), 5, version=5) == "COORDINATOR_NOT_AVAILABLE"


def test_nobody_is_asked_where_verification_is_turned_off(coordinator):
    coordinator.alter_broker("1", transaction_partition_verification_enable="false")

    assert txn_commit(coordinator, begun(coordinator), 5, version=4) == "NONE"
    assert transaction(coordinator).transaction_state == "Empty", "so nobody will end it"


# ── refusals ─────────────────────────────────────────────────────────────────────────


@every_version(txn_offset_commit)
def test_producers_that_do_not_hold_the_id(coordinator, version):
    old, new = begun(coordinator), begun(coordinator)

    assert txn_commit(coordinator, old, 5, version) == "INVALID_PRODUCER_EPOCH"
    assert txn_commit(coordinator, Producer(new.id + 7, 0), 5, version) == "INVALID_PRODUCER_ID_MAPPING"
    assert txn_commit(coordinator, new, 5, version, tx="other") == "INVALID_PRODUCER_ID_MAPPING"


@every_version(txn_offset_commit)
def test_while_the_last_transaction_is_still_ending(coordinator, version):
    producer = in_transaction(coordinator)
    coordinator.partition(TOPIC).fail("the disk is on fire")
    coordinator.ask(end_request(producer), 4)

    assert txn_commit(coordinator, producer, 5, version) == "CONCURRENT_TRANSACTIONS"


@every_version(txn_offset_commit, since=MEMBERS_SINCE)
def test_a_member_is_checked_if_one_is_named(coordinator, version):
    member = joined(coordinator)
    producer = producer_for(coordinator, version)

    assert txn_commit(coordinator, producer, 5, version, member=member) == "NONE"
    assert txn_commit(coordinator, producer, 5, version, member=("who?", 1)) == "UNKNOWN_MEMBER_ID"
    stale = Member(member.id, member.generation - 1)
    assert txn_commit(coordinator, producer, 5, version, member=stale) == "ILLEGAL_GENERATION"


def mixed_request(producer, **how):
    """An offset for a partition that is there, for one that is not, and for a topic that is not."""
    request = txn_commit_request(producer, **how)
    request.topics[0].partitions.append(TxnOffsetCommitRequestPartition(9, 5, committed_metadata=""))
    nowhere = [TxnOffsetCommitRequestPartition(0, 5, committed_metadata="")]
    request.topics.append(TxnOffsetCommitRequestTopic("nope", nowhere))
    return request


@pytest.mark.parametrize(
    ("how", "code"),
    [({}, "NONE"), ({"group": ""}, "INVALID_GROUP_ID"), ({"tx": "other"}, "INVALID_PRODUCER_ID_MAPPING")],
)
@every_version(txn_offset_commit)
def test_a_partition_that_is_not_there_hears_that_whatever_the_others_hear(coordinator, version, how, code):
    producer = producer_for(coordinator, version)

    answer = coordinator.ask(mixed_request(producer, **how), version)

    missing = "UNKNOWN_TOPIC_OR_PARTITION"
    told = [names_of(each.error_code for each in topic.partitions) for topic in answer.topics]
    assert told == [[code, missing], [missing]]


@every_version(txn_offset_commit)
def test_if_no_partition_is_there_the_transaction_is_not_touched(coordinator, version):
    request = mixed_request(begun(coordinator))
    del request.topics[0]

    answer = coordinator.ask(request, version)

    assert error_of(answer.topics[0].partitions[0]) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert transaction(coordinator).transaction_state == "Empty"


@every_version(txn_offset_commit)
def test_while_a_coordinator_is_loading_the_oldest_clients_hear_that_there_is_none(coordinator, version):
    loading(coordinator)

    code = txn_commit(coordinator, Producer(0, 0), 5, version)

    loads, none = "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE"
    assert code == (loads if version >= LOADING_SINCE else none)


@every_version(txn_offset_commit)
def test_where_there_is_no_coordinator(version):
    node = SmallNode()
    node.create(TOPIC)

    assert txn_commit(node, Producer(0, 0), 5, version, tx=TX) == "NOT_COORDINATOR"


@every_version(txn_offset_commit)
def test_a_full_disk_takes_no_offset_and_loses_none(coordinator, version):
    producer = producer_for(coordinator, version)
    txn_commit(coordinator, producer, 5, version)
    coordinator.disk.fill_up()

    assert txn_commit(coordinator, producer, 6, version) == "NOT_COORDINATOR"
    coordinator.disk.free_up()

    end(coordinator, producer)
    assert committed(coordinator, stable=True) == 5
