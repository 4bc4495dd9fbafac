"""Andiron, a single node, started as a user starts it: `andiron up` in a process of its own."""

from __future__ import annotations

import os
import sys

from peers.process import Server


class Node(Server):
    """One Andiron node; `settings` become `--set name=value`."""

    name = "andiron"
    start_timeout_s = 60.0

    def __init__(
        self,
        folder: str | os.PathLike[str],
        port: int | None = None,
        settings: dict[str, str] | None = None,
    ) -> None:
        super().__init__(folder, port)
        self.settings = settings or {}

    @property
    def controller_port(self) -> int:
        return self.port + 1

    def command(self) -> list[str]:
        chosen = [part for name, value in self.settings.items() for part in ("--set", f"{name}={value}")]
        up = [sys.executable, "-m", "andiron", "up", "--data", str(self.data), "--port", str(self.port)]
        return [*up, *chosen]
