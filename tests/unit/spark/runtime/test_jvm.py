"""The JVM is started out of reach of signals to our process group, and only where a JVM is ours to start."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark.java_gateway
import pytest
from pyspark import SparkContext

from andiron.spark.runtime.jvm import end_jvm, is_remote, launch_jvm


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What JVMs were started with; none is."""
    calls: list[tuple[dict[str, str], dict[str, Any]]] = []

    class Gateway:
        jvm = object()

        def __init__(self) -> None:
            self.proc = subprocess.Popen(["cat"], stdin=subprocess.PIPE)

        def shutdown(self) -> None:
            """Nothing to hang up."""

    def instead(conf: Any, popen: dict[str, Any]) -> Gateway:
        calls.append((dict(conf.getAll()), popen))
        return Gateway()

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    monkeypatch.setattr(pyspark.java_gateway, "launch_gateway", instead)
    yield calls
    end_jvm()


def test_the_jvm_is_in_a_session_of_its_own(launched: list[Any]) -> None:
    launch_jvm({"spark.driver.memory": "1g"})

    assert launched == [({"spark.driver.memory": "1g"}, {"start_new_session": True})]


def test_what_the_jvm_prints_can_go_to_a_file(launched: list[Any], tmp_path: Path) -> None:
    launch_jvm({}, str(tmp_path / "spark.log"))
    (_, popen) = launched[0]

    assert popen["stdout"] is popen["stderr"]
    assert popen["stdout"].name == str(tmp_path / "spark.log")


def test_a_jvm_that_runs_is_used_again(launched: list[Any]) -> None:
    launch_jvm({})
    launch_jvm({})

    assert len(launched) == 1


def test_a_jvm_ends_with_the_pipe_to_its_input_and_is_waited_for(launched: list[Any]) -> None:
    launch_jvm({})
    process = SparkContext._gateway.proc
    end_jvm()

    assert process.returncode == 0
    assert SparkContext._gateway is None
    end_jvm()  # there is none any more


@pytest.mark.parametrize(
    ("settings", "environ"),
    [
        ({"spark.remote": "sc://somewhere"}, {}),
        ({"spark.api.mode": "connect"}, {}),
        ({}, {"SPARK_API_MODE": "Connect"}),
        ({}, {"SPARK_REMOTE": "local"}),
    ],
)
def test_spark_connect_has_no_jvm_of_ours(settings: dict[str, str], environ: dict[str, str]) -> None:
    assert is_remote(settings, environ)


def test_without_a_word_it_is_classic() -> None:
    assert not is_remote({"spark.api.mode": "classic"}, {})
