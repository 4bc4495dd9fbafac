"""What a person sees of something that takes its time: lines for what happens, and a last line for how it is.

    andiron: node 2 ended with SIGKILL; its last lines:
        …
    ● 1 ○ 2 ● 3 · controller 1 · 12 partitions · 8 under-replicated · localhost:9092,localhost:9093 ◀── rewritten

The last line is rewritten where stderr is a terminal. Elsewhere there is none, and a change of it is a line
like any other.
"""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

ERASE = "\r\x1b[2K"
PREFIX = "andiron: "


class Screen:
    """Where a command speaks that goes on; stdout is left to what scripts may want to read."""

    def __init__(self, out: TextIO | None = None, *, quiet: bool = False) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty() and not quiet
        self._quiet = quiet
        self._shown = ""

    def say(self, text: str) -> None:
        """Something happened."""
        self._write(f"{PREFIX}{text}\n")

    def note(self, text: str) -> None:
        """Something happened that nobody has to know who asked for quiet."""
        if not self._quiet:
            self.say(text)

    def details(self, lines: list[str]) -> None:
        """Lines that belong to what was said before."""
        self._write("".join(f"    {line}\n" for line in lines))

    def status(self, text: str, also: str = "") -> None:
        """How it is now; `also` is for a line that stays in sight, and not for each of many."""
        if self._quiet:
            return
        shown = text + (also if self._live else "")
        if shown == self._shown:
            return
        self._shown = shown
        if self._live:
            self._out.write(ERASE + shown[: shutil.get_terminal_size().columns - 1])
            self._out.flush()
        else:
            self.say(shown)

    def clear(self) -> None:
        """The last line is of no use any more."""
        if self._live and self._shown:
            self._out.write(ERASE)
            self._out.flush()
        self._shown = ""

    def _write(self, text: str) -> None:
        self._out.write((ERASE if self._live and self._shown else "") + text)
        if self._live and self._shown:
            self._out.write(self._shown[: shutil.get_terminal_size().columns - 1])
        self._out.flush()
