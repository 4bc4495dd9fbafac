"""The table of commands: each is where it says, teaches in its help, and start-up loads none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from andiron import __version__
from andiron.cli.main import PLACES, andiron


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for inner, each in command.commands.items():
            yield from commands(each, f"{name} {inner}")
    else:
        yield name, command


EVERY = [
    pytest.param(found, id=path)
    for name, place in PLACES.items()
    for path, found in commands(getattr(import_module(place.module), place.attribute), name)
]


@pytest.mark.parametrize("command", EVERY)
def test_every_command_teaches_with_two_examples(command: click.Command) -> None:
    told = command.help or ""

    assert "Examples:" in told
    assert told.partition("Examples:")[2].count("andiron ") >= 2


@pytest.mark.parametrize("command", EVERY)
def test_the_first_sentence_of_a_help_fits_into_the_list_of_commands(command: click.Command) -> None:
    assert not command.get_short_help_str(limit=80).endswith("...")


# They go on until they are stopped and tell how it goes meanwhile, or print one word.
WITHOUT_JSON = {"up", "pipeline run", "chaos", "cluster new-id"}


@pytest.mark.parametrize("command", EVERY)
def test_every_command_speaks_json_with_programs(
    command: click.Command, request: pytest.FixtureRequest
) -> None:
    has = any("--json" in each.opts for each in command.params)

    assert has == (request.node.callspec.id not in WITHOUT_JSON)


@pytest.mark.parametrize("command", EVERY)
def test_every_option_says_what_it_is_for(command: click.Command) -> None:
    for parameter in command.params:
        assert not isinstance(parameter, click.Option) or parameter.help, parameter.name


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(andiron, ["--version"]).output == f"andiron {__version__}\n"


def test_the_help_names_every_command() -> None:
    result = CliRunner().invoke(andiron, ["-h"])

    assert result.exit_code == 0
    assert all(name in result.output for name in PLACES)


def test_nothing_heavy_is_loaded_before_a_command_is_called() -> None:
    program = (
        "import sys, andiron.cli.main; print(*sorted(m for m in sys.modules if m.startswith('andiron.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert set(loaded.stdout.split()) == {
        "andiron.cli",
        "andiron.cli.failure",
        "andiron.cli.lazy_group",
        "andiron.cli.main",
        "andiron.model",
        "andiron.model.errors",
    }


def test_a_failure_is_one_line_and_exit_code_1() -> None:
    result = CliRunner().invoke(andiron, ["topic", "list", "--bootstrap", "127.0.0.1:1"])

    assert result.exit_code == 1
    assert result.stderr.startswith("andiron: 127.0.0.1:1: no connection")
    assert "andiron up" in result.stderr
    assert result.stderr.count("\n") == 1


def test_wrong_usage_is_exit_code_2() -> None:
    assert CliRunner().invoke(andiron, ["topic", "lisst"]).exit_code == 2
    assert CliRunner().invoke(andiron, ["topic", "list", "--nosuch"]).exit_code == 2


def test_the_environment_names_the_cluster() -> None:
    result = CliRunner().invoke(andiron, ["topic", "list"], env={"ANDIRON_BOOTSTRAP": "127.0.0.1:2"})

    assert "127.0.0.1:2" in result.stderr
