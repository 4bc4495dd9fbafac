"""A Spark cluster on this machine: a master and workers, started from the installed pyspark.

    master :port ◀── worker, …          each with a core, in processes of their own
                        └─▶ executors   started for an application, with a Python that knows nothing of us

`bare_python` is that Python: the interpreter with numpy, pandas and pyarrow and nothing else, as a cluster's
machines have it. What is missing there must come with the application.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Self

import pyspark

from andiron.spark.runtime.class_data import with_archive
from andiron.spark.runtime.java import find_java
from peers.ports import free_port
from peers.process import DidNotStart
from peers.quick_spark import JAVA_OPTIONS, scratch
from peers.waiting import eventually

HOST = "127.0.0.1"
WORKERS = 2
WORKER_MEMORY = "700m"
PACKAGES = ("numpy", "numpy.libs", "pandas", "pyarrow", "dateutil", "pytz", "tzdata", "six.py")


class SparkCluster:
    """Master and workers, which end with the `with` block."""

    def __init__(self, folder: Path, workers: int = WORKERS) -> None:
        self.folder = folder
        self.workers = workers
        self._java = with_archive(JAVA_OPTIONS, find_java().launchable_home())
        self.port, self._web_port = free_port(), free_port()
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def master(self) -> str:
        return f"spark://{HOST}:{self.port}"

    @property
    def conf(self) -> dict[str, str]:
        """What makes its executors small, and quick to come up."""
        return {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": self._java}

    def __enter__(self) -> Self:
        atexit.register(self.kill)
        try:
            self._start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End all of it, executors included."""
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes = []
        atexit.unregister(self.kill)

    def printed(self) -> str:
        """What master, workers and executors wrote."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("work-*/*/*/stderr")]
        return "\n".join(f"== {file}\n{file.read_text(errors='replace')[-4000:]}" for file in files)

    def _start(self) -> None:
        web = ["--webui-port", str(self._web_port)]
        self._launch("master.Master", "--host", HOST, "--port", str(self.port), *web)
        eventually(lambda: self._state() is not None)
        for number in range(self.workers):
            own = ["--work-dir", str(self.folder / f"work-{number}"), "--webui-port", "0"]
            size = ["--cores", "1", "--memory", WORKER_MEMORY]
            self._launch("worker.Worker", "--host", HOST, *own, *size, self.master)
        eventually(lambda: (self._state() or {}).get("aliveworkers") == self.workers)

    def _launch(self, kind: str, *arguments: str) -> None:
        home = os.path.dirname(pyspark.__file__)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PY")}
        environ |= {"SPARK_HOME": home, "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": HOST}
        environ |= {"SPARK_DAEMON_JAVA_OPTS": f"{self._java} -Djava.io.tmpdir={scratch()}"}
        name = f"{kind.partition('.')[0]}-{len(self._processes)}"
        with open(self.folder / f"{name}.log", "wb") as out:
            process = subprocess.Popen(
                [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{kind}", *arguments],
                cwd=self.folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)

    def _state(self) -> dict[str, object] | None:
        if any(process.poll() is not None for process in self._processes):
            raise DidNotStart(self.printed())
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self._web_port}/json/", timeout=5) as answer:
                state: dict[str, object] = json.load(answer)
                return state
        except (OSError, ValueError):  # not there yet, or not all of it
            return None


def bare_python(folder: Path) -> str:
    """A virtual environment of links: this interpreter, with what a cluster's machines have installed."""
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    site.mkdir(parents=True)
    for package in PACKAGES:
        found = Path(pyspark.__file__).parents[1] / package
        if found.exists():
            (site / package).symlink_to(found)
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")
    return str(folder / "bin/python")
