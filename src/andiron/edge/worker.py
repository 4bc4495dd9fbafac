"""Slow jobs in a child process: Work → Finished.

Compaction opens every batch, and a thread that runs Python holds the interpreter's lock
against the loop. So jobs run in one child, started by the first of them and kept: it has
its own interpreter, its own Disk and a low priority.

    loop ──run──▶ thread ──pickled job──▶ stdin │ child: job.run(disk)
    loop ◀─wake── thread ◀─pickled answer─ stdout │

The child inherits nothing but its pipes, and lives no longer than its parent: a thread
of it waits for the end of stdin, which comes when the parent closes it or dies, however
it dies. A child that dies first fails its job; the next job gets a new one.

Read next: paced_disk.py for how a job is kept from taking all of the disk's time.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import IO

from andiron.edge.paced_disk import PacedDisk
from andiron.model.effects import Finished, Job, Work

_NICE = 10
_SIZE = struct.Struct(">Q")


class Worker:
    """The parent's side: one thread that keeps one child busy, one job after the other."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """`wake` is called from the thread when there is something to collect."""
        self._wake = wake
        self._waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._done: deque[Finished] = deque()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._closing = False

    def submit(self, token: int, job: Job) -> None:
        """Run `job` after those submitted before it; `completed` will tell by `token`."""
        self._waiting.put(Work(token, job))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="worker", daemon=True)
            self._thread.start()

    def completed(self) -> list[Finished]:
        """What is done since the last call, in the order submitted."""
        done = []
        while self._done:
            done.append(self._done.popleft())
        return done

    def close(self) -> None:
        """Stop at once. A job that runs is cut short: jobs are made to bear it, as they bear a crash."""
        self._closing = True
        if self._thread is not None:
            self._waiting.put(None)
            child = self._child
            if child is not None:
                child.kill()
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            self._done.append(self._run(work))
            self._wake()
        self._bury()

    def _run(self, work: Work) -> Finished:
        try:
            pickled = pickle.dumps(work.job)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            return Finished(work.token, None, f"the job cannot be sent: {problem}")
        try:
            child = None if self._closing else self._living_child()
            if child is None or self._closing:  # asked twice: `close` can only kill a child that it sees
                return Finished(work.token, None, "the worker has stopped")
            assert child.stdin is not None and child.stdout is not None
            _send(child.stdin, pickled)
            result, error = pickle.loads(_receive(child.stdout))
        except (OSError, EOFError) as problem:
            return Finished(work.token, None, f"the worker process is gone ({self._bury()}): {problem}")
        return Finished(work.token, result, error)

    def _living_child(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self._bury()
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        return self._child

    def _bury(self) -> str:
        """End the child if there is one, and say how it ended."""
        child, self._child = self._child, None
        if child is None:
            return "not started"
        child.kill()
        assert child.stdin is not None and child.stdout is not None
        child.stdout.close()
        with contextlib.suppress(BrokenPipeError):  # half a job may still be in the buffer
            child.stdin.close()
        status = child.wait()
        return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


def serve() -> None:
    """The child's side: run jobs until the parent is gone."""
    os.nice(_NICE)
    # Ctrl-C is for the parent, which ends us by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a job prints must not be taken for an answer
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    while True:
        _send(answers, _answer(jobs.get()))


def _listen(jobs: queue.SimpleQueue[bytes]) -> None:
    try:
        while True:
            jobs.put(_receive(sys.stdin.buffer))
    except EOFError:
        os._exit(0)  # in the middle of a job too


def _answer(pickled: bytes) -> bytes:
    """What the parent waits for: the job's result, or the reason why there is none."""
    disk = None
    try:
        job = pickle.loads(pickled)
        disk = PacedDisk(getattr(job, "bytes_per_second_max", math.inf))
        return pickle.dumps((job.run(disk), None))
    except Exception as problem:
        return pickle.dumps((None, f"{type(problem).__name__}: {problem}"))
    finally:
        if disk is not None:
            disk.close_all()


def _send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_SIZE.pack(len(message)) + message)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    """One whole message; EOFError if the other side is gone."""
    head = pipe.read(_SIZE.size)
    message = pipe.read(_SIZE.unpack(head)[0]) if len(head) == _SIZE.size else b""
    if not message:
        raise EOFError("no answer")
    return message


if __name__ == "__main__":
    serve()
