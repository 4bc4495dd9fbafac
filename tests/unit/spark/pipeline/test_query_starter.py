"""Queries that start, are slow to start, or do not."""

from __future__ import annotations

import os
from functools import partial
from threading import Barrier
from typing import Any

import pytest

from andiron.spark.pipeline import query_starter
from andiron.spark.pipeline.query_starter import ATTEMPTS, LATE, start_queries, start_query


class Query:
    def __init__(self, looks: int, problem: str | None = None) -> None:
        self.looks, self.problem = looks, problem
        self.lastProgress = None

    @property
    def isActive(self) -> bool:
        return self.problem is None or self.looks > 0

    @property
    def status(self) -> dict[str, Any]:
        self.looks -= 1
        return {"message": "Initializing sources" if self.looks > 0 else "Waiting for data to arrive"}

    def exception(self) -> str | None:
        return self.problem


class Writer:
    def __init__(self, *queries: Query | Exception) -> None:
        self.queries = list(queries)

    def start(self) -> Query:
        next_one = self.queries.pop(0)
        if isinstance(next_one, Exception):
            raise next_one
        return next_one


def started(*queries: Query | Exception, patience_s: float = 30) -> Any:
    writer: Any = Writer(*queries)
    return start_query(writer, patience_s)


def test_a_query_is_given_back_when_it_is_under_way() -> None:
    query = Query(3)

    assert started(query) is query
    assert query.looks == 0


def test_a_query_whose_python_was_late_is_started_again() -> None:
    late, fine = Query(0, f"[x] {LATE}."), Query(1)

    assert started(late, fine) is fine


def test_a_query_that_fails_for_a_reason_of_its_own_is_not() -> None:
    broken = Query(0, "no such topic")

    assert started(broken) is broken


def test_there_is_an_end_to_attempts() -> None:
    late = [Query(0, LATE) for _ in range(ATTEMPTS)]

    assert started(*late) is late[-1]


def test_a_start_that_raises_because_python_was_late_is_made_again() -> None:
    """As under Spark Connect, where the plan is made by the start."""
    fine = Query(1)

    assert started(RuntimeError(f"[x] {LATE}."), Query(0, LATE), RuntimeError(LATE), fine) is fine


def test_a_start_that_raises_something_else_or_too_often_raises_that() -> None:
    with pytest.raises(RuntimeError, match="no such topic"):
        started(RuntimeError("no such topic"), Query(1))
    with pytest.raises(RuntimeError, match=LATE):
        started(*(RuntimeError(LATE) for _ in range(ATTEMPTS)), Query(1))


@pytest.mark.parametrize("patience_s", [0, -1])
def test_patience_has_an_end(patience_s: float) -> None:
    slow = Query(1_000_000)

    assert started(slow, patience_s=patience_s) is slow


def test_after_the_first_queries_are_started_side_by_side_and_each_is_seen_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    first, slow, late, again, broken = Query(3), Query(5), Query(0, LATE), Query(2), Query(0, "no such topic")
    writers: list[Any] = [Writer(slow), Writer(late, again), Writer(broken)]
    all_at_once = Barrier(len(writers))

    def make(writer: Any) -> Any:
        assert first.looks <= 0
        all_at_once.wait(30)
        return writer

    makers: list[Any] = [lambda: Writer(first), *(partial(make, each) for each in writers)]
    assert start_queries(makers, 30) == [first, slow, again, broken]
    assert slow.looks <= 0 and again.looks <= 0


def test_a_query_waits_until_a_core_is_free_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    first, second = Query(3), Query(1)
    looks: list[int] = []

    def make_second() -> Any:
        looks.append(first.looks)
        return Writer(second)

    makers: list[Any] = [lambda: Writer(first), make_second]
    assert start_queries(makers, 30) == [first, second]
    assert looks[0] <= 0

    stuck, third = Query(1_000_000), Query(1)
    monkeypatch.setattr(query_starter, "TURN_S", 0.01)
    makers = [lambda: Writer(stuck), lambda: Writer(third)]
    assert start_queries(makers, 1) == [stuck, third]
    assert third.looks <= 0
