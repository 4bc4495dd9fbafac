"""Commit or abort: an outcome that stands, and who the producer is after it."""

import pytest

from andiron.broker.handlers import end_txn
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.transactions.records import encode_record
from worlds.coordinating import (
    DURABLY,
    TOPIC,
    TRANSACTIONS,
    TX,
    Producer,
    add_request,
    begun,
    coordinating,
    end_request,
    every_version,
    in_transaction,
    loading,
    recover,
    shard_of,
    stable_end,
    transaction,
)
from worlds.node import SmallNode, error_of

FENCED_SINCE, BUMPS_SINCE = 2, 5
LAST_EPOCH = 32_766


def ending(node, version, producer, committed=True, **how):
    return error_of(node.ask(end_request(producer, committed, **how), version))


def state(node):
    return transaction(node).transaction_state


@pytest.mark.parametrize("committed", [True, False])
@every_version(end_txn)
def test_a_transaction_is_ended_everywhere(coordinator, version, committed):
    producer = in_transaction(coordinator, b"a", b"b")
    assert stable_end(coordinator) == 0

    answer = coordinator.ask(end_request(producer, committed), version)

    assert error_of(answer) == "NONE"
    assert state(coordinator) == ("CompleteCommit" if committed else "CompleteAbort")
    assert stable_end(coordinator) == 3
    bumped = (producer.id, producer.epoch + 1) if version >= BUMPS_SINCE else (-1, -1)
    assert (answer.producer_id, answer.producer_epoch) == bumped


@pytest.mark.parametrize("committed", [True, False])
@every_version(end_txn)
def test_asked_again_it_gives_the_same_answer_after_a_crash_too(coordinator, version, committed):
    producer = in_transaction(coordinator)
    request = end_request(producer, committed)
    first = coordinator.ask(request, version)

    recover(coordinator)

    assert coordinator.ask(request, version) == first
    assert ending(coordinator, version, producer, not committed) == "INVALID_TXN_STATE"


@every_version(end_txn)
def test_the_answer_leaves_when_the_outcome_is_on_the_disk(version):
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    ticket = node.send(end_request(producer), version)
    assert node.answer(ticket) is None

    node.do_flush()

    assert error_of(node.answer(ticket)) == "NONE"


@every_version(end_txn)
def test_where_nothing_was_begun_nothing_can_be_committed(coordinator, version):
    producer = begun(coordinator)

    assert ending(coordinator, version, producer) == "INVALID_TXN_STATE"


@every_version(end_txn)
def test_where_nothing_was_begun_an_abort_may_bring_the_next_epoch(coordinator, version):
    producer = begun(coordinator)

    answer = coordinator.ask(end_request(producer, committed=False), version)

    if version >= BUMPS_SINCE:
        assert (error_of(answer), answer.producer_epoch) == ("NONE", producer.epoch + 1)
    else:
        assert error_of(answer) == "INVALID_TXN_STATE"


@every_version(end_txn)
def test_producers_that_do_not_hold_the_id(coordinator, version):
    old, new = begun(coordinator), begun(coordinator)
    coordinator.ask(add_request(new), 3)
    fenced = "PRODUCER_FENCED" if version >= FENCED_SINCE else "INVALID_PRODUCER_EPOCH"

    assert ending(coordinator, version, old) == fenced
    assert ending(coordinator, version, Producer(new.id, new.epoch + 1)) == fenced
    assert ending(coordinator, version, Producer(new.id + 7, 0)) == "INVALID_PRODUCER_ID_MAPPING"
    assert state(coordinator) == "Ongoing"


@pytest.mark.parametrize(("tx", "code"), [("", "INVALID_REQUEST"), ("other", "INVALID_PRODUCER_ID_MAPPING")])
@every_version(end_txn)
def test_ids_that_nobody_holds(coordinator, version, tx, code):
    answer = coordinator.ask(end_request(Producer(7, 0), tx=tx), version)

    assert (error_of(answer), answer.producer_id, answer.producer_epoch) == (code, -1, -1)


@every_version(end_txn)
def test_while_it_is_still_ending(coordinator, version):
    producer = in_transaction(coordinator)
    coordinator.partition(TOPIC).fail("the disk is on fire")
    assert ending(coordinator, version, producer) == "NONE"

    assert ending(coordinator, version, producer) == "CONCURRENT_TRANSACTIONS"


@every_version(end_txn)
def test_while_the_coordinator_is_loading(coordinator, version):
    loading(coordinator)

    assert ending(coordinator, version, Producer(0, 0)) == "COORDINATOR_LOAD_IN_PROGRESS"


@every_version(end_txn)
def test_where_there_is_no_coordinator(version):
    assert ending(SmallNode(), version, Producer(0, 0)) == "NOT_COORDINATOR"


@every_version(end_txn)
def test_a_full_disk_decides_nothing(coordinator, version):
    producer = in_transaction(coordinator)
    coordinator.disk.fill_up()
    assert ending(coordinator, version, producer) == "NOT_COORDINATOR"

    coordinator.disk.free_up()

    assert state(coordinator) == "Ongoing"
    assert ending(coordinator, version, producer) == "NONE"


def use_up_epochs(node, producer):
    """As if the producer had ended so many transactions that one epoch is left."""
    known = node.node.broker.transactions.machine_of(TX).transactions[TX].record()
    known.value.producer_epoch = LAST_EPOCH
    records = build([Record(0, node.now, *encode_record(known))])
    node.partition(TRANSACTIONS, shard_of(TX)).append_own(records, node.now)
    recover(node)
    return Producer(producer.id, LAST_EPOCH)


def test_when_epochs_run_out_the_producer_goes_on_under_another_id(coordinator):
    producer = use_up_epochs(coordinator, begun(coordinator))

    answer = coordinator.ask(end_request(producer, committed=False))

    assert (error_of(answer), answer.producer_epoch) == ("NONE", 0)
    assert answer.producer_id != producer.id


def test_if_there_is_no_other_id_to_be_had_nothing_is_ended(coordinator):
    producer = use_up_epochs(coordinator, begun(coordinator))
    coordinator.disk.fill_up()

    assert error_of(coordinator.ask(end_request(producer, committed=False))) in (
        "KAFKA_STORAGE_ERROR", "NOT_COORDINATOR",
    )  # fmt: skip
    coordinator.disk.free_up()

    assert state(coordinator) == "Empty"
