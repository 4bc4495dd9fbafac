"""Commands are loaded when they are called, and not to list them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from andiron.cli.lazy_group import LazyGroup, Place
from andiron.cli.main import andiron

GROUP = LazyGroup(
    "group",
    places={
        "b": Place("andiron.cli.main", "andiron", "Comes first."),
        "a": Place("no.such.module", "command", "Comes second."),
    },
)


def test_the_help_lists_what_it_has_not_loaded() -> None:
    result = CliRunner().invoke(GROUP, ["--help"])

    assert result.exit_code == 0
    assert result.output.index("Comes first.") < result.output.index("Comes second.")
    assert "no.such" not in sys.modules


def test_a_command_is_loaded_when_called() -> None:
    result = CliRunner().invoke(GROUP, ["b", "--help"])

    assert result.exit_code == 0
    assert "andiron up" in result.output


def test_a_command_that_is_none_is_wrong_usage() -> None:
    assert CliRunner().invoke(GROUP, ["c"]).exit_code == 2


def test_a_command_whose_extra_is_not_installed_says_what_to_install() -> None:
    without = "import sys; sys.modules['pyspark'] = None; import andiron.__main__"
    listing = [sys.executable, "-c", without, "pipeline", "list"]

    done = subprocess.run(listing, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == "andiron: pyspark is not installed: pip install 'andiron[spark]'\n"


@pytest.mark.parametrize("asked", [["pipeline", "--help"], ["pipeline", "run", "orders", "--help"]])
def test_the_help_of_a_command_whose_extra_is_not_installed_is_there(asked: list[str]) -> None:
    without = "import sys; sys.modules['pyspark'] = None; import andiron.__main__"

    done = subprocess.run(
        [sys.executable, "-c", without, *asked], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "pip install 'andiron[spark]'" in done.stdout


def test_a_command_that_is_nearly_one_gets_the_one_that_is_meant() -> None:
    near = CliRunner().invoke(andiron, ["topc"])
    far = CliRunner().invoke(andiron, ["xyzzy"])

    assert "No such command 'topc'. Did you mean 'topic'?" in near.output
    assert "No such command 'xyzzy'." in far.output and "mean" not in far.output
