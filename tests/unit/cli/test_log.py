"""`andiron log`: what is printed, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.edge.disk import PosixDisk
from andiron.log.flushed_mark import FlushedMark
from andiron.model.ids import Offset
from unit.cli.folders import write_data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def log(*arguments: str | Path) -> Any:
    return CliRunner().invoke(andiron, ["log", *map(str, arguments)])


def test_a_file_is_dumped(data: Path) -> None:
    segment = data / "orders-0" / f"{0:020d}.log"
    lines = log("dump", segment).stdout.splitlines()

    assert lines[0] == f"{segment}: segment"
    assert [line.split("  ")[1] for line in lines[1:]] == ["batch 0-2", "batch 3-5", "batch 6-8"]


def test_a_folder_is_dumped_with_all_below_it(data: Path) -> None:
    told = log("dump", data).stdout

    assert "meta.properties: meta.properties" in told
    assert f"{9:020d}.log: segment" in told
    assert ".index:" not in told
    assert f"{0:020d}.index: offset index" in log("dump", data, "--indexes").stdout


def test_an_index_that_is_named_is_dumped(data: Path) -> None:
    assert "offset 5  position" in log("dump", data / "orders-0" / f"{0:020d}.index").stdout


def test_json_is_an_object_a_line(data: Path) -> None:
    lines = [json.loads(line) for line in log("dump", data, "--json", "--records").stdout.splitlines()]

    assert sum(line["type"] == "record" for line in lines) == 12
    assert all(Path(line["file"]).exists() for line in lines)


def test_a_file_in_transition_is_marked(data: Path) -> None:
    log_file = data / "orders-0" / f"{0:020d}.log"
    log_file.rename(f"{log_file}.deleted")

    assert "segment (deleted)" in log("dump", data).stdout


def test_what_holds_is_exit_code_0(data: Path) -> None:
    result = log("verify", data)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "all of it holds"


def test_what_does_not_hold_is_exit_code_1(data: Path) -> None:
    segment = data / "orders-0" / f"{0:020d}.log"
    segment.write_bytes(segment.read_bytes()[:-1] + b"?")
    result = log("verify", data)

    assert result.exit_code == 1
    assert "fails its checksum" in result.stdout
    assert json.loads(log("verify", data, "--json").stdout)["problems"] == 1


@pytest.mark.parametrize("arguments", [["verify"], ["verify", "/no/such"], ["dump", "/no/such"], ["dump"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert log(*arguments).exit_code == 2


# ── nothing to look at ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("inside", [[], ["dbus-1/session.conf"], ["a/b/c/meta.properties"], ["letter.txt"]])
def test_a_folder_with_nothing_of_a_nodes_is_not_said_to_hold(tmp_path: Path, inside: list[str]) -> None:
    for name in inside:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")

    for result in (log("verify", tmp_path), log("verify", tmp_path, "--json")):
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.startswith(f"andiron: {tmp_path} has nothing of a node's in it")


def test_a_folder_that_is_called_like_a_partition_is_not_said_to_hold(tmp_path: Path) -> None:
    (tmp_path / "photos-2024").mkdir()

    assert log("verify", tmp_path / "photos-2024").exit_code == 1


def test_the_nodes_of_a_cluster_are_looked_into(tmp_path: Path) -> None:
    for node in ("node-1", "node-2"):
        write_data(tmp_path / node / "data")
    segment = tmp_path / "node-2/data/orders-0" / f"{0:020d}.log"

    assert "node-2/data/orders-0: 2 segments" in log("verify", tmp_path).stdout
    assert log("verify", tmp_path).exit_code == 0
    segment.write_bytes(segment.read_bytes()[:-1] + b"?")
    assert log("verify", tmp_path).exit_code == 1
    assert log("verify", tmp_path / "node-1").exit_code == 0


def test_a_folder_with_no_file_of_a_nodes_is_not_dumped(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")

    result = log("dump", tmp_path)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"andiron: {tmp_path} has no file of a node's in it")


@pytest.mark.parametrize(
    "name", [f"{0:020d}.log", f"{0:020d}.snapshot", "quorum-state", "partition.metadata", "letter.txt"]
)
def test_text_is_a_problem_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("dear sir, this is a letter and no batch")

    result = log("dump", tmp_path / name)

    assert result.exit_code == 1
    assert "  ! " in result.stdout


def test_how_far_the_metadata_was_flushed_is_dumped(tmp_path: Path) -> None:
    FlushedMark(PosixDisk(), str(tmp_path)).lower_to(Offset(12))

    assert log("dump", tmp_path).stdout == f"{tmp_path}/flushed-offset: flushed offset\n  flushed 12\n"
