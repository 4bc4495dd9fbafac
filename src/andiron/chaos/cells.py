"""The cells of the experiment: how a record is acknowledged, by how many, and whether it is on the disk then.

    acks 0, 1, all   ×   min.insync.replicas 1, 2   ×   fsync off, on (flush.messages=1)

What each must show is known beforehand, and so the harness itself is tested: acks=1 has to lose what its followers
had not fetched, or nothing was proved by the cells that lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from andiron.cli.failure import Failure

ACKS, IN_SYNC, FSYNC = ("0", "1", "all"), ("1", "2"), ("off", "on")


class ExpectedOutcome(Enum):
    """What becomes of acknowledged records when the leader dies and its followers were behind."""

    SAFE = "must lose nothing"
    LOSSY = "must lose something"


class Cell(NamedTuple):
    """One way to write."""

    acks: str
    in_sync: int
    fsync: bool

    @property
    def name(self) -> str:
        return f"acks={self.acks} min.insync={self.in_sync} fsync={'on' if self.fsync else 'off'}"

    @property
    def topic(self) -> str:
        return f"chaos-acks-{self.acks}-min-{self.in_sync}-fsync-{'on' if self.fsync else 'off'}"

    @property
    def expected(self) -> ExpectedOutcome:
        return ExpectedOutcome.SAFE if self.acks == "all" else ExpectedOutcome.LOSSY

    def topic_settings(self) -> dict[str, str]:
        settings = {"min.insync.replicas": str(self.in_sync), "retention.ms": "-1"}
        return {**settings, "flush.messages": "1"} if self.fsync else settings


EVERY = [Cell(acks, int(least), fsync == "on") for acks in ACKS for least in IN_SYNC for fsync in FSYNC]
DEFAULT = [each for each in EVERY if each.acks != "0"]
QUICK = Cell("all", 2, False)


def choose(texts: Iterable[str]) -> list[Cell]:
    """The cells that fit one of `acks=1,min=2,fsync=off`, where what is left out may be anything."""
    wanted = [_parse(text) for text in texts]
    if not wanted:
        return DEFAULT
    chosen = [cell for cell in EVERY if any(_fits(cell, each) for each in wanted)]
    return [cell for cell in chosen if cell.acks != "0" or any("acks" in each for each in wanted)]


def _parse(text: str) -> dict[str, str]:
    allowed = {"acks": ACKS, "min": IN_SYNC, "fsync": FSYNC}
    found: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        name = "min" if name in ("min.insync", "min.insync.replicas") else name
        if value not in allowed.get(name, ()):
            known = "; ".join(f"{each}={' or '.join(values)}" for each, values in allowed.items())
            raise Failure(f"{part.strip()!r} is no part of a cell; write {known}, with commas between")
        found[name] = value
    return found


def _fits(cell: Cell, wanted: dict[str, str]) -> bool:
    own = {"acks": cell.acks, "min": str(cell.in_sync), "fsync": "on" if cell.fsync else "off"}
    return all(own[name] == value for name, value in wanted.items())
