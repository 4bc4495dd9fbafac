"""The question before something is lost: asked at a terminal, answered by --yes, and refused where nobody can answer.

A script has no terminal: a question there would wait for ever for a line that nobody types, or take one that was meant
for something else. So it ends at once, with what to say instead. Questions go to stderr, and --json prints JSON alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from andiron.cli.failure import Failure


def yes_option(text: str = "Do not ask.") -> Callable[[Any], Any]:
    """`--yes`, which every command has that asks."""
    return click.option("--yes", is_flag=True, help=text)


def confirm(question: str, yes: bool) -> None:
    """Go on only if somebody has said yes, now or by --yes."""
    if yes:
        return
    if not at_a_terminal():
        raise Failure(f"{question} There is no terminal to ask at; say --yes if it is meant so")
    click.confirm(question, abort=True, err=True)


def at_a_terminal() -> bool:
    """Whether there is somebody at the keyboard."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
