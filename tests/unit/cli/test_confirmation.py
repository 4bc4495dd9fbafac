"""Questions are asked of people, and of nobody else."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import andiron
from andiron.cli import confirmation
from andiron.cli.lazy_group import LazyGroup
from andiron.cli.main import andiron as commands
from unit.cli.answering import answered

SOURCE = Path(andiron.__file__).parent


@click.command()
@confirmation.yes_option()
def lose(yes: bool) -> None:
    confirmation.confirm("Lose it?", yes)
    click.echo("lost")


def run(*arguments: str, answer: str = "") -> Result:
    with answered(answer):
        return CliRunner().invoke(lose, arguments, input=answer)


def test_somebody_at_the_keyboard_is_asked_on_stderr() -> None:
    agreed, declined = run(answer="y\n"), run(answer="n\n")

    assert (agreed.exit_code, agreed.stdout) == (0, "lost\n")
    assert agreed.stderr.startswith("Lose it? [y/N]")
    assert (declined.exit_code, declined.stdout) == (1, "")


def test_without_a_terminal_it_ends_in_one_line_that_says_what_to_say() -> None:
    result = run()

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "andiron: Lose it? There is no terminal to ask at; say --yes if it is meant so\n"


def test_an_answer_that_comes_through_a_pipe_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()  # open, and silent
    with open(reading, encoding="utf-8") as silent:
        monkeypatch.setattr(sys, "stdin", silent)
        with pytest.raises(click.ClickException, match="--yes"):
            confirmation.confirm("Lose it?", yes=False)
    os.close(writing)


def test_yes_is_an_answer_anywhere() -> None:
    assert run("--yes").stdout == "lost\n"


def test_a_terminal_is_known_and_a_closed_stdin_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = pty.openpty()
    with open(follower, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert confirmation.at_a_terminal()
    assert not confirmation.at_a_terminal()
    monkeypatch.setattr(sys, "stdin", None)
    assert not confirmation.at_a_terminal()
    os.close(leader)


def test_nobody_asks_by_another_way() -> None:
    found = [
        path.name
        for path in SOURCE.rglob("*.py")
        if any(
            way in path.read_text(encoding="utf-8") for way in ("click.confirm(", "click.prompt(", " input(")
        )
    ]

    assert found == ["confirmation.py"]


def test_every_command_that_loses_something_takes_yes_and_tells_programs_what_it_did() -> None:
    asks = {name: each for name, each in leaves(commands, "") if any("--yes" in p.opts for p in each.params)}

    assert set(asks) == {
        "cluster drain", "cluster elect", "cluster quorum remove-voter", "cluster reassign", "cluster unregister",
        "cluster upgrade", "group delete", "group delete-offsets", "topic delete", "transaction abort",
    }  # fmt: skip
    assert all(any("--json" in p.opts for p in each.params) for each in asks.values())


def leaves(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command is not None
        if isinstance(command, click.Group | LazyGroup):
            yield from leaves(command, f"{name}{each} ")
        else:
            yield f"{name}{each}", command
