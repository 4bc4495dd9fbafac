"""A node in a process of its own, and the command line in another: as a user has them.

With `ANDIRON_TEST_PEER=kafka` the node is Apache Kafka itself: whatever the commands do to ours, they
have done to the original.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server

PEER = os.environ.get("ANDIRON_TEST_PEER", "andiron")
NUMBERS = itertools.count()

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One node for all tests of this process; each test has topics of its own."""
    kinds: dict[str, type[Node] | type[Kafka]] = {"andiron": Node, "kafka": Kafka}
    server = kinds[PEER](tmp_path_factory.mktemp("node")).start()
    yield server
    server.kill()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses."""
    return f"{request.node.originalname.removeprefix('test_')[:60]}-{os.getpid()}-{next(NUMBERS)}"


def command(*arguments: object) -> list[str]:
    """How `andiron …` is started."""
    return [sys.executable, "-m", "andiron", *map(str, arguments)]


@pytest.fixture
def environment(node: Server) -> dict[str, str]:
    """Where the commands find the node."""
    return {**os.environ, "ANDIRON_BOOTSTRAP": node.bootstrap}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Run a command to its end, with text on its stdin; it must succeed unless `fails` is told."""

    def run_command(
        *arguments: object, stdin: str | bytes = "", fails: int = 0
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(*arguments),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=environment,
            check=False,
            timeout=120,
        )
        said = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()
        )
        assert said.returncode == fails, said
        assert "Traceback" not in said.stderr
        return said

    return run_command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of the test's own."""
    made = tmp_path / "folder"
    made.mkdir()
    return made
