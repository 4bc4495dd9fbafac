"""Which state may follow which."""

from __future__ import annotations

import pytest

from andiron.transactions.states import BY_TITLE, State


def test_states_have_kafkas_numbers_and_names():
    assert [(int(state), state.title) for state in State] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
        (6, "Dead"),
        (7, "PrepareEpochFence"),
    ]
    assert BY_TITLE["PrepareCommit"] is State.PREPARE_COMMIT


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (State.EMPTY, State.EMPTY),
        (State.EMPTY, State.ONGOING),
        (State.EMPTY, State.PREPARE_ABORT),
        (State.ONGOING, State.ONGOING),
        (State.ONGOING, State.PREPARE_COMMIT),
        (State.ONGOING, State.PREPARE_ABORT),
        (State.PREPARE_COMMIT, State.COMPLETE_COMMIT),
        (State.PREPARE_ABORT, State.COMPLETE_ABORT),
        (State.COMPLETE_COMMIT, State.ONGOING),
        (State.COMPLETE_ABORT, State.EMPTY),
        (State.COMPLETE_COMMIT, State.PREPARE_ABORT),
    ],
)
def test_these_may_follow(before, after):
    assert before.may_become(after)


@pytest.mark.parametrize("later", [s for s in State if s is not State.COMPLETE_COMMIT])
def test_a_commit_that_is_prepared_becomes_nothing_but_complete(later):
    assert not State.PREPARE_COMMIT.may_become(later)


@pytest.mark.parametrize("later", [s for s in State if s is not State.COMPLETE_ABORT])
def test_an_abort_that_is_prepared_becomes_nothing_but_complete(later):
    assert not State.PREPARE_ABORT.may_become(later)


@pytest.mark.parametrize("state", list(State))
def test_no_record_has_the_states_of_those_without_one(state):
    assert not state.may_become(State.DEAD)
    assert not state.may_become(State.PREPARE_EPOCH_FENCE)


def test_at_rest_is_where_a_transaction_may_begin():
    assert [state for state in State if state.is_at_rest] == [
        state for state in State if state.may_become(State.ONGOING) and state is not State.ONGOING
    ]
    assert [state for state in State if state.is_prepared] == [State.PREPARE_COMMIT, State.PREPARE_ABORT]
