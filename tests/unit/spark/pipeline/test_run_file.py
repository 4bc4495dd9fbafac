"""A run's file and lock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.run_file import RunFile


@pytest.fixture
def run(tmp_path: Path) -> RunFile:
    return RunFile("orders", str(tmp_path))


def test_nobody_runs_what_has_never_run(run: RunFile) -> None:
    assert run.holder() is None
    assert run.read() == {}


def test_the_lock_tells_who_runs_it(run: RunFile) -> None:
    with run.hold():
        assert run.holder() == os.getpid()
    assert run.holder() is None


def test_a_second_run_is_refused_and_told_how_to_stop_the_first(run: RunFile) -> None:
    with (
        run.hold(),
        pytest.raises(PipelineError, match=f"runs already, in process {os.getpid()}"),
        RunFile("orders", os.path.dirname(run.folder)).hold(),
    ):
        pass


def test_what_was_written_is_read(run: RunFile) -> None:
    with run.hold():
        run.write({"state": "running"})
        run.write({"state": "stopped"})
    assert run.read() == {"state": "stopped"}
    assert sorted(os.listdir(run.folder)) == ["run.json", "run.lock"]


def test_a_file_that_was_spoiled_counts_as_none(run: RunFile) -> None:
    with run.hold():
        Path(run.folder, "run.json").write_text("{")
    assert run.read() == {}


def test_checkpoints_of_another_cluster_are_refused(run: RunFile) -> None:
    run.check_same("one", {})
    with run.hold():
        run.write({"cluster": "one"})
    run.check_same("one", {})
    with pytest.raises(PipelineError, match="belongs to the cluster one, and this one is two"):
        run.check_same("two", {})


def test_a_setting_on_which_state_hangs_stays_as_it_was(run: RunFile) -> None:
    with run.hold():
        run.write({"cluster": "one", "lasting": {"window": "1 minute"}})
    run.check_same("one", {"window": "1 minute"})
    with pytest.raises(PipelineError, match=r"window is '1 hour', and .* was made with '1 minute'"):
        run.check_same("one", {"window": "1 hour"})
