"""A Python that has imported everything, and of which Spark's Python processes are forks.

    JVM ──starts──▶ stand-in ──arguments, environment, 0 1 2──▶ server ──fork──▶ the process that was asked for
                       └──────────────waits for its exit status────┘

Spark starts a Python for each thing that it wants to know of a data source (what it is, how a read is cut, how a
write is committed) and one for each task, and each of them imports pyspark, pyarrow and the connector: most of a
second, some twenty times, before a stream's first result. A fork has imported them already.

What is forked is as if it had been started: the arguments, the environment, the folder and the standard streams are
those of the stand-in, the path is what Python would have made of them, and it ends like any interpreter. Where
the environment asks for what can only be had at an interpreter's start (PYTHONHASHSEED, PYTHONOPTIMIZE, ...), a new
Python takes the fork's place.

The law that is easy to break: who forks has one thread. Locks of another thread would stay locked in the child for
ever. So libraries that would start some are told not to (`QUIETLY`); if there is a second thread nevertheless, the
server ends, and Spark's processes are started as they always were.

Read next: python_stand_in.py, python_executable.py, which starts this.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import runpy
import select
import shutil
import signal
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any

from andiron.spark.runtime.python_stand_in import LENGTH_BYTES, STREAMS
from andiron.spark.runtime.python_worker import quiet_at_the_end

DAEMON = "pyspark.daemon"  # forks Spark's workers; its argument is the module that they run
DRIVER = 0  # the server's standard input, which closes when the driver ends, however it does
TAKEN = b"+"  # a fork to its stand-in: from now on wait for my exit status

# One thread of numpy's algebra is what Spark gives a task anyway; Arrow's pools need no thread to tidy up.
QUIETLY = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}

PRELOADED = (
    "pyarrow.compute",
    DAEMON,
    "pyspark.worker",
    "pyspark.sql.worker.lookup_data_sources",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.plan_data_source_read",
    "pyspark.sql.worker.write_into_data_source",
    "pyspark.sql.worker.commit_data_source_write",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "andiron.spark.source.batch",
    "andiron.spark.source.stream",
    "andiron.spark.sink.spark_writers",
    "pyspark_andiron",
)

_AT_START = re.compile(r"PYTHON[A-Z0-9]+")  # variables that an interpreter reads when it starts ...
_LATER = {"PYTHONPATH", "PYTHONUNBUFFERED"}  # ... but for those that a fork can obey as well


@dataclass(frozen=True, slots=True)
class Request:
    """A stand-in's command line, environment, folder and standard streams."""

    arguments: list[str]
    environ: dict[str, str]
    folder: str


def preload(modules: Iterable[str] = PRELOADED) -> None:
    """Import what forks will want; what is not there, one of them may still complain about."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    gc.collect()
    gc.freeze()  # so that no fork's collections walk, and so copy, all of this


def threads() -> int:
    """How many threads this process has."""
    return len(os.listdir("/proc/self/task"))


# ── the server ───────────────────────────────────────────────────────────────────────


class Server:
    """Forks for whoever connects, and tells them how the forks ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._links: dict[int, socket.socket | None] = {}  # by the fork's pid: the stand-in that waits for it
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        self._poll = select.poll()
        for descriptor in (listener.fileno(), self._woken.fileno(), DRIVER):
            self._poll.register(descriptor, select.POLLIN)
        self._is_closing = False

    def serve(self) -> socket.socket | None:
        """Serve until the driver is gone and the last fork with it: None. In a fork: who asked for it."""
        while self._links or not self._is_closing:
            for descriptor, _ in self._poll.poll():
                if descriptor == DRIVER:
                    self._close()
                elif descriptor == self._woken.fileno():
                    self._woken.recv(4096)
                    self._bury()
                elif descriptor != self._listener.fileno():
                    self._let_go(descriptor)
                elif (link := self._fork()) is not None:
                    return link
        return None

    def _fork(self) -> socket.socket | None:
        link, _ = self._listener.accept()
        try:
            pid = os.fork()
        except OSError:
            link.close()  # the stand-in tries for itself
            return None
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return link
        self._links[pid] = link
        # What it says is for the fork; that it has gone is for us.
        self._poll.register(link, select.POLLRDHUP)
        return None

    def _bury(self) -> None:
        """Tell the stand-ins of forks that have ended their exit status."""
        while self._links:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            link = self._links.pop(pid)
            if link is not None:
                self._poll.unregister(link)
                code = os.waitstatus_to_exitcode(status)
                with contextlib.suppress(OSError), link:
                    link.sendall(code.to_bytes(LENGTH_BYTES, "big", signed=True))

    def _let_go(self, descriptor: int) -> None:
        """A stand-in has gone: end its fork, unless that has ended in the same moment."""
        for pid, link in self._links.items():
            if link is not None and link.fileno() == descriptor:
                self._links[pid] = None
                self._poll.unregister(link)
                link.close()
                os.kill(pid, signal.SIGTERM)
                return

    def _close(self) -> None:
        """Stop listening: the driver has ended."""
        self._is_closing = True
        self._poll.unregister(DRIVER)
        self._poll.unregister(self._listener)
        self._listener.close()


# ── a fork ───────────────────────────────────────────────────────────────────────────


def become(link: socket.socket) -> None:
    """Turn this fork into the process that was asked for, and run it."""
    request, streams = receive(link)
    for target, stream in zip(STREAMS, streams, strict=True):
        os.dup2(stream, target)
    os.closerange(len(STREAMS), os.sysconf("SC_OPEN_MAX"))
    os.chdir(request.folder)
    if not can_be_forked(request, os.environ):
        os.execve(sys.executable, [sys.executable, *request.arguments], request.environ)
    sys.path[:] = path_of(request, sys.path, os.environ)
    os.environ.clear()
    os.environ.update(request.environ)
    if "PYTHONUNBUFFERED" in request.environ:
        for printed in (sys.stdout, sys.stderr):
            assert isinstance(printed, TextIOWrapper), "nobody has put something else there yet"
            printed.reconfigure(write_through=True)
    _, module, *sys.argv[1:] = request.arguments
    if module == DAEMON:
        _quieten(*sys.argv[1:2])
    sys.modules.pop(module, None)  # it is to run, not to have been run
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _quieten(module: str) -> None:
    """Have workers of this module end in silence when Spark hangs up; one that is not preloaded is left as it is."""
    if module in sys.modules:
        worker: Any = sys.modules[module]
        worker.main = quiet_at_the_end(worker.main)


def receive(link: socket.socket) -> tuple[Request, list[int]]:
    """Receive a stand-in's request, with its standard streams."""
    head, descriptors, _, _ = socket.recv_fds(link, LENGTH_BYTES, len(STREAMS))
    with link, link.makefile("rb") as rest:
        text = rest.read(int.from_bytes(head, "big"))
        link.sendall(TAKEN)
    return Request(**json.loads(text)), descriptors


def can_be_forked(request: Request, mine: Mapping[str, str]) -> bool:
    """Whether an interpreter that was started with my environment can pass for the one that is asked for."""
    read_at_start = {name for name in (*request.environ, *mine) if _AT_START.fullmatch(name)} - _LATER
    # Spark passes PYTHONHASHSEED to those who compute; the others do not mind which it is.
    return all(request.environ.get(name, mine.get(name)) == mine.get(name) for name in read_at_start)


def path_of(request: Request, mine: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Where the process looks for modules: its folder and its PYTHONPATH, then where I look but for my own."""
    given = request.environ.get("PYTHONPATH", "").split(os.pathsep)
    own = environ.get("PYTHONPATH", "").split(os.pathsep)
    return [request.folder, *filter(None, given), *(each for each in mine if each not in own)]


def main(folder: str, listener: socket.socket) -> None:
    """Serve whoever connects, and remove the folder at the end."""
    preload()
    if threads() > 1:
        listener.close()
        sys.stdin.read()
    elif (link := Server(listener).serve()) is not None:
        become(link)
        return
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
