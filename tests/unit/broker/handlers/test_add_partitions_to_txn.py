"""Partitions that a transaction is going to write to."""

import pytest

from andiron.broker.handlers import add_partitions_to_txn
from andiron.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from worlds.coordinating import (
    DURABLY,
    TOPIC,
    TX,
    Producer,
    add_request,
    begun,
    coordinating,
    end_request,
    every_version,
    in_transaction,
    loading,
    names_of,
    recover,
    transaction,
)
from worlds.node import SmallNode, error_of

FENCED_SINCE, SEVERAL_SINCE, ABORTABLE_SINCE = 2, 4, 5


def errors_of(answer, version):
    """The error of each partition, in the place that the version has for it."""
    if version < SEVERAL_SINCE:
        topics = answer.results_by_topic_v3_and_below
    else:
        assert error_of(answer) == "NONE"
        [told] = answer.results_by_transaction
        assert told.transactional_id == TX
        topics = told.topic_results
    return names_of(each.partition_error_code for topic in topics for each in topic.results_by_partition)


def add(node, version, producer, *partitions, **how):
    return errors_of(node.ask(add_request(producer, *partitions, **how), version), version)


def fenced(version):
    return "PRODUCER_FENCED" if version >= FENCED_SINCE else "INVALID_PRODUCER_EPOCH"


@every_version(add_partitions_to_txn)
def test_a_transaction_begins_with_its_first_partition(coordinator, version):
    producer = begun(coordinator)
    assert transaction(coordinator).transaction_state == "Empty"

    assert add(coordinator, version, producer, (TOPIC, 0), (TOPIC, 2)) == ["NONE", "NONE"]

    found = transaction(coordinator)
    assert (found.transaction_state, found.topics[0].partitions) == ("Ongoing", [0, 2])


@every_version(add_partitions_to_txn)
def test_what_was_added_is_known_after_a_crash(coordinator, version):
    producer = begun(coordinator)
    add(coordinator, version, producer)

    recover(coordinator)

    assert transaction(coordinator).topics[0].partitions == [0]
    assert add(coordinator, version, producer) == ["NONE"]


@every_version(add_partitions_to_txn)
def test_a_partition_that_is_not_there_holds_up_all_of_them(coordinator, version):
    producer = begun(coordinator)

    answer = add(coordinator, version, producer, (TOPIC, 0), (TOPIC, 9), ("nope", 0))

    missing = "UNKNOWN_TOPIC_OR_PARTITION"
    assert answer == ["OPERATION_NOT_ATTEMPTED", missing, missing]
    assert transaction(coordinator).transaction_state == "Empty"


@every_version(add_partitions_to_txn)
def test_producers_that_do_not_hold_the_id(coordinator, version):
    old, new = begun(coordinator), begun(coordinator)

    assert add(coordinator, version, old) == [fenced(version)]
    assert add(coordinator, version, Producer(new.id, new.epoch + 1)) == [fenced(version)]
    assert add(coordinator, version, Producer(new.id + 7, 0)) == ["INVALID_PRODUCER_ID_MAPPING"]


@pytest.mark.parametrize(("tx", "code"), [("", "INVALID_REQUEST"), ("other", "INVALID_PRODUCER_ID_MAPPING")])
@every_version(add_partitions_to_txn, until=SEVERAL_SINCE - 1)
def test_ids_that_nobody_holds(coordinator, version, tx, code):
    assert add(coordinator, version, Producer(7, 0), tx=tx) == [code]


@every_version(add_partitions_to_txn)
def test_while_the_last_one_is_still_ending_the_next_cannot_begin(coordinator, version):
    producer = in_transaction(coordinator)
    coordinator.partition(TOPIC).fail("the disk is on fire")
    coordinator.ask(end_request(producer), 4)

    assert add(coordinator, version, producer, (TOPIC, 1)) == ["CONCURRENT_TRANSACTIONS"]


@every_version(add_partitions_to_txn)
def test_the_answer_leaves_when_it_is_on_the_disk(version):
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    ticket = node.send(add_request(producer), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert errors_of(node.answer(ticket), version) == ["NONE"]


@every_version(add_partitions_to_txn)
def test_while_the_coordinator_is_loading(coordinator, version):
    loading(coordinator)

    assert add(coordinator, version, Producer(0, 0)) == ["COORDINATOR_LOAD_IN_PROGRESS"]


@every_version(add_partitions_to_txn)
def test_where_there_is_no_coordinator(version):
    node = SmallNode()
    node.create(TOPIC)

    assert add(node, version, Producer(7, 0)) == ["NOT_COORDINATOR"]


@every_version(add_partitions_to_txn)
def test_a_full_disk_adds_nothing(coordinator, version):
    producer = begun(coordinator)
    coordinator.disk.fill_up()
    assert add(coordinator, version, producer) == ["NOT_COORDINATOR"]

    coordinator.disk.free_up()

    assert transaction(coordinator).transaction_state == "Empty"
    assert add(coordinator, version, producer) == ["NONE"]


# ── what brokers ask ─────────────────────────────────────────────────────────────────


@every_version(add_partitions_to_txn, since=SEVERAL_SINCE)
def test_a_question_adds_nothing(coordinator, version):
    producer = begun(coordinator)
    missing = "TRANSACTION_ABORTABLE" if version >= ABORTABLE_SINCE else "INVALID_TXN_STATE"
    assert add(coordinator, version, producer, verify_only=True) == [missing]
    assert transaction(coordinator).transaction_state == "Empty"

    add(coordinator, version, producer)

    assert add(coordinator, version, producer, (TOPIC, 0), (TOPIC, 1), verify_only=True) == ["NONE", missing]


@every_version(add_partitions_to_txn, since=SEVERAL_SINCE)
def test_of_several_transactions_each_is_answered(coordinator, version):
    first, second = begun(coordinator, "a"), begun(coordinator, "b")
    topics = [AddPartitionsToTxnTopic(TOPIC, [0])]
    wanted = [("b", second), ("none", first), ("a", Producer(first.id, 9)), ("", first)]
    request = AddPartitionsToTxnRequest(
        [AddPartitionsToTxnTransaction(tx, *producer, False, topics) for tx, producer in wanted]
    )

    answer = coordinator.ask(request, version)

    assert [
        (
            told.transactional_id,
            names_of([told.topic_results[0].results_by_partition[0].partition_error_code]),
        )
        for told in answer.results_by_transaction
    ] == [
        ("b", ["NONE"]),
        ("none", ["INVALID_PRODUCER_ID_MAPPING"]),
        ("a", ["PRODUCER_FENCED"]),
        ("", ["INVALID_REQUEST"]),
    ]


@every_version(add_partitions_to_txn, since=SEVERAL_SINCE)
def test_of_none_there_is_nothing_to_say(coordinator, version):
    answer = coordinator.ask(AddPartitionsToTxnRequest([]), version)

    assert (error_of(answer), answer.results_by_transaction) == ("NONE", [])
