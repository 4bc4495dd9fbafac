"""What commands print: columns for people, JSON for programs, and remarks that go to stderr."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from andiron.model.errors import ProtocolError

_KIB = 1024
_GAP = "  "
NOTHING = "-"


def columns(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Aligned columns under their names; one that holds only numbers is aligned to the right.

    None stands for what is not known, among numbers too.
    """
    body = [list(row) for row in rows]
    lines = [[NOTHING if cell is None else str(cell) for cell in row] for row in [list(head), *body]]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    right = [_are_numbers([row[at] for row in body]) for at in range(len(head))]
    return "\n".join(
        _GAP.join(
            cell.rjust(width) if flush_right else cell.ljust(width)
            for cell, width, flush_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def _are_numbers(cells: Sequence[Any]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, int) for cell in known)


def print_json(value: Any) -> None:
    """One JSON document."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def remark(text: str) -> None:
    """Something for the person at the keyboard, kept out of what a pipe carries on."""
    click.echo(text, err=True)


class Silence:
    """Says on stderr which brokers did not answer, each once, and what is missing for it."""

    def __init__(self, missing: str) -> None:
        self._missing = missing
        self.brokers: list[int] = []

    def __call__(self, broker: int, error: ProtocolError) -> None:
        if broker not in self.brokers:
            self.brokers.append(broker)
            remark(f"no answer from broker {broker} ({error.detail}): {self._missing}")


class WaitingNote:
    """Says on stderr what is being waited for, once it takes long, and now and then what it is by then."""

    def __init__(
        self, what: str, patience_s: float = 2.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what, self._patience_s, self._clock = what, patience_s, clock
        self._speak_at = clock() + patience_s
        self._said = ""

    def __call__(self, missing: str) -> None:
        if missing != self._said and self._clock() >= self._speak_at:
            self._said, self._speak_at = missing, self._clock() + self._patience_s
            remark(f"{self._what}; waiting: {missing}")


def human_bytes(count: int) -> str:
    """A size in the unit that suits it."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < _KIB:
            break
        size, unit = size / _KIB, larger
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 record`, `1,200 records`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
