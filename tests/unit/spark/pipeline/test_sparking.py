"""Spark's noise, and what keeps it from starting."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.pipeline import sparking
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.sparking import Ear, start_spark, stop_spark
from andiron.spark.runtime.java import NoJava


def test_what_processes_print_as_spark_starts_goes_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def noisy(app: str, master: str | None, **conf: str) -> str:
        subprocess.run(["sh", "-c", "echo out; echo err >&2"], check=True)
        return f"{app} on {master} with {conf}"

    monkeypatch.setattr(sparking, "session", noisy)
    started: Any = start_spark("an app", "local[1]", {"spark.x": "1"}, str(tmp_path / "spark.log"))
    print("heard")

    assert started == "an app on local[1] with {'spark.x': '1'}"
    assert (tmp_path / "spark.log").read_text() == "out\nerr\n"
    assert capfd.readouterr() == ("heard\n", "")


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (NoJava("no Java found. Install one"), "^no Java found. Install one$"),
        (
            RuntimeError("[JAVA_GATEWAY_EXITED] it exited\n\tat x"),
            "^Spark did not start: .*it exited; .*log has",
        ),
    ],
)
def test_what_keeps_spark_from_starting_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception, told: str
) -> None:
    def fails(app: str, master: str | None, **conf: str) -> None:
        raise problem

    monkeypatch.setattr(sparking, "session", fails)
    with pytest.raises(PipelineError, match=told):
        start_spark("an app", None, {}, str(tmp_path / "spark.log"))


def test_an_ear_keeps_what_it_heard_of_batches() -> None:
    ear = Ear()
    event: Any = SimpleNamespace(progress=SimpleNamespace(json='{"batchId": 3}'))
    ear.onQueryStarted(event)
    ear.onQueryProgress(event)
    ear.onQueryIdle(event)
    ear.onQueryTerminated(event)

    assert list(ear.told) == [{"batchId": 3}]


def test_a_session_that_is_gone_needs_no_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise ConnectionRefusedError

    spark: Any = SimpleNamespace(stop=gone)
    monkeypatch.setattr(sparking, "end", gone)
    stop_spark(spark)
