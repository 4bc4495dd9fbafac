"""Pipelines are found by their folders, the nearest first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.pipeline import VARIABLE, Pipeline, find_pipeline, folders, pipelines


def make(folder: Path, name: str, job: str = '"""About it.\n\nAt length."""\n') -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "job.py").write_text(job)
    return folder / name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without pipelines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("andiron.spark.pipeline.pipeline.SHIPPED", str(tmp_path / "shipped"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_the_variable_comes_before_the_working_folder_and_that_before_what_is_shipped(here: Path) -> None:
    assert folders({VARIABLE: "a:b"}) == [str(here / each) for each in ("a", "b", "pipelines", "shipped")]


def test_the_first_folder_that_has_a_name_wins(here: Path) -> None:
    make(here / "pipelines", "orders", '"""Ours."""')
    make(here / "shipped", "orders", '"""Theirs."""')
    make(here / "shipped", "clicks")

    assert [(each.name, each.summary()) for each in pipelines({})] == [
        ("clicks", "About it."),
        ("orders", "Ours."),
    ]


def test_a_folder_without_a_job_is_no_pipeline(here: Path) -> None:
    (here / "pipelines" / "notes").mkdir(parents=True)

    assert pipelines({}) == []


def test_a_summary_does_not_run_the_job(here: Path) -> None:
    folder = make(here / "pipelines", "broken", '"""Fails."""\nraise SystemExit')

    assert Pipeline("broken", str(folder)).summary() == "Fails."


def test_a_job_that_is_no_python_is_still_listed(here: Path) -> None:
    folder = make(here / "pipelines", "broken", "def")

    assert "cannot be read" in Pipeline("broken", str(folder)).summary()


def test_an_unknown_name_gets_advice(here: Path) -> None:
    make(here / "pipelines", "orders")

    with pytest.raises(PipelineError, match="did you mean orders"):
        find_pipeline("order", {})
    with pytest.raises(PipelineError, match="pipeline list"):
        find_pipeline("something else", {})


def test_a_job_is_loaded_with_what_lies_beside_it(here: Path) -> None:
    folder = make(here / "pipelines", "apples", "from apple_helper import start\nSETTINGS = 1")
    (folder / "apple_helper.py").write_text("def start(spark, settings): return 'started'")

    assert find_pipeline("apples", {}).load().start(None, None) == "started"


def test_a_job_without_its_parts_is_refused(here: Path) -> None:
    make(here / "pipelines", "pears", "SETTINGS = 1")

    with pytest.raises(PipelineError, match="has no start"):
        find_pipeline("pears", {}).load()


def test_a_job_that_fails_as_it_is_loaded_is_one_line(here: Path) -> None:
    make(here / "pipelines", "plums", "import no_such_module_anywhere")

    with pytest.raises(PipelineError, match=r"job\.py cannot be loaded: ModuleNotFoundError"):
        find_pipeline("plums", {}).load()
