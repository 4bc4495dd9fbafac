"""Queries that are waited for: until they end, fail, or are asked to."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from andiron.spark.pipeline import stop_request
from andiron.spark.pipeline.stop_request import await_queries


class Failed(Exception):
    pass


class Query:
    """One that ends after it was looked at so often; None: never."""

    def __init__(self, looks: int | None, problem: Exception | None = None, then: Any = None) -> None:
        self.lastProgress, self.status = None, {"isTriggerActive": False}
        self.looks, self.problem, self.then = looks, problem, then
        self.stopped = False

    @property
    def isActive(self) -> bool:
        if self.then is not None:
            self.then()
        if self.looks is not None:
            self.looks -= 1
        return not self.stopped and (self.looks is None or self.looks > 0)

    def exception(self) -> Exception | None:
        return None if self.looks is None or self.looks > 0 else self.problem

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_request, "QUERY_LOOK_S", 0.0)


def test_it_returns_when_all_have_ended() -> None:
    assert await_queries(Query(3), Query(30)) is False  # type: ignore[arg-type]


def test_a_failure_stops_the_others_and_is_raised() -> None:
    other: Any = Query(None)

    with pytest.raises(Failed):
        await_queries(other, Query(5, Failed()))  # type: ignore[arg-type]
    assert other.stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_them_and_is_no_error(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    query: Any = Query(None)
    asked = []

    def ask() -> None:
        if not asked:
            asked.append(os.kill(os.getpid(), number))

    query.then = ask
    assert await_queries(query) is True
    assert query.stopped
    assert signal.getsignal(number) == before
