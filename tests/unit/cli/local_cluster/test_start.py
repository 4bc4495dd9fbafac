"""What is done between the command line and the nodes. That they run: tests/cli/test_up_cluster.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from andiron.cli.failure import Failure
from andiron.cli.local_cluster import start as module
from andiron.cli.local_cluster.start import start_cluster
from andiron.model.settings import SettingError


class Seen:
    """Stands for the supervisor: starts nothing."""

    made: dict[str, Any]

    def __init__(self, children: list[Any], watcher: Any, screen: Any, **options: Any) -> None:
        type(self).made = {"children": children, **options}

    def run(self) -> int:
        type(self).made["announce"]()
        return 0


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> type[Seen]:
    monkeypatch.setattr(module, "Supervisor", Seen)
    return Seen


def test_each_node_is_started_from_its_file(seen: type[Seen], tmp_path: Path, capsys: Any) -> None:
    assert start_cluster(1, str(tmp_path), "localhost", 9092, {}, restart=True, quiet=False) == 0

    (child,) = seen.made["children"]
    assert (child.id, child.log) == (1, f"{tmp_path}/node-1/andiron.log")
    assert "node.id=1\n" in (tmp_path / "node-1/server.properties").read_text()
    assert seen.made["restart"] and seen.made["voters"] == [1]
    said = capsys.readouterr()
    assert "1 node serves localhost:9092\n" in said.out
    assert "the controllers talk on localhost:" in said.out
    assert said.err == "andiron: stopped; everything is on the disk\n"


def test_a_nodes_process_can_be_told_from_those_of_other_clusters(
    seen: type[Seen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/getting-started.md kills one by what stands in its command line."""
    monkeypatch.chdir(tmp_path)
    start_cluster(2, "cluster", "localhost", 9092, {}, restart=False, quiet=True)

    assert f"{tmp_path}/cluster/node-2/server.properties" in seen.made["children"][1]._arguments
    page = Path(__file__).parents[4] / "docs/getting-started.md"
    assert "pkill -9 -f $PWD/cluster/node-2/server.properties" in page.read_text()


def test_quiet_announces_nothing(seen: type[Seen], tmp_path: Path, capsys: Any) -> None:
    start_cluster(1, str(tmp_path), "0.0.0.0", 9092, {}, restart=False, quiet=True)

    assert capsys.readouterr() == ("", "")
    assert "listeners=PLAINTEXT://:9092" in (tmp_path / "node-1/server.properties").read_text()


def test_a_host_that_is_not_here_is_told(seen: type[Seen], tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no address of this machine"):
        start_cluster(1, str(tmp_path), "192.0.2.1", 9092, {}, restart=False, quiet=False)


def test_what_is_wrong_is_told_before_anything_is_written(seen: type[Seen], tmp_path: Path) -> None:
    with pytest.raises(SettingError):
        start_cluster(1, str(tmp_path), "localhost", 9092, {"no.such": "1"}, restart=False, quiet=False)
    with pytest.raises(Failure):
        start_cluster(1, str(tmp_path), "localhost", 0, {}, restart=False, quiet=False)
    assert not list(tmp_path.iterdir())


def test_it_says_where_the_metrics_are(seen: type[Seen], tmp_path: Path, capsys: Any) -> None:
    start_cluster(2, str(tmp_path), "localhost", 9092, {}, metrics=7000, restart=False, quiet=False)

    assert (
        "metrics are at http://localhost:7000/metrics, http://localhost:7001/metrics\n"
        in capsys.readouterr().out
    )
    assert "metrics.listener=http://localhost:7001\n" in (tmp_path / "node-2/server.properties").read_text()
