"""The examples do what they say: each is run as a reader runs it, and its verdict is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from peers.process import Server

EXAMPLES = Path(__file__).parents[2] / "examples"
VERDICTS = {
    "delivery_at_most_once": "verdict: 5 lost, 0 repeated",
    "delivery_at_least_once": "verdict: 0 lost, 5 repeated",
    "delivery_exactly_once": "verdict: 0 lost, 0 repeated",
}


def printed(example: str, *options: str) -> list[str]:
    command = [sys.executable, str(EXAMPLES / f"{example}.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("example", VERDICTS)
def test_a_delivery_loop_loses_and_repeats_what_it_says(node: Server, example: str) -> None:
    assert printed(example, "--bootstrap", node.bootstrap)[-1] == VERDICTS[example]


def test_what_is_undone_is_there_for_who_looks_closely(node: Server) -> None:
    """The invoices of the killed worker are in the log, and no read_committed reader was shown them."""
    assert any(
        "undone     5" in line for line in printed("delivery_exactly_once", "--bootstrap", node.bootstrap)
    )


def test_an_example_brings_its_own_node() -> None:
    assert printed("delivery_at_least_once")[-1] == VERDICTS["delivery_at_least_once"]


def test_the_readme_tells_the_verdicts() -> None:
    readme = (EXAMPLES / "README.md").read_text()

    for example, verdict in VERDICTS.items():
        (row,) = [line for line in readme.splitlines() if f"{example}.py" in line]
        assert verdict in row
