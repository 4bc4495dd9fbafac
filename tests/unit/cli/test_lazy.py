"""Commands are loaded when they are called, and not to list them."""

from __future__ import annotations

import subprocess
import sys

from click.testing import CliRunner

from andiron.cli.lazy import LazyGroup, Place

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
