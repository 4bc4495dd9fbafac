"""The file of a run, which tells other terminals how it is going, and the lock that tells whether it runs.

    <data>/<name>/run.json   who runs it, with which settings, and how each query was doing a moment ago
                 /run.lock   held by the process that runs it, for as long as it lives
                 /…          checkpoints and tables, which are the job's

The law: the lock alone says whether a pipeline runs. The system takes it from a process that dies, however
it dies; a process id in a file would outlive it, and be somebody else's by then.

The file also remembers what the checkpoints belong to: the cluster, since read against another one their offsets
would mean other records, and the settings that the job calls LASTING, on which state and tables hang.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from andiron.spark.pipeline.errors import PipelineError

RunState = dict[str, Any]


class RunFile:
    """The file and the lock of a pipeline's runs, in the folder where their checkpoints are."""

    def __init__(self, name: str, data: str) -> None:
        self.name = name
        self.folder = os.path.join(os.path.abspath(data), name)
        self._file = os.path.join(self.folder, "run.json")
        self._lock = os.path.join(self.folder, "run.lock")

    def read(self) -> RunState:
        """The state that the last run wrote; empty if there was none."""
        try:
            with open(self._file, encoding="utf-8") as file:
                state = json.load(file)
        except (FileNotFoundError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def write(self, state: RunState) -> None:
        """Replace the state of the run; readers see the whole of it or the one before."""
        scratch = f"{self._file}.new"
        with open(scratch, "w", encoding="utf-8") as file:
            json.dump(state, file, indent=2)
        os.replace(scratch, self._file)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock: be the one process that runs the pipeline in this folder."""
        os.makedirs(self.folder, exist_ok=True)
        with open(self._lock, "a+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                told = f"{self.name} runs already, in process {self.holder()}"
                raise PipelineError(f"{told}; `andiron pipeline stop {self.name}` ends it") from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    def holder(self) -> int | None:
        """The id of the process that runs the pipeline; None if none does."""
        try:
            with open(self._lock, encoding="ascii") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(file.read() or 0) or None
        except FileNotFoundError:
            pass
        return None

    def check_same(self, cluster_id: str, lasting: Mapping[str, str]) -> None:
        """Refuse a cluster that the checkpoints know nothing of, and settings that they were not made with."""
        before = self.read()
        anew = f"begin anew in another folder by --data, or delete {self.folder} with its tables"
        if before.get("cluster", cluster_id) != cluster_id:
            raise PipelineError(
                f"{self.folder} belongs to the cluster {before['cluster']}, and this one is {cluster_id}: name the "
                f"cluster by --bootstrap, {anew}"
            )
        for name, value in before.get("lasting", {}).items():
            if lasting.get(name) != value:
                raise PipelineError(
                    f"{name} is {lasting.get(name)!r}, and {self.folder} was made with {value!r}: set it so, {anew}"
                )
