"""Warming up: a pipeline is run once on a few sample records, for the classes that Java loads on the way.

    a node, topics, tables, checkpoints of its own, in a folder that is thrown away
      └─▶ the run, with Java recording ─▶ <cache>/classes-….jsa, used by every later start (runtime/class_data.py)

It is a run like any other, in a process of its own, so that what is recorded is what will be needed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.pipeline import Pipeline
from andiron.spark.runtime.class_data import OPTIONS, RECORD, archive_of
from andiron.spark.runtime.java import find_java

RECORDS = 200


def warm(pipeline: Pipeline) -> str:
    """Run a pipeline once on sample records; return where the archive of classes is."""
    if not hasattr(pipeline.load(), "feed"):
        raise PipelineError(f"{pipeline.name} has no sample data to be warmed up with: its job has no feed")
    archive = archive_of(find_java().launchable_home())
    with tempfile.TemporaryDirectory(dir=os.path.dirname(archive)) as folder:
        made = os.path.join(folder, "classes.jsa")
        done = subprocess.run(
            _command(pipeline.name, folder, made), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PipelineError(
                f"the run that was to record the classes failed: {(done.stderr.strip() or 'without a word')}"
            )
        if not os.path.isfile(made):
            raise PipelineError(
                "this Java has made no archive: it may have been built without class-data sharing"
            )
        os.replace(made, archive)
    return archive


def _command(name: str, folder: str, archive: str) -> list[str]:
    where = ["-b", f"localhost:{_free_port()}", "--data", f"{folder}/data", "--log-data", f"{folder}/log"]
    work = ["--embedded", "--sample-total", str(RECORDS), "--set", "trigger=available-now", "--quiet"]
    recording = ["--conf", f"{OPTIONS}={RECORD.format(archive)}"]
    return [sys.executable, "-m", "andiron", "pipeline", "run", name, *where, *work, *recording]


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("localhost", 0))
        return int(asked.getsockname()[1])
