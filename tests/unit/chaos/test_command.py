"""`andiron chaos` from its options to its exit code; the cluster and the cells are played by others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner, Result

from andiron.chaos import command
from andiron.chaos.cells import Cell
from andiron.chaos.experiment import Outcome
from andiron.chaos.rebalance import Scaling
from unit.chaos.samples import SCALING, outcome


class NoCluster:
    """Is started and ended."""

    bootstrap = "nowhere:1"
    folders: list[str] = []
    ended = 0

    def __init__(self, folder: str, settings: object) -> None:
        self.folders.append(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        NoCluster.ended += 1


class Played:
    """Cells whose outcome is known."""

    cells: list[Cell] = []
    lost = {"1": 2, "all": 0}
    seconds = 0.0

    def __init__(self, cluster: object, fault: object, seconds: float, say: Callable[[str], None]) -> None:
        Played.seconds = seconds

    def run(self, cell: Cell) -> Outcome:
        if cell.acks not in self.lost:
            raise KeyboardInterrupt
        self.cells.append(cell)
        return outcome(cell.acks, self.lost[cell.acks])._replace(cell=cell)


class NoGroup:
    def __init__(self, bootstrap: str, kind: str) -> None:
        self.kind = kind

    def run(self, seconds: float) -> Scaling:
        return SCALING._replace(kind=self.kind)


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "ChaosCluster", NoCluster)
    monkeypatch.setattr(command, "Experiment", Played)
    monkeypatch.setattr(command, "ScaledGroup", NoGroup)
    monkeypatch.setattr(command, "is_possible", lambda: True)
    monkeypatch.setattr(command.signal, "signal", lambda *arguments: None)
    monkeypatch.setattr(Played, "cells", [])
    monkeypatch.setattr(Played, "lost", {"1": 2, "all": 0})
    monkeypatch.setattr(NoCluster, "folders", [])
    monkeypatch.setattr(NoCluster, "ended", 0)


def run(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(command.chaos, ["--report", str(folder / "page.html"), *options])


def ledger(folder: Path) -> Any:
    return json.loads((folder / "page.json").read_text())


def test_all_cells_are_played_and_a_group_scaled(tmp_path: Path) -> None:
    result = run(tmp_path)

    assert result.exit_code == 0, result.output
    assert len(Played.cells) == 8
    assert "acks=all min.insync=2 fsync=off: 0 of 10 acknowledged records lost: SAFE" in result.output
    assert "KIP-848" in result.output
    assert len(ledger(tmp_path)["cells"]) == 8
    assert "<svg" in (tmp_path / "page.html").read_text()


def test_a_quick_run_is_one_cell_and_says_what_it_left_out(tmp_path: Path) -> None:
    result = run(tmp_path, "--quick")

    assert [cell.name for cell in Played.cells] == ["acks=all min.insync=2 fsync=off"]
    assert Played.seconds == 2.0
    assert "Left out, since --quick was given" in result.output
    assert ledger(tmp_path)["scaling"] == []


def test_acks_all_that_loses_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Played, "lost", {"all": 1})

    result = run(tmp_path, "--cells", "acks=all,min=2")

    assert result.exit_code == 1
    assert "! acks=all min.insync=2 fsync=off: 1 of 10 acknowledged records lost: NOT SAFE" in result.output


def test_acks_1_that_loses_nothing_is_a_failure_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Played, "lost", {"1": 0})

    assert run(tmp_path, "--cells", "acks=1,min=2").exit_code == 1


def test_where_there_is_no_client_for_groups_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "is_possible", lambda: False)

    assert "needs confluent-kafka" in run(tmp_path, "--cells", "acks=1,min=2").output


def test_data_are_removed_unless_they_are_to_be_kept(tmp_path: Path) -> None:
    run(tmp_path, "--quick")
    run(tmp_path, "--quick", "--keep")

    assert [os.path.exists(each) for each in NoCluster.folders] == [False, True]
    os.rmdir(NoCluster.folders[1])


def test_who_interrupts_it_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Played, "lost", {})

    result = run(tmp_path, "--quick")

    assert result.exit_code != 0
    assert NoCluster.ended == 1
    assert not os.path.exists(NoCluster.folders[0])
    assert not (tmp_path / "page.html").exists()


def test_a_cell_that_is_none_is_told_before_anything_starts(tmp_path: Path) -> None:
    result = run(tmp_path, "--cells", "acks=9")

    assert "no part of a cell" in result.output
    assert NoCluster.folders == []


@pytest.mark.parametrize(
    ("name", "told"), [("page.json", "name the page"), ("no/such/page.html", "no folder")]
)
def test_a_report_that_cannot_be_written_is_told_before_anything_starts(
    tmp_path: Path, name: str, told: str
) -> None:
    result = CliRunner().invoke(command.chaos, ["--quick", "--report", str(tmp_path / name)])

    assert (result.exit_code, told in result.output) == (1, True)
    assert NoCluster.folders == []
