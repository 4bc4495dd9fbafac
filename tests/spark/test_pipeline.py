"""`andiron pipeline` on Spark, as a user has it: a run in one terminal, status and stop in another."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from andiron.spark.pipeline.run_file import RunFile
from peers.node import Node
from peers.waiting import eventually

JOB = '''"""Counts ticks."""

from dataclasses import dataclass

from andiron.model.settings import INT, STRING, setting


@dataclass(frozen=True, slots=True)
class SETTINGS:
    bootstrap: str = setting("bootstrap", STRING, "", "")
    data: str = setting("data", STRING, "", "")
    fail_at: int = setting("fail.at", INT, -1, "The batch to fail in.")


def start(spark, settings):
    def sink(rows, batch):
        if batch == settings.fail_at:
            raise ValueError("this batch was told to fail")

    ticks = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    query = ticks.writeStream.queryName("ticks").trigger(processingTime="200 milliseconds")
    return [query.option("checkpointLocation", settings.data + "/checkpoint").foreachBatch(sink).start()]
'''

PAGE = (Path(__file__).parents[2] / "pipelines" / "README.md").read_text()

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PATIENCE_S = 300  # Spark may take long to start where others are at work


@pytest.fixture
def environment(tmp_path: Path, node: Node) -> dict[str, str]:
    pytest.importorskip("pyspark")
    (tmp_path / "jobs" / "ticks").mkdir(parents=True)
    (tmp_path / "jobs" / "ticks" / "job.py").write_text(JOB)
    ours = {
        "ANDIRON_PIPELINES": str(tmp_path / "jobs"),
        "ANDIRON_BOOTSTRAP": node.bootstrap,
        "SPARK_MASTER": "local[1]",
    }
    return {**os.environ, **ours}


@pytest.fixture
def call(tmp_path: Path, environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`andiron pipeline …` to its end."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`andiron pipeline run …` in the background, in a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, name: str = "ticks") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command("run", name, *arguments),
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "andiron", "pipeline", *arguments]


def batch_of(name: str, folder: Path) -> int:
    """The last batch that its query has done in this run; -1 if there is none. A status asked for again and again would
    keep from its work what it asks about."""
    queries = RunFile(name, str(folder / "pipeline-data")).read().get("queries")
    return queries[0]["batch"] if queries else -1


def test_a_pipeline_is_watched_and_goes_on_however_it_ended(tmp_path: Path, call: Any, start: Any) -> None:
    """First its Spark dies, then it is stopped by the system, then a batch fails."""
    running = start()
    eventually(lambda: batch_of("ticks", tmp_path) >= 2, PATIENCE_S)
    assert "ticks is running, in process" in call("status", "ticks").stdout
    second = call("run", "ticks")
    assert second.returncode == 1 and "runs already" in second.stderr

    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    (java,) = [each for each in children if "java" in os.readlink(f"/proc/{each}/exe")]
    os.kill(int(java), signal.SIGKILL)
    _, told = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 1
    assert told.startswith("andiron: Spark has ended by itself; ")
    assert len(told.splitlines()) == 1
    last = batch_of("ticks", tmp_path)

    again = start()
    eventually(lambda: batch_of("ticks", tmp_path) > last, PATIENCE_S)
    os.killpg(again.pid, signal.SIGTERM)  # the whole group, and it is a stop like any other
    told, problems = again.communicate(timeout=PATIENCE_S)
    assert (again.returncode, problems) == (0, "")
    assert told.splitlines()[-2:] == [
        "stopping when the batches in hand are done; Ctrl-C again stops at once",
        "ticks is stopped; the next run goes on from here",
    ]
    last = batch_of("ticks", tmp_path)

    third = start("--set", f"fail.at={last + 2}")
    _, told = third.communicate(timeout=PATIENCE_S)
    assert third.returncode == 1
    assert told.startswith("andiron: ticks failed: this batch was told to fail (")
    assert len(told.splitlines()) == 1
    assert "ticks failed" in call("status", "ticks").stdout
    state = json.loads(call("status", "ticks", "--json").stdout)
    assert state["queries"][0]["batch"] == last + 1


def test_a_pipeline_that_was_killed_is_known_to_be_gone(tmp_path: Path, call: Any, start: Any) -> None:
    running = start()
    eventually(lambda: RunFile("ticks", str(tmp_path / "pipeline-data")).read() != {}, PATIENCE_S)
    assert call("status", "ticks").returncode == 0
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()

    told = call("status", "ticks")
    assert told.returncode == 3
    assert "its process ended without a word" in told.stdout
    assert call("stop", "ticks").returncode == 1


def test_the_job_of_the_page_does_what_the_page_says(
    tmp_path: Path, environment: dict[str, str], call: Any, start: Any
) -> None:
    """Typed from pipelines/README.md: the job into its file, and the commands as they stand there."""
    (job,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
    create, run, produce, consume = commands.splitlines()
    assert run.split("#")[0].split() == ["andiron", "pipeline", "run", "words"]
    (tmp_path / "pipelines" / "words").mkdir(parents=True)
    (tmp_path / "pipelines" / "words" / "job.py").write_text(job)
    path = os.pathsep.join([os.path.dirname(sys.executable), environment["PATH"]])

    def type_in(line: str) -> str:
        typed = {"cwd": tmp_path, "env": {**environment, "PATH": path}, "shell": True}
        shell: Any = subprocess.run(line, capture_output=True, text=True, check=False, **typed)
        assert shell.returncode == 0, shell.stderr
        return shell.stdout

    type_in(create)
    running = start(name="words")
    type_in(produce)

    def is_there() -> bool:
        assert running.poll() is None, running.stderr.read()
        return batch_of("words", tmp_path) >= 0

    eventually(is_there, PATIENCE_S)
    words = ["an", "andiron", "holds", "the", "logs"]
    assert type_in(consume).split() == words
    assert call("stop", "words").stdout == "words is stopped\n"
    assert running.wait(PATIENCE_S) == 0
    assert running.stdout.read().splitlines()[-1] == "words is stopped; the next run goes on from here"
    assert running.stderr.read() == ""
    assert type_in(consume).split() == words
