"""One server of forks for a process, which ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from andiron.spark.runtime import python_executable
from andiron.spark.runtime.python_executable import preloaded_python
from peers.waiting import eventually

DRIVER = """
import os, subprocess
from andiron.spark.runtime.python_executable import preloaded_python
executable = preloaded_python(os.environ)
assert preloaded_python(os.environ) == executable
print(executable, subprocess.check_output([executable, "-m", "platform"], text=True) != "", flush=True)
os.kill(os.getpid(), 9)
"""


def test_spark_is_given_an_executable_whose_server_ends_with_the_driver_however_that_ends() -> None:
    done = subprocess.run([sys.executable, "-c", DRIVER], capture_output=True, text=True, check=False)
    executable, runs = done.stdout.split()

    assert done.returncode == -9
    assert runs == "True"
    eventually(lambda: not Path(executable).parent.exists())


def test_where_forks_are_not_to_be_had_it_is_the_python_that_runs_this(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(python_executable, "CAN_FORK", False)

    assert preloaded_python(os.environ) == sys.executable
