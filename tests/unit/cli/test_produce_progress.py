"""What is said while records are written: how it goes, and what is waited for."""

from __future__ import annotations

import io

import pytest

from andiron.cli.produce_progress import AGAIN_S, PATIENCE_S, Progress
from andiron.cli.screen import Screen
from andiron.client.blocking.sender import DeliveryTotals
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition

P0 = TopicPartition("t", 0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Working:
    def __init__(self) -> None:
        self.delivered = {P0: DeliveryTotals(10, 2048, 0, 10)}
        self.is_owing = True


class Watching:
    """A progress whose time is told by hand."""

    def __init__(self, out: io.StringIO, *, live: bool) -> None:
        self.out, self.now, self.producer = out, 0.0, Working()
        self.progress = Progress(Screen(out), self.producer, live=live, clock=lambda: self.now)

    def at(self, now: float) -> str:
        """What is said then."""
        self.now, before = now, len(self.out.getvalue())
        self.progress.tick()
        return self.out.getvalue()[before:]


@pytest.fixture
def terminal() -> Watching:
    return Watching(Terminal(), live=True)


@pytest.fixture
def pipe() -> Watching:
    return Watching(io.StringIO(), live=False)


def test_a_terminal_is_told_how_it_goes(terminal: Watching) -> None:
    assert "10 records (2.0 KiB) written · 1.0 KiB/s" in terminal.at(2)


def test_a_pipe_is_not(pipe: Watching) -> None:
    assert pipe.at(1) == pipe.at(2) == ""


def test_a_wait_is_told_with_its_reason(terminal: Watching) -> None:
    terminal.at(1)
    assert "no broker acknowledges more" in terminal.at(1 + PATIENCE_S)

    terminal.progress.troubled(ErrorCode.KAFKA_STORAGE_ERROR.error("t-0: no space left on device"))
    assert "waiting for 9 s: t-0: no space left on device" in terminal.at(10)

    terminal.producer.delivered[P0] = DeliveryTotals(11, 2050, 0, 11)
    assert "waiting" not in terminal.at(11)


def test_a_wait_is_a_line_in_a_log_once_and_then_now_and_then(pipe: Watching) -> None:
    pipe.at(1)
    assert "waiting for 3 s" in pipe.at(1 + PATIENCE_S)
    assert pipe.at(2 + PATIENCE_S) == ""
    assert "waiting" in pipe.at(1 + PATIENCE_S + AGAIN_S)


def test_who_owes_nothing_waits_for_nothing(pipe: Watching) -> None:
    pipe.producer.is_owing = False

    assert pipe.at(100) == ""


def test_it_ends_with_the_work(terminal: Watching) -> None:
    with terminal.progress:
        pass
    assert not terminal.progress._thread.is_alive()
