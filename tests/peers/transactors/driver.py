"""The test's end of a transactor: start it, tell it a step, hear what it says, kill it."""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

from peers import jars, jvm
from peers.clients.base import Refused
from peers.waiting import eventually

PROGRAMS = {
    "confluent": "peers.transactors.confluent",
    "kafka_python": "peers.transactors.kafka_python",
    "aiokafka": "peers.transactors.aio",
}
LIBRARIES = [*PROGRAMS, "java"]
TESTS = Path(__file__).parents[2]
TIMEOUT_MS = 60_000
PATIENCE_S = 120.0


class Hung(Exception):
    """The client waits for something that does not come; there are some that do, and are to be restarted."""


class Transactor:
    """A transactional producer of one library, in a process of its own."""

    def __init__(self, library: str, bootstrap: str) -> None:
        self.library = library
        self.bootstrap = bootstrap
        command = _command(library)
        descriptor, self._errors = tempfile.mkstemp(prefix="transactor-", suffix=".log")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=descriptor,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )
        os.close(descriptor)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()
        atexit.register(self.kill)

    def open(self, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> Self:
        """Become the one producer of that id; whatever another left open is aborted."""
        self.call("open", id=transactional_id, timeout_ms=timeout_ms)
        return self

    def send(self, topic: str, *values: str, partition: int = 0, wait: bool = True) -> list[int]:
        """Offsets, where they are awaited."""
        sent = [base64.b64encode(value.encode()).decode() for value in values]
        found: list[int] = self.call("send", topic=topic, partition=partition, values=sent, wait=wait)
        return found

    def write(self, topic: str, *values: str, partition: int = 0, commit: bool = True) -> None:
        """A whole transaction."""
        self.call("begin")
        self.send(topic, *values, partition=partition)
        self.call("commit" if commit else "abort")

    def call(self, step: str, **fields: Any) -> Any:
        """A step and its answer."""
        self.say(step, **fields)
        return self.hear()

    def say(self, step: str, **fields: Any) -> None:
        """A step alone; its answer is for `hear`, if anybody lives to give it."""
        assert self._process.stdin
        line = {"call": "transact", "step": step, "bootstrap": self.bootstrap, **fields}
        self._process.stdin.write(json.dumps(line).encode() + b"\n")
        self._process.stdin.flush()

    def hear(self, patience_s: float = PATIENCE_S) -> Any:
        """The answer to the step under way, or raise what it says went wrong, or `Hung` where it says nothing."""
        while "reached" in (line := self._line(patience_s)):
            pass
        return _answer(line)

    def hear_until(self, point: str, patience_s: float = PATIENCE_S) -> bool:
        """Wait until the step under way is there; False where it was answered before."""
        while "reached" in (line := self._line(patience_s)):
            if line["reached"] == point:
                return True
        _answer(line)
        return False

    def freeze(self) -> None:
        """Stop all of its threads; on a busy machine that takes a moment, in which it could still hear something."""
        self._process.send_signal(signal.SIGSTOP)
        eventually(lambda: all(state == "T" for state in self._states()))

    def _states(self) -> list[str]:
        tasks = Path(f"/proc/{self._process.pid}/task").iterdir()
        return [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks]

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """As a crash would: SIGKILL, whatever is under way."""
        self._process.kill()
        self._process.wait()
        self._ear.join()
        assert self._process.stdin and self._process.stdout
        self._process.stdout.close()
        with contextlib.suppress(OSError):  # what it was told and never heard
            self._process.stdin.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._errors)
        atexit.unregister(self.kill)

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _line(self, patience_s: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=patience_s)
        except queue.Empty:
            raise Hung(f"{self.library} has said nothing for {patience_s} s") from None
        if not line:
            said = Path(self._errors).read_text(errors="replace")[-2000:]
            raise AssertionError(f"{self.library} ended: {said}")
        found: dict[str, Any] = json.loads(line)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def installed() -> list[str]:
    """The libraries that can be had here, for a test in which all of them take part together."""
    found = []
    for library in LIBRARIES:
        with contextlib.suppress(jars.Missing):
            _command(library)
            found.append(library)
    return found


def _answer(line: dict[str, Any]) -> Any:
    if "error" in line:
        raise Refused(line["error"], f"{line['name']}: {line['message']}")
    return line["result"]


def _command(library: str) -> list[str]:
    if library == "java":
        return jvm.command()
    return [sys.executable, "-m", PROGRAMS[library]]
