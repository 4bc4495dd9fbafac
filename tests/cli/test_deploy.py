"""The files of deploy/: settings that a node takes, and units and images that start it in a way it can be started."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.settings.property_file import parse_properties
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


def instructions_of_the_image() -> list[str]:
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "docker/Dockerfile").read_text())
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_runs_all_of_a_stage_at_once() -> None:
    """Hadolint's DL3059: what could be one layer is one."""
    kinds = [each.split()[0] for each in instructions_of_the_image()]

    assert ("RUN", "RUN") not in list(pairwise(kinds))


def test_the_image_installs_nothing_of_which_it_does_not_know_the_version() -> None:
    """Hadolint's DL3013: packages are wheels that were made for it, or pinned."""
    runs = [each for each in instructions_of_the_image() if each.startswith("RUN")]
    installed = [words for each in runs for words in re.findall(r"pip install ([^&]+)", each)]
    packages = [word for words in installed for word in words.split() if not word.startswith("-")]

    assert packages
    assert all(package.endswith(".whl") or "==" in package for package in packages)


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
