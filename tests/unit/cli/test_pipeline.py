"""`andiron pipeline` without Spark being started. With it: tests/spark/test_pipeline.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.spark.pipeline.run_file import RunFile

JOB = '''"""Wooden."""
from dataclasses import dataclass
from andiron.model.settings import INT, STRING, setting

@dataclass(frozen=True, slots=True)
class SETTINGS:
    bootstrap: str = setting("bootstrap", STRING, "", "")
    data: str = setting("data", STRING, "", "")
    looks: int = setting("looks", INT, 2, "How often.")

def start(spark, settings):
    return []
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one pipeline."""
    (tmp_path / "pipelines" / "wood").mkdir(parents=True)
    (tmp_path / "pipelines" / "wood" / "job.py").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("andiron.spark.pipeline.pipeline.SHIPPED", str(tmp_path / "pipelines"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def pipeline(*arguments: str) -> Any:
    return CliRunner().invoke(andiron, ["pipeline", *arguments])


def test_the_list_tells_what_each_is_for() -> None:
    assert pipeline("list").stdout == "NAME  ABOUT\nwood  Wooden.\n"
    assert json.loads(pipeline("list", "--json").stdout)[0]["name"] == "wood"


def test_no_pipelines_are_a_remark(folder: Path) -> None:
    (folder / "pipelines" / "wood" / "job.py").unlink()
    result = pipeline("list")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "there are no pipelines in" in result.stderr


def test_the_settings_are_those_that_may_be_chosen() -> None:
    assert pipeline("settings", "wood").stdout == "SETTING  DEFAULT  ABOUT\nlooks    2        How often.\n"
    assert json.loads(pipeline("settings", "wood", "--json").stdout) == [
        {"name": "looks", "default": "2", "about": "How often."}
    ]


def test_an_unknown_pipeline_is_one_line() -> None:
    result = pipeline("run", "woods")

    assert result.exit_code == 1
    assert result.stderr.startswith("andiron: there is no pipeline 'woods' in ")
    assert result.stderr.endswith("; did you mean wood?\n")


def test_an_unknown_setting_is_one_line() -> None:
    result = pipeline("run", "wood", "--set", "look=3")

    assert result.exit_code == 1
    assert result.stderr == "andiron: look: wood has no such setting; did you mean looks?\n"


def test_a_broker_that_is_down_is_one_line() -> None:
    result = pipeline("run", "wood", "-b", "localhost:1")

    assert result.exit_code == 1
    assert "no connection" in result.stderr and "`andiron up`" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_what_has_not_run_has_neither_status_nor_end(folder: Path) -> None:
    for command in ("status", "stop"):
        result = pipeline(command, "wood")
        assert result.exit_code == 1
        assert str(folder / "pipeline-data" / "wood") in result.stderr


def test_status_is_for_people_or_programs_and_for_scripts(folder: Path) -> None:
    run = RunFile("wood", str(folder / "pipeline-data"))
    with run.hold():
        run.write(
            {
                "name": "wood",
                "pid": 17,
                "started": 0.0,
                "updated": 0.0,
                "bootstrap": "h:1",
                "master": "local[2]",
                "folder": run.folder,
                "state": "running",
                "why": None,
                "queries": [],
            }
        )
        assert pipeline("status", "wood").exit_code == 0
        assert json.loads(pipeline("status", "wood", "--json").stdout)["running"] is True
    assert pipeline("status", "wood").exit_code == 3
