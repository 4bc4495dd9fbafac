"""The files of deploy/: settings that a node takes, and units and images that start it in a way it can be started."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from andiron.broker.node_settings import NodeSettings
from andiron.broker.properties import parse_properties
from andiron.cli.main import andiron
from andiron.client.core.cluster_descriptions import parse_uuid

DEPLOY = Path(__file__).parents[2] / "deploy"


def nodes_of_compose() -> list[dict[str, str]]:
    """What each service gives its node."""
    common = parse_properties((DEPLOY / "docker/cluster.properties").read_text())
    found = []
    for service in re.split(r"\n  andiron-\d:\n", (DEPLOY / "docker/compose.yaml").read_text())[1:]:
        own = dict(each.partition("=")[::2] for each in re.findall(r"--set=(\S+)", service))
        found.append({**common, **own})
    return found


@pytest.mark.parametrize("name", ["combined", "controller", "broker"])
def test_a_node_takes_the_settings(name: str) -> None:
    settings = NodeSettings.load(parse_properties((DEPLOY / f"config/{name}.properties").read_text()))

    assert len(settings.voters) == 3
    assert not settings.notices, "every setting has an effect"


def test_the_nodes_of_compose_are_three_of_one_cluster() -> None:
    nodes = [NodeSettings.load(each) for each in nodes_of_compose()]

    assert [each.node_id for each in nodes] == [1, 2, 3]
    ports = [listener.port for each in nodes for listener in each.advertised if listener.name == "HOST"]
    assert ports == [19092, 19093, 19094]
    assert len({tuple(each.voters) for each in nodes}) == 1


def test_the_id_of_compose_is_one() -> None:
    (text,) = re.findall(r"ANDIRON_CLUSTER_ID: (\S+)", (DEPLOY / "docker/compose.yaml").read_text())

    assert len(parse_uuid(text)) == 16


@pytest.mark.parametrize(
    ("file", "starts"),
    [
        ("systemd/andiron@.service", ["up"]),
        ("systemd/andiron-pipeline@.service", ["pipeline", "run"]),
        ("docker/Dockerfile", ["up"]),
        ("docker/compose.yaml", ["up"]),
    ],
)
def test_the_options_are_ones_that_there_are(file: str, starts: list[str]) -> None:
    told = CliRunner().invoke(andiron, [*starts, "--help"]).output
    command = "\n".join(
        line
        for line in (DEPLOY / file).read_text().splitlines()
        if line.startswith(("ExecStart", "CMD", "ENTRYPOINT", "      - --"))
    )

    used = re.findall(r"(--[a-z-]+)", command)
    assert used
    assert all(option in told for option in used)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("name", ["andiron@", "andiron-pipeline@"])
def test_systemd_takes_the_unit(tmp_path: Path, name: str) -> None:
    unit = tmp_path / f"{name}node.service"
    unit.write_text(
        (DEPLOY / f"systemd/{name}.service").read_text().replace("/opt/andiron/bin/andiron", "/bin/true")
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )

    assert f"{name}node" not in done.stderr, done.stderr
