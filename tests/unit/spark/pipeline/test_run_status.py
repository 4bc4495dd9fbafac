"""Status, as told to another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.query_progress import QueryProgress
from andiron.spark.pipeline.run_file import RunFile
from andiron.spark.pipeline.run_status import as_text, run_status


@pytest.fixture
def run(tmp_path: Path) -> RunFile:
    return RunFile("orders", str(tmp_path))


def state(run: RunFile, word: str, why: str | None = None) -> dict[str, Any]:
    return {
        "name": "orders",
        "pid": 17,
        "started": 1_000.0,
        "updated": 1_090.0,
        "bootstrap": "h:1",
        "master": "local[2]",
        "folder": run.folder,
        "state": word,
        "why": why,
        "queries": [QueryProgress("orders-search").as_json()],
    }


def test_what_has_never_run_has_no_status(run: RunFile) -> None:
    with pytest.raises(PipelineError, match="has not run with"):
        run_status(run)


def test_a_run_under_way(run: RunFile) -> None:
    with run.hold():
        run.write(state(run, "running"))
        now = run_status(run)
        lines = as_text(now, 1_090.5).splitlines()

    assert now["running"]
    assert lines[0] == "orders is running, in process 17 for 1.5 min"
    assert lines[1].split()[:2] == ["orders-search", "starting"]
    assert lines[2] == f"  log h:1, Spark local[2], data {run.folder}"


def test_a_run_that_failed_tells_why(run: RunFile) -> None:
    with run.hold():
        run.write(state(run, "failed", "disk full"))

    assert as_text(run_status(run), 1_100).startswith("orders failed 10 s ago: disk full")


def test_a_process_that_died_did_not_get_to_say_so(run: RunFile) -> None:
    with run.hold():
        run.write(state(run, "running"))

    assert as_text(run_status(run), 4_690 + 86_400).startswith(
        "orders failed 1.0 d ago: its process ended without a word"
    )
