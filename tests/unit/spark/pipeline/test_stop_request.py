"""Stopping between batches."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.pipeline.stop_request import SIGNALS, StopRequest, stop_between_batches


class Query:
    """A query that is at a batch for the next few looks."""

    def __init__(self, looks: int, *, always_busy: bool = False) -> None:
        self.isActive = True
        self.interrupted: bool | None = None
        self._looks = looks
        self._always_busy = always_busy

    @property
    def status(self) -> dict[str, Any]:
        self._looks -= 1
        return {"isTriggerActive": self._always_busy or self._looks > 0}

    @property
    def lastProgress(self) -> Any:
        return SimpleNamespace(batchId=7 if self._looks > 0 else 8)

    def stop(self) -> None:
        self.interrupted = self._looks > 0
        self.isActive = False


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_query_is_stopped_when_its_batch_is_done() -> None:
    queries: Any = [Query(1), Query(3)]

    assert stop_between_batches(queries, patience_s=10) == []
    assert [query.interrupted for query in queries] == [False, False]


def test_a_query_with_a_backlog_is_stopped_after_the_batch_it_was_at() -> None:
    queries: Any = [Query(3, always_busy=True)]

    assert stop_between_batches(queries, patience_s=10) == []
    assert queries[0].interrupted is False


def test_patience_has_an_end() -> None:
    queries: Any = [Query(1_000_000)]

    assert stop_between_batches(queries, patience_s=0) == queries
    assert queries[0].interrupted is True


def test_a_query_that_has_ended_is_left_alone() -> None:
    ended = Query(1)
    ended.isActive = False
    queries: Any = [ended]

    assert stop_between_batches(queries, patience_s=10) == []
    assert ended.interrupted is None


def test_a_signal_asks(handlers: None) -> None:
    for number in SIGNALS:
        stop = StopRequest()
        stop.take_signals()
        assert not stop.wait(0)
        signal.raise_signal(number)
        assert stop.wait(10)


def test_a_second_interrupt_does_not_wait(handlers: None) -> None:
    stop = StopRequest()
    stop.take_signals()
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
