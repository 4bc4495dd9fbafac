"""How transactions stand, for those who look after them."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.transactions.requests import DescribeTransaction
from andiron.transactions.transaction import Identity
from andiron.wire.messages.describe_transactions import TopicData, TransactionState
from andiron.wire.messages.list_transactions import ListTransactionsRequest
from worlds.transacting import TIMEOUT_MS, A, B, C, Coordinator, refusal


def world() -> Coordinator:
    """`rest` at rest, `open-1` ongoing for 5 s, `done` committed."""
    coordinator = Coordinator()
    coordinator.init(transactional_id="rest")
    done = coordinator.init(transactional_id="done")
    coordinator.add(done, A, transactional_id="done")
    coordinator.end(done, committed=True, transactional_id="done")
    coordinator.write_markers()
    coordinator.add(coordinator.init(transactional_id="open-1"), A, C, B, transactional_id="open-1")
    coordinator.now += 5_000
    return coordinator


def listed(coordinator: Coordinator, **filters) -> list[str]:
    answer = coordinator.ask(ListTransactionsRequest(**filters))
    return [each.transactional_id for each in answer.transaction_states]


def test_a_transaction_is_described_with_its_partitions_by_topic():
    coordinator = world()

    assert coordinator.ask(DescribeTransaction("open-1")) == TransactionState(
        transactional_id="open-1",
        transaction_state="Ongoing",
        transaction_timeout_ms=TIMEOUT_MS,
        transaction_start_time_ms=coordinator.now - 5_000,
        producer_id=103,
        producer_epoch=0,
        topics=[TopicData("a", [0, 1]), TopicData("b", [0])],
    )


def test_an_unknown_id_is_not_described():
    assert refusal(world().ask, DescribeTransaction("x")) is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert refusal(world().ask, DescribeTransaction("")) is ErrorCode.INVALID_REQUEST


def test_all_are_listed_with_id_producer_and_state():
    answer = world().ask(ListTransactionsRequest())

    assert [
        (each.transactional_id, each.producer_id, each.transaction_state)
        for each in answer.transaction_states
    ] == [
        ("rest", 101, "Empty"),
        ("done", 102, "CompleteCommit"),
        ("open-1", 103, "Ongoing"),
    ]


def test_filters_by_state():
    coordinator = world()

    assert listed(coordinator, state_filters=["Ongoing", "Empty"]) == ["rest", "open-1"]
    assert listed(coordinator, state_filters=["Dead"]) == []


def test_a_filter_by_a_state_that_does_not_exist_is_told():
    answer = world().ask(ListTransactionsRequest(state_filters=["Ongoing", "Odd"]))

    assert answer.unknown_state_filters == ["Odd"]
    assert [each.transactional_id for each in answer.transaction_states] == ["open-1"]
    assert listed(world(), state_filters=["Odd"]) == []


def test_filters_by_producer_id():
    assert listed(world(), producer_id_filters=[101, 103, 9]) == ["rest", "open-1"]


def test_filters_by_how_long_it_has_been_running():
    coordinator = world()

    assert "open-1" in listed(coordinator, duration_filter=4_999)
    assert "open-1" not in listed(coordinator, duration_filter=5_000)
    assert "open-1" in listed(coordinator, duration_filter=-1)


def test_filters_by_a_pattern_of_the_whole_id():
    coordinator = world()

    assert listed(coordinator, transactional_id_pattern="open-[0-9]+") == ["open-1"]
    assert listed(coordinator, transactional_id_pattern="open") == []
    assert listed(coordinator, transactional_id_pattern="") == ["rest", "done", "open-1"]
    assert listed(coordinator, transactional_id_pattern=r"o.*\\1|rest") == ["rest"]


@pytest.mark.parametrize("pattern", ["(", "a{9999999999999}", "(?=a)", r"(a)\1", "*", "(?<!x)y"])
def test_a_pattern_that_is_none_is_refused(pattern):
    code = refusal(listed, world(), transactional_id_pattern=pattern)

    assert code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_that_would_hold_up_a_backtracking_engine_is_matched_at_once():
    coordinator = Coordinator()
    coordinator.init(transactional_id="a" * 30_000)

    assert listed(coordinator, transactional_id_pattern="(a+)+b") == []


def test_what_is_taken_over_is_shown_as_its_records_have_it():
    coordinator = Coordinator()
    producer = coordinator.init(enable_2pc=True)
    coordinator.add(producer, A)
    coordinator.init(enable_2pc=True, keep_prepared=True)

    answer = coordinator.ask(DescribeTransaction("t"))
    assert Identity(answer.producer_id, answer.producer_epoch) == producer
