"""The transactions that a broker coordinates."""

import pytest

from andiron.broker.handlers import list_transactions
from andiron.wire.messages.list_transactions import ListTransactionsRequest
from worlds.coordinating import (
    DURABLY,
    add_request,
    begun,
    coordinating,
    end,
    every_version,
    in_transaction,
    loading,
    recover,
)
from worlds.node import SmallNode, error_of

DURATIONS_SINCE, PATTERNS_SINCE = 1, 2


@pytest.fixture
def transactions(coordinator):
    """A node with a transaction in each of three states."""
    begun(coordinator, "empty")
    in_transaction(coordinator, tx="open")
    end(coordinator, in_transaction(coordinator, tx="ended", partition=1), tx="ended")
    return coordinator


def listed(node, version, **filters):
    answer = node.ask(ListTransactionsRequest(**filters), version)
    assert error_of(answer) == "NONE"
    return {each.transactional_id: each.transaction_state for each in answer.transaction_states}


@every_version(list_transactions)
def test_every_transaction_is_listed_after_a_crash_too(transactions, version):
    everything = {"empty": "Empty", "open": "Ongoing", "ended": "CompleteCommit"}

    assert listed(transactions, version) == everything
    recover(transactions)
    assert listed(transactions, version) == everything


@every_version(list_transactions)
def test_they_can_be_picked_by_state_and_states_that_nobody_knows_are_told(transactions, version):
    answer = transactions.ask(ListTransactionsRequest(["Ongoing", "Nonsense"]), version)

    assert [each.transactional_id for each in answer.transaction_states] == ["open"]
    assert answer.unknown_state_filters == ["Nonsense"]


@every_version(list_transactions)
def test_they_can_be_picked_by_producer(transactions, version):
    producer = begun(transactions, "another")

    assert list(listed(transactions, version, producer_id_filters=[producer.id, 99])) == ["another"]


@every_version(list_transactions, since=DURATIONS_SINCE)
def test_they_can_be_picked_by_age(transactions, version):
    transactions.advance(5_000)

    def names(longer_ms):
        return list(listed(transactions, version, state_filters=["Ongoing"], duration_filter=longer_ms))

    assert (names(4_999), names(5_000)) == (["open"], [])


@every_version(list_transactions, since=PATTERNS_SINCE)
def test_they_can_be_picked_by_name(transactions, version):
    assert sorted(listed(transactions, version, transactional_id_pattern="e.*")) == ["empty", "ended"]
    bad = transactions.ask(ListTransactionsRequest(transactional_id_pattern="("), version)
    assert (error_of(bad), bad.transaction_states) == ("INVALID_REGULAR_EXPRESSION", [])


@every_version(list_transactions)
def test_while_some_are_loaded_none_are_listed(coordinator, version):
    loading(coordinator)

    answer = coordinator.ask(ListTransactionsRequest(), version)

    assert (error_of(answer), answer.transaction_states) == ("COORDINATOR_LOAD_IN_PROGRESS", [])


@every_version(list_transactions)
def test_a_broker_that_coordinates_nothing_lists_nothing(version):
    assert listed(SmallNode(), version) == {}


@every_version(list_transactions)
def test_the_answer_waits_for_what_it_tells_to_be_committed(version):
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    node.send(add_request(producer), 3)
    ticket = node.send(ListTransactionsRequest(), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert node.answer(ticket).transaction_states[0].transaction_state == "Ongoing"
