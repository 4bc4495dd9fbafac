"""docs/moving.md as typed: its commands one after another, in one shell, between two clusters."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from confluent_kafka import TopicPartition

from peers import copied, mirror
from peers.node import Node

PAGE = (Path(__file__).parents[2] / "docs" / "moving.md").read_text()
HERE, THERE = "localhost:9092", "localhost:19092"
# Who types takes longer to come to the next block than a process to begin.
UNTIL_IT_FOLLOWS = "until grep -q following said; do sleep 0.1; done\n"


def typed(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """A script in a shell that has `andiron` and `python`; it ends with what fails first."""
    for name, module in (("andiron", " -m andiron"), ("python", "")):
        command = folder / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    with open(folder / "said", "w") as said:
        return subprocess.run(
            ["bash", "-ec", script],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            check=False,
        )


def test_the_commands_of_the_page_move_topics_and_groups_there_and_back(tmp_path: Path) -> None:
    with Node(tmp_path / "here") as here, Node(tmp_path / "there") as there:
        setup = f"""
            seq 1000 | andiron produce orders --bootstrap {HERE} --quiet
            seq 10 | andiron produce orders-test --bootstrap {HERE} --quiet
        """
        blocks = [
            each + (UNTIL_IT_FOLLOWS if each.endswith("&\n") else "")
            for each in re.findall(r"```sh\n(.*?)```", PAGE, re.S)
        ]
        ports = {THERE: f"localhost:{there.port}", HERE: f"localhost:{here.port}"}

        def local(script: str) -> str:
            for told, port in ports.items():
                script = script.replace(told, port)
            return script.replace("topic delete orders", f"topic delete orders --bootstrap {ports[HERE]}")

        assert typed(tmp_path, local(setup)).returncode == 0
        for group in ("billing", "totals"):
            copied.commit(here.bootstrap, group, [TopicPartition("orders", 0, 700)])
        done = typed(tmp_path, local("\n".join(blocks)))

        assert done.returncode == 0, done.stdout + (tmp_path / "said").read_text()
        assert json.loads((tmp_path / "proof.json").read_text())["proven"]
        assert json.loads((tmp_path / "starting-offsets.json").read_text()) == {"orders": {"0": 700}}
        assert len(copied.seen(here.bootstrap, "orders")[0]) == 1000
        assert "proven: 1,000 records on both sides" in done.stdout


def test_the_mirrors_properties_are_those_that_are_tested() -> None:
    (block,) = re.findall(r"```properties\n(.*?)```", PAGE, re.S)

    assert mirror.PROPERTIES in block
