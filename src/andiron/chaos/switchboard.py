"""The parent's end of the proxy: which wires there are, and which of them are cut.

    board = Switchboard()
    ports = board.open([(1, 19092), (2, 19093)])     other nodes are told these instead
    board.cut_off(2); …; board.heal()

Read next: proxy.py, the process at the other end.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Self

from andiron.chaos.proxy import CLIENTS

STOP_TIMEOUT_S = 5.0


class Switchboard:
    """A proxy process, and what it was told."""

    def __init__(self) -> None:
        self._nodes: dict[int, None] = {}
        self._cut: dict[tuple[int, int], None] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "andiron.chaos.proxy"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the parent, which ends it when nobody needs it any more
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cut(self) -> list[tuple[int, int]]:
        """The pairs that cannot speak, the caller first."""
        return list(self._cut)

    def open(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """A port for each (node, port of it)."""
        self._nodes |= dict.fromkeys(node for node, _ in places)
        ports: list[int] = self._tell({"open": places})["ports"]
        return ports

    def cut_off(self, node: int, *, clients: bool = False) -> None:
        """Take a node away from all others; from clients that come through here too, if asked."""
        others = [each for each in self._nodes if each != node]
        pairs = [(node, each) for each in others] + [(each, node) for each in others]
        self.cut_pairs([*pairs, (CLIENTS, node)] if clients else pairs)

    def cut_pairs(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Cut these too: the first of a pair cannot call the second."""
        self._cut |= dict.fromkeys(pairs)
        self._tell({"cut": self.cut})

    def heal(self, node: int | None = None) -> None:
        """All can speak to all, or to this one again."""
        self._cut = {} if node is None else {pair: None for pair in self._cut if node not in pair}
        self._tell({"cut": self.cut})

    def hang_up(self, node: int) -> None:
        """End all connections of a node; what it had said and nobody heard is never heard."""
        self._tell({"hang_up": node})

    def close(self) -> None:
        """End it; every wire is gone with it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tell(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer
