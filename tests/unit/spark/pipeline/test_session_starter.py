"""A session started beside other work: its log, and what keeps it from starting."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.pipeline import session_starter
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.session_starter import SessionStarter, stop_spark
from andiron.spark.runtime.java import NoJava


def starting(log: Path) -> SessionStarter:
    made = SessionStarter("an app", "local[1]", {"spark.x": "1"}, str(log))
    made.start()
    return made


def test_a_session_is_started_while_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone_on = threading.Event()

    def slow(*asked: Any) -> Any:
        assert gone_on.wait(30)
        return asked

    monkeypatch.setattr(session_starter, "start_session", slow)
    made = starting(tmp_path / "spark.log")
    gone_on.set()

    assert made.session() == ("an app", "local[1]", {"spark.x": "1"}, str(tmp_path / "spark.log"))


def test_a_session_that_nobody_wants_any_more_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up, stopped = threading.Event(), []

    def slow(*asked: Any) -> Any:
        assert given_up.wait(30)
        return asked

    monkeypatch.setattr(session_starter, "start_session", slow)
    monkeypatch.setattr(session_starter, "stop_spark", stopped.append)
    made = starting(tmp_path / "spark.log")
    made.give_up()
    given_up.set()
    made.join(30)

    assert len(stopped) == 1


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
    def fails(*asked: Any) -> None:
        raise problem

    monkeypatch.setattr(session_starter, "start_session", fails)
    with pytest.raises(PipelineError, match=told):
        starting(tmp_path / "spark.log").session()


def test_a_session_that_is_gone_needs_no_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise ConnectionRefusedError

    def complain() -> None:
        warnings.warn("Unable to cleanly shutdown Spark JVM process.", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr(session_starter, "end_jvm", gone)
    for stop in (gone, complain):
        spark: Any = SimpleNamespace(stop=stop)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            stop_spark(spark)
