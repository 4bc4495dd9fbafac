"""Spark's Python, preloaded: one server of forks for each driver, and the executable that Spark starts instead.

    <temporary folder>, the owner's alone
      python    what PYSPARK_PYTHON names: a stand-in that asks at ...
      socket    ... where forkserver.py listens

The server imports while the JVM starts, which takes longer. It ends with the driver, however that ends, and takes
the folder with it.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from andiron.spark.runtime import forkserver, python_stand_in

CAN_FORK = sys.platform == "linux"
BACKLOG = 128

_servers: dict[str, subprocess.Popen[bytes]] = {}  # at most one, by its executable


def preloaded_python(environ: Mapping[str, str]) -> str:
    """The executable for this process' Spark to start; its server is started if there is none."""
    if not CAN_FORK:
        return sys.executable
    if not _servers:
        _start(environ)
    (executable,) = _servers
    return executable


def _start(environ: Mapping[str, str]) -> None:
    folder = tempfile.mkdtemp(prefix="andiron-python-")
    address, executable = os.path.join(folder, "socket"), os.path.join(folder, "python")
    words = (sys.executable, "-IS", python_stand_in.__file__, address)
    with open(executable, "w", encoding="utf-8") as script:
        script.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    os.chmod(executable, 0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(BACKLOG)
        _servers[executable] = subprocess.Popen(
            [sys.executable, "-P", "-m", forkserver.__name__, folder, str(listener.fileno())],
            stdin=subprocess.PIPE,  # closes when this process ends, whichever way
            stdout=subprocess.DEVNULL,
            env={"PYTHONHASHSEED": "0", **environ, **forkserver.QUIETLY},
            pass_fds=[listener.fileno()],
            start_new_session=True,  # signals to our group are for us: its forks are Spark's
        )
