"""One node's process: started, watched, stopped; its log, and why it ended.

The child is in a session of its own, so that Ctrl-C reaches the parent alone, which stops one node after the
other. Its stdin is a pipe that the parent holds and never writes to (lifeline.py).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

OWN_LINE = "andiron: "
TAIL_LINES = 8
TAIL_BYTES = 16_384


def command(properties: str, *options: str) -> list[str]:
    """The command line that starts a node."""
    return [sys.executable, "-m", "andiron", "up", "--config", properties, "--until-stdin-closes", *options]


class Child:
    """The process of one node: before its start, while it runs, and after its end."""

    def __init__(self, node_id: int, arguments: Sequence[str], log: str) -> None:
        self.id = node_id
        self.log = log
        self._arguments = list(arguments)
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0  # where this start's lines begin

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """None while it runs, or before its first start."""
        return None if self._process is None else self._process.poll()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, without waiting until the node is up."""
        assert not self.running, "one process to a node"
        with open(self.log, "ab", opener=_private) as out:
            self._log_start = out.tell()
            self._process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def terminate(self) -> None:
        """Send SIGTERM: a controlled shutdown."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL, as a crash would end it."""
        self._signal(signal.SIGKILL)

    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended, after so long at most."""
        if self._process is not None:
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                return False
            if self._process.stdin is not None:
                self._process.stdin.close()
        return True

    def tail(self, lines: int = TAIL_LINES) -> list[str]:
        """The last lines that this start has printed."""
        try:
            with open(self.log, "rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self._log_start, end - TAIL_BYTES))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return []
        return [line for line in text.splitlines() if line.strip()][-lines:]

    def reason(self) -> str:
        """Why it ended, in one line: what it said itself, else its last line; who was killed could not say."""
        if self.was_killed:
            return f"it ended with {self.ended_with}"
        said = self.tail(100)
        own = [line.removeprefix(OWN_LINE) for line in said if line.startswith(OWN_LINE)]
        return (own or said or [f"it printed nothing and ended with {self.ended_with}"])[-1]

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended it, and not the node itself."""
        return (self.exit_code or 0) < 0

    @property
    def ended_with(self) -> str:
        """Its exit code, or the signal that ended it."""
        code = self.exit_code
        if code is not None and code < 0:
            return signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"
        return f"exit code {code}"

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)


def _private(path: str, flags: int) -> int:
    """Open a node's log file so that its owner alone can read it: it names topics and clients."""
    return os.open(path, flags, 0o640)
