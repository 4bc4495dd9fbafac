"""Andiron as a cluster, started as a user starts it: `andiron up --brokers N` in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from peers.node import Node
from peers.ports import A_CLUSTER, free_port


class NodeCluster(Node):
    """Several nodes behind one parent; `settings` become `--set name=value` for all of them."""

    name = "andiron"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        count: int = 3,
        settings: dict[str, str] | None = None,
        options: tuple[str, ...] = (),
    ) -> None:
        super().__init__(folder, free_port(A_CLUSTER), settings)
        self.count = count
        self.options = options
        self._printed_before = 0

    def command(self) -> list[str]:
        chosen = [part for name, value in self.settings.items() for part in ("--set", f"{name}={value}")]
        up = [sys.executable, "-m", "andiron", "up", "--brokers", str(self.count)]
        return [*up, "--data", str(self.data), "--port", str(self.port), *chosen, *self.options]

    @property
    def bootstrap(self) -> str:
        return ",".join(f"localhost:{self.port + at}" for at in range(self.count))

    def launch(self) -> None:
        self._printed_before = len(self.printed())
        super().launch()

    def wait_until_ready(self) -> None:
        """Until each of them knows itself as a broker, and their parent has seen it."""
        for at in range(self.count):
            self.wait_for(self.port + at)
        until = time.monotonic() + self.start_timeout_s
        while " nodes serve " not in self.printed()[self._printed_before :]:
            assert self.running and time.monotonic() < until, self.printed()[-4000:]
            time.sleep(0.01)

    def node_pids(self) -> dict[int, int]:
        """The processes of the nodes that are alive, by id."""
        found: dict[int, int] = {}
        for each in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
            with contextlib.suppress(OSError, ValueError):  # gone, or going
                words = Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
                config = words[words.index(b"--config") + 1].decode()
                found[int(Path(config).parent.name.removeprefix("node-"))] = int(each)
        return dict(sorted(found.items()))

    def kill_node(self, node_id: int) -> None:
        """As a crash of one of them would."""
        os.kill(self.node_pids()[node_id], signal.SIGKILL)
