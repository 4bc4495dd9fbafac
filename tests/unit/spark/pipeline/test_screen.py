"""What a run prints, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest

from andiron.spark.pipeline.screen import Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")


def test_a_terminal_is_drawn_anew_in_place() -> None:
    out = Terminal()
    screen = Screen(out)
    screen.show(["one", "two"], 0)
    screen.show(["three"], 0.1)

    assert out.getvalue() == "one\ntwo\n\x1b[2A\x1b[Jthree\n"


def test_lines_that_stay_go_above_those_that_are_drawn() -> None:
    out = Terminal()
    screen = Screen(out)
    screen.show(["status"], 0)
    screen.say("result")

    assert out.getvalue() == "status\n\x1b[1A\x1b[Jresult\nstatus\n"


def test_a_drawn_line_never_wraps() -> None:
    out = Terminal()
    Screen(out).show(["x" * 30], 0)

    assert out.getvalue() == "x" * 12 + "\n"


def test_what_is_drawn_at_the_end_stays() -> None:
    out = Terminal()
    screen = Screen(out)
    screen.show(["status"], 0)
    screen.end()
    screen.say("bye")

    assert out.getvalue() == "status\nbye\n"


def test_a_pipe_gets_plain_lines_now_and_then() -> None:
    out = io.StringIO()
    screen = Screen(out)
    for second in range(0, 21):
        screen.show([f"at {second}"], second)

    assert out.getvalue() == "at 0\nat 10\nat 20\n"


def test_quiet_is_without_progress_and_not_without_words() -> None:
    out = io.StringIO()
    screen = Screen(out, quiet=True)
    screen.show(["status"], 0)
    screen.say("result")

    assert out.getvalue() == "result\n"
