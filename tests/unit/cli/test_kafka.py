"""`andiron kafka properties` on folders of the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from andiron.broker.node.node import Node
from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.settings.property_file import parse_properties
from andiron.cli.main import andiron
from andiron.cli.up import node_by_itself
from andiron.edge.disk import PosixDisk
from andiron.model.effects import Flush, Flushed
from andiron.model.ids import Millis


def run(*arguments: object, fails: int = 0) -> str:
    result = CliRunner().invoke(andiron, ["kafka", "properties", *map(str, arguments)])
    assert result.exit_code == fails, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a node that has been started, and stopped."""
    data = tmp_path / "data"
    data.mkdir()
    node = Node(
        NodeSettings.load({**node_by_itself("localhost", 9092), "log.dirs": str(data)}), PosixDisk(), seed=1
    )
    effects = node.start(Millis(1_700_000_000_000))
    while effects:
        flushes = [effect for effect in effects if isinstance(effect, Flush)]
        effects = [each for flush in flushes for each in node.step(Flushed(flush.token, None), Millis(0))]
    node.stop(Millis(1_700_000_000_000))
    return data


def test_a_folder_is_enough(folder: Path) -> None:
    found = parse_properties(run("--data", folder))

    assert found["log.dirs"] == str(folder)
    assert found["listeners"] == "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093"
    assert found["controller.quorum.bootstrap.servers"] == "localhost:9093"
    assert json.loads(run("--data", folder, "--json"))["properties"] == found


def test_the_file_that_it_was_started_with_is_taken(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text(run("--data", folder) + "num.partitions=7\n")

    found = parse_properties(run("--data", folder, "--config", config, "--set", "compression.type=zstd"))

    assert (found["num.partitions"], found["compression.type"]) == ("7", "zstd")


def test_a_node_of_a_local_cluster_has_its_file_beside_its_data(folder: Path, tmp_path: Path) -> None:
    node = tmp_path / "cluster" / "node-1"
    node.mkdir(parents=True)
    folder.rename(node / "data")
    (node / "server.properties").write_text(
        "node.id=1\nprocess.roles=broker,controller\nlisteners=PLAINTEXT://:1,CONTROLLER://:2\nnum.partitions=9\n"
    )

    assert parse_properties(run("--data", node / "data"))["num.partitions"] == "9"
    assert "say which node" in run("--data", tmp_path / "cluster", fails=1)


def test_a_folder_that_is_no_nodes_is_told_in_a_line(tmp_path: Path) -> None:
    assert (
        run("--data", tmp_path, fails=1)
        == f"andiron: {tmp_path} is no node's folder: it has no meta.properties\n"
    )
