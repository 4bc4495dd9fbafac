"""What a run prints: lines that stay, and below them, on a terminal, a few that are drawn anew in place.

    10:15  EUR  1,204.50 from 31 orders        stays
    orders-analytics   running  batch 41 …     drawn anew
    orders-search      running  batch 40 …

Where nobody looks (a pipe, a log file) the latter are printed now and then instead.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TextIO

UP_AND_CLEAR = "\x1b[{}A\x1b[J"
PLAIN_EVERY_S = 10.0


class Screen:
    """A terminal, or a pipe or file in its place."""

    def __init__(self, out: TextIO, *, quiet: bool = False) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._quiet = quiet
        self._drawn: list[str] = []
        self._plain_at_s: float | None = None

    def say(self, text: str) -> None:
        """A line or more that stays."""
        below = self._drawn
        self._erase()
        print(text, file=self._out)
        self._draw(below)

    def show(self, lines: Sequence[str], now_s: float) -> None:
        """Draw the lines of status anew."""
        if self._quiet:
            return
        if self._terminal:
            self._erase()
            self._draw(lines)
        elif self._plain_at_s is None or now_s - self._plain_at_s >= PLAIN_EVERY_S:
            self._plain_at_s = now_s
            for line in lines:
                print(line, file=self._out)
            self._out.flush()

    def end(self) -> None:
        """Leave what is drawn where it is."""
        self._drawn = []

    def _erase(self) -> None:
        if self._drawn:
            self._out.write(UP_AND_CLEAR.format(len(self._drawn)))
            self._drawn = []

    def _draw(self, lines: Sequence[str]) -> None:
        # A line that wraps would take two rows, and be erased by half.
        width = shutil.get_terminal_size().columns
        self._drawn = [line[:width] for line in lines]
        for line in self._drawn:
            print(line, file=self._out)
        self._out.flush()
