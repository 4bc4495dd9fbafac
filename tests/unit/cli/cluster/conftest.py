"""A scripted cluster, and the command line that is turned to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from andiron.cli.cluster import replica_moves
from andiron.cli.main import andiron
from unit.cli.answering import answered
from unit.cli.cluster.scripted_cluster import ScriptedCluster

Run = Callable[..., Result]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedCluster]:
    monkeypatch.setattr(replica_moves, "LOOK_S", 0.001)
    with ScriptedCluster() as cluster:
        yield cluster


@pytest.fixture
def run(scripted: ScriptedCluster) -> Run:
    """Run `andiron cluster …`; it must succeed unless `fails` is told."""

    def run_command(*arguments: object, stdin: str = "", fails: int = 0) -> Result:
        with answered(stdin):
            result = CliRunner().invoke(
                andiron,
                ["cluster", *map(str, arguments)],
                input=stdin,
                env={"ANDIRON_BOOTSTRAP": scripted.bootstrap},
            )
        assert result.exit_code == fails, (result.output, result.exception)
        return result

    return run_command
