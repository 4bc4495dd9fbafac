"""The simulator from the command line."""

from __future__ import annotations

import subprocess
import sys


def test_whoever_has_read_enough_may_go() -> None:
    command = [sys.executable, "-u", "-m", "andiron.sim", "--seed", "7", "--nodes", "1", "--trace"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as playing:
        assert playing.stdout is not None and playing.stderr is not None
        playing.stdout.close()

        assert playing.stderr.read() == b""
        assert playing.wait() == 0
