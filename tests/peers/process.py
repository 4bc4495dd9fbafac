"""A server in a process of its own: started, stopped, killed and started again on the same data.

    Server("…").start() → .bootstrap, .port, .pid, .data → .stop() | .kill() → .start()

The two servers (kafka.py, node.py) say only with which command they start. What a process prints goes to
`<folder>/<name>.log`, and its end is part of every error raised here. Leaving the `with` block kills what
still runs, and so does the end of the process that started it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Self

from peers import probe
from peers.ports import free_port


class DidNotStart(Exception):
    """The process ended, or did not answer in time; the message ends with what it printed."""


class Server:
    """One broker process with its data folder and its port."""

    name = "server"
    start_timeout_s = 60.0
    stop_timeout_s = 60.0

    def __init__(self, folder: str | os.PathLike[str], port: int | None = None) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data = self.folder / "data"
        self.port = port or free_port()
        self.log = self.folder / f"{self.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """How the process is started."""
        raise NotImplementedError

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Start the process and do not wait for it."""
        assert not self.running, f"{self.name} runs already"
        with open(self.log, "ab") as out:
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a group of its own, so that kill reaches its children
            )
        atexit.register(self.kill)

    def start(self) -> Self:
        """Start the process and wait until it knows itself as a broker."""
        self.launch()
        self.wait_until_ready()
        return self

    def wait_until_ready(self) -> None:
        """Wait until it knows itself as a broker."""
        self.wait_for(self.port)

    def wait_for(self, port: int) -> None:
        """Wait until a broker answers on a port of it."""
        until = time.monotonic() + self.start_timeout_s
        while not probe.is_ready(port):
            if not self.running:
                raise DidNotStart(f"{self.name} ended with {self.exit_code()}\n{self.printed()[-4000:]}")
            if time.monotonic() > until:
                self.kill()
                raise DidNotStart(f"{self.name} did not answer in time\n{self.printed()[-4000:]}")
            time.sleep(0.01)

    def stop(self) -> int:
        """Ask it to end, wait until it has; return its exit code. Nothing happens if it has ended."""
        if self.running:
            self.send_signal(signal.SIGTERM)
        return self.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, and do not wait for what it does."""
        assert self._process is not None, "not started"
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        if self.running:
            assert self._process is not None
            try:
                self._process.wait(self.stop_timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        return self.exit_code()

    def kill(self) -> None:
        """End it as a crash would: SIGKILL to the process and its children."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            atexit.unregister(self.kill)

    def restart(self) -> Self:
        """Stop it and start it again on the same data and port."""
        self.stop()
        return self.start()

    def exit_code(self) -> int:
        code = self._process.poll() if self._process else None
        return -1 if code is None else code

    def printed(self) -> str:
        """All that its processes printed so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def __enter__(self) -> Self:
        return self if self.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()
