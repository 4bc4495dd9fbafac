"""What takes too long, and what nobody uses."""

from __future__ import annotations

import pytest

from andiron.model.ids import NEVER, Millis
from andiron.transactions.expiry import Sweep, is_timed_out, is_unused
from andiron.transactions.states import State
from andiron.transactions.transaction import UNLIMITED_MS, Identity, Transaction


def transaction(state: State, timeout_ms: int = 50) -> Transaction:
    return Transaction("t", Identity(7, 3), state, timeout_ms, Millis(120), Millis(100))


def test_an_ongoing_transaction_has_its_timeout_and_no_more():
    assert not is_timed_out(transaction(State.ONGOING), 50)
    assert is_timed_out(transaction(State.ONGOING), 51)


@pytest.mark.parametrize("state", [state for state in State if state is not State.ONGOING])
def test_nothing_else_times_out(state):
    assert not is_timed_out(transaction(state), 1 << 40)


def test_in_two_phase_commit_nothing_times_out():
    assert not is_timed_out(transaction(State.ONGOING, UNLIMITED_MS), 1 << 40)


@pytest.mark.parametrize("state", [State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT])
def test_an_id_at_rest_is_unused_after_a_while(state):
    assert not is_unused(transaction(state), Millis(219), 100)
    assert is_unused(transaction(state), Millis(220), 100)


@pytest.mark.parametrize("state", [State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT])
def test_an_id_with_something_under_way_is_in_use(state):
    assert not is_unused(transaction(state), Millis(1 << 40), 100)


def test_a_sweep_looks_once_an_interval():
    sweep = Sweep(10)

    assert sweep.deadline == NEVER
    sweep.start(Millis(100))
    assert sweep.deadline == 110
    assert sweep.due(Millis(109), ["a"], lambda _: True, 1) == []
    assert sweep.deadline == 110
    assert sweep.due(Millis(112), ["a"], lambda _: False, 1) == []
    assert sweep.deadline == 122


def test_what_a_sweep_found_stays_due_until_it_does_not_fit_any_more():
    sweep, late = Sweep(10), ["a", "b", "c"]
    sweep.start(Millis(0))

    def due() -> list[str]:
        return sweep.due(Millis(10), list(late), lambda each: each in late, 2)

    assert due() == ["a", "b"] == due()
    late.remove("b")  # its producer was faster
    assert due() == ["a"]
    late.remove("a")
    assert due() == ["c"]
    assert sweep.deadline <= 10
    late.remove("c")
    assert due() == []
    assert sweep.deadline == 20
