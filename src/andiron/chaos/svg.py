"""Plots as SVG, drawn by hand: what a report can hold without a script, a font or a file beside it.

    Frame(width, height, over=(0, 24), from=(1, 10_000), log=True)   ──▶ axes, then what is put on them

Colours are names of CSS variables, so that a page decides how they look by day and by night.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

LEFT, RIGHT, TOP, BOTTOM = 64, 12, 22, 26


class Frame:
    """A plot with time on its horizontal axis."""

    def __init__(
        self,
        width: int,
        height: int,
        across: tuple[float, float],
        upward: tuple[float, float] = (0.0, 1.0),
        *,
        log: bool = False,
    ) -> None:
        self.width, self.height, self._log = width, height, log
        self._across, self._upward = across, upward
        self._parts: list[str] = []

    def x(self, value: float) -> float:
        """Where a time lies."""
        low, high = self._across
        share = (value - low) / ((high - low) or 1.0)
        return LEFT + min(1.0, max(0.0, share)) * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Where a value lies."""
        low, high = self._upward
        if self._log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, self._upward[0]))
        share = (value - low) / ((high - low) or 1.0)
        return self.height - BOTTOM - min(1.0, max(0.0, share)) * (self.height - TOP - BOTTOM)

    # ── axes ─────────────────────────────────────────────────────────────────────────

    def seconds(self) -> None:
        """Name the seconds below the plot."""
        low, high = self._across
        step = next((each for each in (1, 2, 5, 10, 20, 60) if (high - low) / each <= 14), 120)
        at = math.ceil(low / step) * step
        while at <= high:
            self.line(self.x(at), TOP, self.x(at), self.height - BOTTOM, "grid")
            self.text(self.x(at), self.height - 8, f"{at} s", "middle")
            at += step

    def values(self, marks: Iterable[float], unit: str) -> None:
        """Name some values beside the plot."""
        for each in marks:
            self.line(LEFT, self.y(each), self.width - RIGHT, self.y(each), "grid")
            self.text(LEFT - 6, self.y(each) + 4, f"{each:,.0f} {unit}", "end")

    def mark(self, at: float, label: str, line: int = 0) -> None:
        """A moment at which something was done."""
        self.line(self.x(at), TOP - 4, self.x(at), self.height - BOTTOM, "mark")
        self.text(self.x(at) + 3, TOP - 8 + 11 * line, label, "start", "mark-text")

    # ── what is drawn ────────────────────────────────────────────────────────────────

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self._parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def box(self, x1: float, y1: float, x2: float, y2: float, kind: str, told: str = "") -> None:
        """A rectangle; what is told shows where the pointer rests."""
        width, height = max(0.5, x2 - x1), max(0.5, y2 - y1)
        title = f"<title>{escape(told)}</title>" if told else ""
        self._parts.append(
            f'<rect class="{kind}" x="{x1:.1f}" y="{y1:.1f}" width="{width:.1f}" height="{height:.1f}">{title}</rect>'
        )

    def path(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A line through values."""
        if points:
            drawn = " ".join(f"{self.x(at):.1f},{self.y(value):.1f}" for at, value in points)
            self._parts.append(f'<polyline class="{kind}" points="{drawn}"/>')

    def dots(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Values by themselves."""
        for at, value in points:
            self._parts.append(
                f'<circle class="{kind}" cx="{self.x(at):.1f}" cy="{self.y(value):.1f}" r="1.6"/>'
            )

    def text(self, x: float, y: float, told: str, anchor: str = "start", kind: str = "label") -> None:
        self._parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(told)}</text>'
        )

    def render(self, told: str) -> str:
        """The plot; what is told is for those who cannot see it."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(told)}">'
            + "".join(self._parts)
            + "</svg>"
        )
