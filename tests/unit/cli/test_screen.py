"""Lines where there is no terminal, and a line that is rewritten where there is one."""

from __future__ import annotations

import io

from andiron.cli.screen import ERASE, Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_a_change_is_a_line() -> None:
    out = io.StringIO()
    screen = Screen(out)
    for text in ("one", "one", "two"):
        screen.status(text, also=" · more")
    screen.say("it happened")
    screen.details(["because", "of this"])
    screen.clear()

    assert out.getvalue() == "andiron: one\nandiron: two\nandiron: it happened\n    because\n    of this\n"


def test_on_a_terminal_the_last_line_is_rewritten_and_stays_last() -> None:
    out = Terminal()
    screen = Screen(out)
    screen.status("one", also=" · more")
    screen.status("two")
    screen.say("it happened")
    screen.clear()

    assert out.getvalue() == f"{ERASE}one · more{ERASE}two{ERASE}andiron: it happened\ntwo{ERASE}"


def test_a_line_is_not_longer_than_the_terminal() -> None:
    out = Terminal()
    Screen(out).status("x" * 10_000)

    assert len(out.getvalue()) < 1000


def test_quiet_says_problems_only() -> None:
    out = Terminal()
    screen = Screen(out, quiet=True)
    screen.status("one")
    screen.note("two")
    screen.clear()
    screen.say("three")

    assert out.getvalue() == "andiron: three\n"
