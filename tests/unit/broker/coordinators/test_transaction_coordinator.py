"""Transactions and the partition they live in, and the markers that they owe to others."""

import logging

import pytest

from andiron.broker.coordinators.coordinator import partition_of
from andiron.broker.node.patience import MARKER_RETRY_MS
from andiron.model.ids import NEVER
from andiron.records.batch import iterate
from andiron.records.builder import build
from andiron.records.control import end_marker_of
from andiron.records.record import Record
from andiron.transactions.records import encode_record
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.list_transactions import ListTransactionsRequest
from worlds.coordinating import (
    DURABLY,
    OFFSETS,
    SHARDS,
    TOPIC,
    TRANSACTIONS,
    TX,
    begun,
    committed,
    coordinating,
    crash,
    end,
    end_request,
    in_transaction,
    recover,
    shard_of,
    stable_end,
    transaction,
    txn_commit,
    write,
    write_nonsense,
)
from worlds.node import SmallNode, error_of

SWEEP_MS = 10_000  # how often transactions that take too long are looked for


@pytest.fixture
def node():
    return coordinating()


def markers(node, topic=TOPIC, partition=0):
    """The markers in a partition, each with whether it commits and under which epoch."""
    log = node.log(topic, partition)
    batches = iterate(log.read(log.start, 1 << 20, log.end).read()) if log.end else []
    return [(end_marker_of(each).committed, each.producer_epoch) for each in batches if each.is_control]


def state(node, tx=TX):
    return transaction(node, tx).transaction_state


# ── where a transaction is ───────────────────────────────────────────────────────────


def test_a_transactional_id_is_kept_in_the_partition_of_its_name(node):
    begun(node)

    ends = [node.log(TRANSACTIONS, index).end for index in range(SHARDS)]

    assert ends == [1 if index == shard_of(TX) else 0 for index in range(SHARDS)]


def test_its_number_is_known_before_the_topic_is_there_and_follows_from_the_topic_then():
    node = SmallNode(transaction_state_log_num_partitions="7")
    transactions = node.node.broker.transactions
    assert transactions.partition_of("tx-é") == partition_of("tx-é", 7)

    node.create(TRANSACTIONS, 4)

    assert transactions.partition_of("tx-é") == partition_of("tx-é", 4)


def test_while_there_is_no_topic_nobody_coordinates():
    node = SmallNode()

    assert error_of(node.ask(InitProducerIdRequest(TX, 1_000))) == "NOT_COORDINATOR"
    assert node.ask(ListTransactionsRequest()).transaction_states == []


def test_what_all_shards_say_is_put_together(node):
    names = [f"tx-{number}" for number in range(10)]
    assert len({shard_of(name) for name in names}) == SHARDS
    for name in names:
        begun(node, name)

    listed = node.ask(ListTransactionsRequest()).transaction_states

    assert sorted(each.transactional_id for each in listed) == sorted(names)


# ── markers ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("outcome", [True, False])
def test_the_end_is_told_to_every_partition_and_then_it_is_complete(node, outcome):
    producer = in_transaction(node)
    write(node, producer, partition=2)
    txn_commit(node, producer, 5)

    end(node, producer, committed=outcome)

    places = [(TOPIC, 0), (TOPIC, 2), (OFFSETS, shard_of("g"))]
    assert [markers(node, *place) for place in places] == [[(outcome, 1)]] * 3
    assert [stable_end(node, *place) for place in places] == [2, 2, 2]
    assert state(node) == ("CompleteCommit" if outcome else "CompleteAbort")
    assert committed(node, stable=True) == (5 if outcome else -1)


def test_no_marker_leaves_before_the_decision_is_committed():
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    ticket = node.send(end_request(producer))
    assert (markers(node), node.answer(ticket)) == ([], None)

    node.do_flush()

    assert markers(node) == [(True, 1)]
    assert error_of(node.answer(ticket)) == "NONE", "the outcome stands, so it is told"
    node.do_flushes()
    assert state(node) == "CompleteCommit"


def test_the_next_transaction_waits_until_all_markers_are_committed():
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    node.send(end_request(producer))
    node.do_flush()
    waiting = node.send(InitProducerIdRequest(TX, 60_000))

    node.do_flushes()

    assert error_of(node.answer(waiting)) == "CONCURRENT_TRANSACTIONS"
    node.flush_at_once = True
    assert begun(node).epoch > producer.epoch


def test_a_marker_that_could_not_be_written_is_tried_again_until_it_can(node):
    producer = in_transaction(node)
    write(node, producer, partition=1)
    failed = node.partition(TOPIC, 1)
    failed.fail("the disk is on fire")

    end(node, producer)
    node.advance(5 * MARKER_RETRY_MS)
    assert (markers(node), state(node)) == ([(True, 1)], "PrepareCommit")
    failed.failure = None
    node.advance(MARKER_RETRY_MS)

    assert (markers(node, partition=1), state(node)) == ([(True, 1)], "CompleteCommit")
    assert markers(node) == [(True, 1)], "it is not repeated where it was written"
    assert node.node.broker.transactions.next_deadline() > node.now + MARKER_RETRY_MS


def test_an_end_that_could_not_be_written_down_is_tried_again_until_it_can():
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    node.send(end_request(producer))
    node.do_flush()  # the decision; its markers are written, and not on the disk yet
    node.disk.fill_up()
    node.do_flushes()
    node.flush_at_once = True
    assert state(node) == "PrepareCommit"

    node.disk.free_up()
    node.advance(2 * MARKER_RETRY_MS)

    assert (markers(node), state(node)) == ([(True, 1)], "CompleteCommit")


def test_a_node_that_dies_after_the_decision_writes_the_markers_when_it_is_back():
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    node.send(end_request(producer))
    assert markers(node) == []

    node.flush_at_once = True
    recover(node)

    assert (markers(node), state(node)) == ([(True, 1)], "CompleteCommit")


def test_the_markers_of_several_shards_are_all_sent_though_each_has_the_others_looked_at(node, monkeypatch):
    names = [f"tx-{number}" for number in range(9)]
    assert {shard_of(name) for name in names} == set(range(SHARDS))
    producers = [(name, in_transaction(node, tx=name)) for name in names]
    coordinator = node.node.broker.transactions
    with monkeypatch.context() as held_back:
        held_back.setattr(coordinator, "send_markers", lambda now: None)
        for name, producer in producers:
            node.send(end_request(producer, tx=name))

    coordinator.send_markers(node.now)
    node.carry_out(node.node.broker.end_step())

    assert not coordinator.shards.owing
    assert {state(node, name) for name in names} == {"CompleteCommit"}


def test_a_topic_that_is_deleted_takes_its_part_of_the_transaction_along(node):
    node.create("gone")
    producer = in_transaction(node)
    write(node, producer, topic="gone")
    node.delete("gone")

    end(node, producer)

    assert (markers(node), state(node)) == ([(True, 1)], "CompleteCommit")


def test_a_transaction_of_which_no_partition_is_left_is_ended_all_the_same(node):
    node.create("gone")
    producer = in_transaction(node, topic="gone")
    node.delete("gone")

    end(node, producer, committed=False)

    assert state(node) == "CompleteAbort"
    assert begun(node).id == producer.id


def test_a_topic_that_is_deleted_between_the_decision_and_the_markers_is_done_with(node):
    node.create("gone")
    producer = in_transaction(node, topic="gone")
    node.partition("gone").fail("the disk is on fire")
    end(node, producer)
    assert state(node) == "PrepareCommit"

    node.delete("gone")
    node.advance(MARKER_RETRY_MS)

    assert state(node) == "CompleteCommit"


def test_a_topic_that_is_deleted_while_its_marker_is_on_the_way_to_the_disk_is_done_with():
    node = coordinating(**DURABLY)
    node.create("gone")
    producer = in_transaction(node, topic="gone")
    node.flush_at_once = False
    node.send(end_request(producer))
    node.do_flush()
    node.send(node.delete_request("gone"))
    node.flushes.reverse()  # the metadata is there first
    node.do_flushes()
    node.flush_at_once = True

    node.advance(MARKER_RETRY_MS)

    assert state(node) == "CompleteCommit"


def test_a_coordinator_whose_own_log_fails_leaves_the_rest_to_the_next_one(caplog):
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    node.send(end_request(producer))
    node.do_flush()
    node.partition(TRANSACTIONS, shard_of(TX)).fail("the disk is on fire")

    with caplog.at_level(logging.WARNING):
        node.do_flushes()

    assert any("cannot be completed" in each for each in caplog.messages)
    assert error_of(node.ask(InitProducerIdRequest(TX, 60_000))) == "NOT_COORDINATOR"
    node.flush_at_once = True
    recover(node)
    assert (markers(node), state(node)) == ([(True, 1)], "CompleteCommit"), "the repetition was left out"


def test_a_coordinators_topic_that_is_deleted_takes_along_what_it_knew():
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    node.send(end_request(producer))
    node.do_flush()
    node.send(node.delete_request(TRANSACTIONS))

    node.do_flushes()

    assert markers(node) == [(True, 1)], "it was on its way"
    assert error_of(node.ask(InitProducerIdRequest(TX, 60_000))) == "NOT_COORDINATOR"


# ── time ─────────────────────────────────────────────────────────────────────────────


def test_a_transaction_that_takes_too_long_is_aborted(node):
    producer = begun(node, timeout_ms=20_000)
    write(node, producer)

    node.advance(20_000 + SWEEP_MS)

    assert (markers(node), state(node)) == ([(False, 1)], "CompleteAbort")
    assert error_of(write(node, producer, sequence=1)) == "INVALID_PRODUCER_EPOCH"


def test_if_that_cannot_be_written_it_is_tried_again(node):
    write(node, begun(node, timeout_ms=20_000))
    node.disk.fill_up()
    node.advance(20_000 + SWEEP_MS)
    assert state(node) == "Ongoing"

    node.disk.free_up()
    node.advance(2 * SWEEP_MS)

    assert (markers(node), state(node)) == ([(False, 1)], "CompleteAbort")


def test_a_transaction_that_was_loaded_is_aborted_at_its_timeout(node):
    write(node, begun(node, timeout_ms=20_000))
    node.advance(15_000)

    recover(node)
    node.advance(SWEEP_MS)

    assert state(node) == "CompleteAbort"


def test_a_node_without_transactions_has_nothing_to_wake_up_for(node):
    assert node.node.broker.transactions.next_deadline() == NEVER


# ── loading ──────────────────────────────────────────────────────────────────────────


def test_while_a_partition_is_loaded_its_ids_wait_and_those_of_others_do_not(node):
    elsewhere = next(f"tx{number}" for number in range(99) if shard_of(f"tx{number}") != shard_of(TX))
    producer = begun(node)

    crash(node)

    waits = "COORDINATOR_LOAD_IN_PROGRESS"
    assert error_of(node.ask(InitProducerIdRequest(TX, 60_000))) == waits
    assert error_of(node.ask(ListTransactionsRequest())) == waits
    assert begun(node, elsewhere).epoch == 0
    node.settle()
    assert begun(node) == (producer.id, producer.epoch + 1)


def test_an_open_transaction_goes_on_after_a_crash(node):
    producer = in_transaction(node)

    recover(node)

    assert (state(node), stable_end(node)) == ("Ongoing", 0)
    assert error_of(write(node, producer, sequence=1)) == "NONE"
    end(node, producer)
    assert stable_end(node) == 3


def test_a_record_that_makes_no_sense_is_reported_and_the_others_are_loaded(node, caplog):
    producer = begun(node)
    write_nonsense(node, TRANSACTIONS, TX)
    renewed = begun(node)

    with caplog.at_level(logging.WARNING):
        recover(node)

    assert begun(node) == (producer.id, renewed.epoch + 1)
    assert any(f"Record of {TRANSACTIONS} makes no sense" in each for each in caplog.messages)


def test_a_record_of_a_state_that_does_not_exist_is_passed_over(node, caplog):
    held = begun(node)
    nonsense = node.node.broker.transactions.machine_of(TX).transactions[TX].record()
    nonsense.value.transaction_status = 99
    records = build([Record(0, node.now, *encode_record(nonsense))])
    node.partition(TRANSACTIONS, shard_of(TX)).append_own(records, node.now)

    with caplog.at_level(logging.WARNING):
        recover(node)

    assert begun(node) == (held.id, held.epoch + 1)
    assert f"is skipped partition={TRANSACTIONS}-{shard_of(TX)} offset=1" in caplog.text
