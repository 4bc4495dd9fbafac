"""A run for the sake of its classes: what it is asked, and what comes of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.pipeline import warm_up
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.warm_up import warm
from andiron.spark.runtime.class_data import archive_of


@pytest.fixture(autouse=True)
def _java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path))
    monkeypatch.setattr(warm_up, "find_java", lambda: SimpleNamespace(launchable_home=lambda: "/java"))


def pipeline(**job: Any) -> Any:
    return SimpleNamespace(name="orders", load=lambda: SimpleNamespace(**job))


def runs(monkeypatch: pytest.MonkeyPatch, *, makes: bool = True, fails: str = "") -> list[list[str]]:
    """Every run from now on makes an archive, or does not, or fails."""
    commands = []

    def instead(command: list[str], **_: Any) -> Any:
        commands.append(command)
        if makes:
            Path(command[-1].rpartition("=")[2]).write_text("classes")
        return subprocess.CompletedProcess(command, 1 if fails else 0, "", fails)

    monkeypatch.setattr(warm_up.subprocess, "run", instead)
    return commands


def test_the_archive_is_where_later_starts_look_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = runs(monkeypatch)

    assert warm(pipeline(feed=None)) == archive_of("/java")
    assert Path(archive_of("/java")).read_text() == "classes"
    assert "trigger=available-now" in commands[0] and "--embedded" in commands[0]
    assert [each.name for each in Path(archive_of("/java")).parent.iterdir()] == [
        Path(archive_of("/java")).name
    ]


def test_a_pipeline_without_sample_data_has_nothing_to_warm_up_with() -> None:
    with pytest.raises(PipelineError, match="no feed"):
        warm(pipeline())


@pytest.mark.parametrize(
    ("harm", "told"),
    [({"makes": False}, "made no archive"), ({"fails": "andiron: no disk"}, "failed: andiron: no disk")],
)
def test_what_went_wrong_is_a_line(monkeypatch: pytest.MonkeyPatch, harm: Any, told: str) -> None:
    runs(monkeypatch, **harm)

    with pytest.raises(PipelineError, match=told):
        warm(pipeline(feed=None))
