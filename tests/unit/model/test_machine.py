"""Promises: the first answer stands."""

from andiron.model.machine import Decision, Promise


def test_a_promise_is_kept_once():
    promise = Promise()
    assert (promise.kept, promise.response, promise.end) == (False, None, 0)

    promise.keep("first")
    promise.keep("second")

    assert (promise.kept, promise.response) == (True, "first")


def test_an_answer_of_nothing_is_an_answer():
    promise = Promise()

    promise.keep(None)

    assert promise.kept


def test_a_decision_without_records_is_firm():
    decision = Decision("answer")

    assert (decision.records, decision.kept, decision.transaction, decision.firm) == ([], [], None, True)
