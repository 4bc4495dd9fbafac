"""A run with a job whose queries are made of wood. With Spark: tests/spark/test_pipeline.py."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.spark.pipeline import pipeline_run, query_watch, session_starter
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.pipeline import Pipeline
from andiron.spark.pipeline.pipeline_run import PipelineRun, RunOptions
from andiron.spark.pipeline.screen import Screen
from andiron.spark.pipeline.stop_request import SIGNALS

JOB = """
from dataclasses import dataclass
from andiron.model.settings import INT, STRING, setting

@dataclass(frozen=True, slots=True)
class SETTINGS:
    bootstrap: str = setting("bootstrap", STRING, "", "")
    data: str = setting("data", STRING, "", "")
    looks: int = setting("looks", INT, 2, "How often its query is found active.")

LOG = []

class Query:
    id, name = "17", "wooden"
    status = {"isTriggerActive": False}
    lastProgress = None

    def __init__(self, settings):
        self.left = settings.looks

    @property
    def isActive(self):
        self.left -= 1
        return self.left >= 0

    def exception(self):
        return EXCEPTION

    def stop(self):
        LOG.append("stopped")

EXCEPTION = None

def start(spark, settings):
    LOG.append("started")
    return [Query(settings)]
"""


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A broker that answers, a Spark that starts, and signals and modules put back at the end."""
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(master="local[2]"),
        streams=SimpleNamespace(addListener=lambda ear: None, active=[]),
        stop=lambda: None,
    )
    monkeypatch.setattr(pipeline_run, "cluster_id", lambda bootstrap: "a cluster")
    monkeypatch.setattr(session_starter, "start_spark", lambda app, master, conf, log: spark)
    monkeypatch.setattr(session_starter, "end_jvm", lambda: None)  # a JVM of this process is somebody else's
    monkeypatch.setattr(query_watch, "LOOK_EVERY_S", 0)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def made(folder: Path, job: str = JOB, **wishes: Any) -> tuple[PipelineRun, io.StringIO]:
    (folder / "wood").mkdir(exist_ok=True)
    (folder / "wood" / "job.py").write_text(job)
    out = io.StringIO()
    asked = RunOptions(**{"bootstrap": "h:1", "data": str(folder / "data"), "given": {}, **wishes})
    return PipelineRun(Pipeline("wood", str(folder / "wood")), asked, Screen(out)), out


def test_a_run_ends_when_its_queries_have(tmp_path: Path) -> None:
    run, out = made(tmp_path)
    run()

    state = run.run.read()
    assert (state["state"], state["cluster"], state["master"]) == ("stopped", "a cluster", "local[2]")
    assert [each["name"] for each in state["queries"]] == ["wooden"]
    assert out.getvalue().splitlines()[-1] == "wood is stopped; the next run goes on from here"


def test_a_query_that_fails_ends_the_run_in_a_line(tmp_path: Path) -> None:
    run, _ = made(
        tmp_path, JOB.replace("EXCEPTION = None", "EXCEPTION = 'terminated with exception: no disk'")
    )

    with pytest.raises(PipelineError, match=r"wooden failed: no disk \(.*spark.log has the rest"):
        run()
    state = run.run.read()
    assert state["state"] == "failed"
    assert "no disk" in state["why"]
    assert state["queries"][0]["state"] == "failed"


def test_a_job_that_does_not_start_is_a_line(tmp_path: Path) -> None:
    run, _ = made(tmp_path, JOB.replace('LOG.append("started")', 'raise ValueError("no such thing")'))

    with pytest.raises(
        PipelineError, match=r"the job cannot be started: no such thing \(.*spark.log has the rest"
    ):
        run()


def test_a_spark_that_dies_is_a_line(tmp_path: Path) -> None:
    died = JOB.replace(
        "        self.left -= 1\n        return self.left >= 0", "        raise ConnectionRefusedError"
    )
    run, _ = made(tmp_path, died)

    with pytest.raises(PipelineError, match=r"Spark has ended by itself; .*spark.log may tell why"):
        run()


def test_settings_are_checked_before_anything_is_started(tmp_path: Path) -> None:
    run, _ = made(tmp_path, given={"looks": "many"})

    with pytest.raises(Exception, match="'many' is not a whole number"):
        run()
    assert run.run.read() == {}


def test_a_broker_that_is_down_is_found_before_spark_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(bootstrap: str) -> str:
        raise ErrorCode.BROKER_NOT_AVAILABLE.error("h:1: no connection")

    monkeypatch.setattr(pipeline_run, "cluster_id", down)
    run, out = made(tmp_path)

    with pytest.raises(ProtocolError, match="no connection"):
        run()
    assert out.getvalue() == ""


def test_another_cluster_than_that_of_the_checkpoints_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path)[0]()
    monkeypatch.setattr(pipeline_run, "cluster_id", lambda bootstrap: "another cluster")

    with pytest.raises(PipelineError, match="belongs to the cluster a cluster"):
        made(tmp_path)[0]()


def test_a_setting_on_which_state_hangs_stays_as_it_was(tmp_path: Path) -> None:
    job = JOB + "\nLASTING = ('looks',)\ndef about(settings):\n    return ['all is in', settings.data]\n"
    run, out = made(tmp_path, job)
    run()

    assert f"all is in\n{run.run.folder}\n" in out.getvalue()
    with pytest.raises(PipelineError, match=r"looks is '3', and .* was made with '2'"):
        made(tmp_path, job, given={"looks": "3"})[0]()


def test_sample_data_needs_a_feed(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="has no sample data"):
        made(tmp_path, sample_rate=5.0)[0]()


def test_a_feed_runs_beside_the_queries_and_results_are_told(tmp_path: Path) -> None:
    job = (
        JOB
        + """
def prepare(settings):
    LOG.append("prepared")

def results(settings):
    class Results:
        def changes(self):
            return ["it changed"] if "sent" in LOG else []
    return Results()

def feed(settings, rate, total):
    class Feed:
        def send(self, count):
            LOG.append("sent")
        def finish(self):
            pass
        def close(self):
            pass
    return Feed()
"""
    )
    run, out = made(tmp_path, job, sample_total=1, results=True, given={"looks": "2000000000"})
    heard: list[str] = []

    class Told(Screen):
        def say(self, text: str) -> None:
            heard.append(text)
            if text == "it changed":
                signal.raise_signal(signal.SIGTERM)

    run._screen = Told(out)
    run()

    assert "it changed" in heard
    assert "stopping when the batches in hand are done; Ctrl-C again stops at once" in heard
