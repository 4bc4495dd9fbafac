"""The files of a stopped node hold, and what is done to them shows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cli.conftest import PEER, command
from peers import jars
from peers.kafka import Kafka
from peers.node import Node
from peers.written import Written, fill


def log(*arguments: object, fails: int = 0) -> str:
    done = subprocess.run(
        command("log", *arguments), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == fails, done
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A folder that our node filled and left in good order."""
    with Node(tmp_path_factory.mktemp("ours")) as node:
        return fill(node)


@pytest.fixture(scope="session")
def kafkas(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The same by Apache Kafka."""
    try:
        with Kafka(tmp_path_factory.mktemp("kafkas")) as kafka:
            return fill(kafka)
    except jars.Missing as why:
        pytest.skip(str(why))


@pytest.fixture(params=["ours", pytest.param("kafkas", marks=pytest.mark.java)])
def written(request: pytest.FixtureRequest) -> Written:
    found: Written = request.getfixturevalue(request.param)
    return found


def test_a_folder_that_was_left_in_good_order_holds(written: Written) -> None:
    report = json.loads(log("verify", written.data, "--json"))

    assert report["problems"] == 0
    notes = [note for folder in report["folders"] for note in folder["notes"]]
    assert notes == []
    by_name = {Path(folder["path"]).name: folder for folder in report["folders"]}
    assert by_name["many-0"]["records"] == len(written.records["many"])
    assert by_name["many-0"]["segments"] > 1


def test_every_record_is_dumped(written: Written) -> None:
    rows = [
        json.loads(line)
        for line in log("dump", written.partition("many"), "--records", "--json").splitlines()
    ]
    offsets = [row["offset"] for row in rows if row["type"] == "record"]

    assert offsets == list(range(len(written.records["many"])))
    assert not [row for row in rows if row["type"] == "problem"]


def test_the_metadata_is_told_in_words(written: Written) -> None:
    told = log("dump", written.partition("__cluster_metadata"))

    assert 'TopicRecord name="many"' in told
    assert "PartitionRecord" in told
    assert "LeaderChangeMessage" in told


@pytest.mark.skipif(PEER == "kafka", reason="says nothing of Kafka")
def test_a_byte_that_was_changed_is_found(ours: Written, tmp_path: Path) -> None:
    copy = tmp_path / "many-1"
    copy.mkdir()
    for file in ours.partition("many", 1).iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    segment = copy / f"{0:020d}.log"
    data = bytearray(segment.read_bytes())
    data[-1] ^= 1
    segment.write_bytes(data)

    assert "fails its checksum" in log("verify", copy, fails=1)
    assert "CHECKSUM DOES NOT HOLD" in log("dump", copy)
