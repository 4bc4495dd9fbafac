"""Forks that pass for Pythons that were started: what they are given, and how they end.

The server is a real one, of a process of its own; what it imports ahead is left out, but for one test.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from andiron.spark.runtime import forkserver, python_stand_in
from andiron.spark.runtime.forkserver import QUIETLY, Request, can_be_forked, path_of, preload
from peers.waiting import eventually

SERVE = """
import sys, socket
from andiron.spark.runtime import forkserver
forkserver.preload = lambda: None
forkserver.main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
"""
SHOWS = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "path": sys.path, "cwd": os.getcwd(), "name": __name__,
                  "env": dict(os.environ), "read": sys.stdin.read(), "preloaded": "andiron.spark" in sys.modules}))
print("told", file=sys.stderr)
sys.exit(7)
"""


class Served:
    """A server, and stand-ins that ask it."""

    def __init__(self, folder: Path, serve: str = SERVE) -> None:
        self.folder = folder
        self.address = str(folder / "socket")
        (folder / "shows.py").write_text(SHOWS)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen()
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", serve, str(folder), str(listener.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
                env={**os.environ, **QUIETLY, "PYTHONHASHSEED": "0"},
            )

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        environ = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(self.folder), **environ}
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, "-IS", python_stand_in.__file__, self.address, *arguments]
        return subprocess.Popen(command, env={**os.environ, **environ}, cwd=self.folder, text=True, **pipes)

    def forks(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(each) for each in children.split()]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.process.kill()
    made.process.communicate()


def test_a_fork_is_as_if_it_had_been_started(served: Served) -> None:
    process = served.start("-m", "shows", "a", "b c", SOMETHING="x")
    printed, complained = process.communicate("to read")
    told = json.loads(printed)

    assert process.returncode == 7
    assert complained == "told\n"
    assert told["preloaded"], "it is a fork"
    assert (told["argv"], told["name"], told["cwd"]) == (["a", "b c"], "__main__", str(served.folder))
    assert told["read"] == "to read"
    assert told["env"]["SOMETHING"] == "x"
    assert "OPENBLAS_NUM_THREADS" not in set(told["env"]) - set(os.environ), "the server's own stays with it"
    assert told["path"][:2] == [str(served.folder)] * 2


def test_what_only_a_start_can_give_is_started(served: Served) -> None:
    process = served.start("-m", "shows", PYTHONHASHSEED="5")
    told = json.loads(process.communicate("")[0])

    assert process.returncode == 7
    assert not told["preloaded"]


def test_all_but_modules_are_started(served: Served) -> None:
    assert served.start("-c", "print(1)").communicate() == ("1\n", "")


def test_where_nobody_serves_a_python_is_started(served: Served) -> None:
    served.process.kill()
    served.process.wait()
    process = served.start("-m", "shows")
    told = json.loads(process.communicate("")[0])

    assert process.returncode == 7
    assert not told["preloaded"]


def test_who_ends_the_stand_in_ends_the_fork(served: Served) -> None:
    process = served.start("-m", "http.server", "0", PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Serving")
    (fork,) = served.forks()
    process.terminate()

    assert process.wait() == -signal.SIGTERM
    eventually(lambda: not os.path.exists(f"/proc/{fork}"))


def test_a_fork_and_its_stand_in_may_end_in_one_moment(served: Served) -> None:
    process = served.start("-m", "http.server", "0", PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    process.stdout.readline()
    (fork,) = served.forks()
    served.process.send_signal(signal.SIGSTOP)
    os.kill(fork, signal.SIGKILL)
    process.kill()
    process.wait()
    served.process.send_signal(signal.SIGCONT)

    assert json.loads(served.start("-m", "shows").communicate("")[0])["preloaded"], "it goes on serving"


def test_a_server_goes_with_its_driver_and_the_last_fork(served: Served) -> None:
    process = served.start("-m", "shows")
    eventually(lambda: served.forks() != [])
    assert served.process.stdin is not None
    served.process.stdin.close()
    time.sleep(0.05)

    assert served.process.poll() is None, "a fork is at work"
    assert json.loads(process.communicate("read")[0])["read"] == "read"
    assert served.process.wait(30) == 0
    assert not served.folder.exists()


def test_a_server_with_two_threads_forks_nobody(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        two = SERVE.replace(
            "preload = lambda: None", "threads = lambda: 2; forkserver.preload = lambda: None"
        )
        command = [sys.executable, "-c", two, str(tmp_path), str(listener.fileno())]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])
    asked = subprocess.run(
        [sys.executable, "-IS", python_stand_in.__file__, str(tmp_path / "socket"), "-m", "platform"],
        check=True,
    )
    server.communicate()

    assert asked.returncode == server.returncode == 0


def test_what_is_preloaded_starts_no_thread_and_does_not_bring_pandas() -> None:
    check = (
        "import sys; from andiron.spark.runtime.forkserver import preload, threads, PRELOADED; preload();"
        "assert all(each in sys.modules for each in PRELOADED), set(PRELOADED) - set(sys.modules);"
        "assert threads() == 1, threads(); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", check], check=True, env={**os.environ, **QUIETLY})


def test_workers_that_wait_for_a_task_end_in_silence_when_spark_hangs_up(tmp_path: Path) -> None:
    """The daemon and the worker are Spark's own, and what a JVM does is done here."""
    served = Served(tmp_path, SERVE.replace("lambda: None", "lambda: __import__('pyspark.worker')"))
    sockets = tempfile.mkdtemp()  # the path of a socket may not be long
    daemon = served.start(
        *("-m", "pyspark.daemon", "pyspark.worker"),
        PYTHON_UNIX_DOMAIN_ENABLED="true",
        PYTHON_WORKER_FACTORY_SOCK_DIR=sockets,
        PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE="1",
        SPARK_REUSE_WORKER="1",
    )
    try:
        assert daemon.stdout is not None
        count = int.from_bytes(os.read(daemon.stdout.fileno(), 4), "big")
        address = os.read(daemon.stdout.fileno(), count).decode()
        with socket.socket(socket.AF_UNIX) as jvm:
            jvm.connect(address)
            worker = int.from_bytes(jvm.recv(4), "big")
        eventually(lambda: not os.path.exists(f"/proc/{worker}"))
        assert daemon.communicate() == ("", "")
    finally:
        served.process.kill()
        served.process.communicate()
        shutil.rmtree(sockets)


def test_what_is_not_there_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forkserver.gc, "freeze", lambda: None)
    preload(["no_such_module", "json"])


@pytest.mark.parametrize(
    ("asked", "mine", "can"),
    [
        ({}, {}, True),
        ({}, {"PYTHONHASHSEED": "0"}, True),
        ({"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "0"}, True),
        ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "0"}, False),
        ({"PYTHONOPTIMIZE": "1"}, {}, False),
        ({"PYTHONUNBUFFERED": "1", "PYTHONPATH": "/x", "PYTHON_OF_SPARK": "1"}, {"PYTHONPATH": "/y"}, True),
    ],
)
def test_which_environments_a_fork_can_have(asked: dict[str, str], mine: dict[str, str], can: bool) -> None:
    assert can_be_forked(Request(["-m", "x"], asked, "/"), mine) is can


def test_a_forks_path_is_what_a_start_would_have_made_it() -> None:
    request = Request(["-m", "x"], {"PYTHONPATH": "/its:/zip"}, "/here")

    assert path_of(request, ["/mine", "/lib", "/site"], {"PYTHONPATH": "/mine"}) == [
        "/here", "/its", "/zip", "/lib", "/site",
    ]  # fmt: skip
