"""`andiron log`: what is printed, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
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
