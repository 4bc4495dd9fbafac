"""Data folders that pass from hand to hand: made by one server, opened by the others in turn, and compared.

    made by          how the folder came to be: with which tool, which quorum, how many nodes
    after            how its maker ended: asked to, or killed
    opened by        who opens it then, one after the other, with the same server.properties

Each that opens it must tell of it what the one before told, to the last record, and leaves a trace of its own for the
next. A row of `ROWS` is such a journey; makers are a table (folder_makers.py), so that a row is all there is to add.

Read next: folder_contents.py, for what is compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from peers.folder_contents import (
    Look,
    commit_prepared,
    furnish,
    furnish_more,
    leave_a_trace,
    look,
    look_closer,
)
from peers.folder_makers import ANDIRON, KAFKA, MAKERS, Made, Nodes, Place, andiron
from peers.waiting import eventually

STOP, KILL = "a stop", "kill -9"
BOOTSTRAP = "\ncontroller.quorum.bootstrap.servers="  # in a file for a folder whose log names its voters


@dataclass(frozen=True)
class Row:
    """One journey of a folder. A `long` one is left to those who have the time."""

    made_by: str
    after: str = STOP
    opened_by: tuple[str, ...] = (ANDIRON, KAFKA)
    long: bool = True

    def __str__(self) -> str:
        return f"{self.made_by}, {MAKERS[self.made_by].by} after {self.after}, then {' then '.join(self.opened_by)}"


BACK = (KAFKA, ANDIRON)
ROWS = (
    Row("format --standalone, snapshots", long=False),
    Row("static voters", KILL, (ANDIRON,), long=False),
    Row("format --standalone"),
    Row("format --standalone", KILL, (ANDIRON, KAFKA, ANDIRON)),
    Row("format --standalone, no more", opened_by=BACK),
    Row("static voters, snapshots"),
    Row("--initial-controllers"),
    Row("three, --initial-controllers"),
    Row("three, --initial-controllers", KILL),
    Row("three, static voters", KILL),
    Row("andiron up", KILL, BACK, long=False),
    Row("andiron up", STOP, BACK),
    Row("andiron up of before, upgraded", STOP, BACK, long=False),
    Row("andiron up --brokers 3", STOP, BACK),
    Row("andiron up --brokers 3", KILL, BACK),
    Row("andiron up --brokers 3, upgraded", STOP, BACK),
)


class Leg(NamedTuple):
    """One opening of a folder: by whom, how long it took to serve, and what was told that the one before did not."""

    made_by: str
    after: str
    opened_by: str
    seconds: float
    differences: list[str]

    def __str__(self) -> str:
        verdict = "equal" if not self.differences else f"DIFFERENT: {'; '.join(self.differences)}"
        return f"{self.made_by:33} {self.after:14} {self.opened_by:10} {self.seconds:5.1f} s  {verdict}"


def printed(legs: Iterable[Leg]) -> str:
    """The matrix."""
    return "\n".join([f"{'made by':33} {'after':14} {'opened by':10} serves in", *map(str, legs)])


class _Seen(NamedTuple):
    """What the last one told who opened it, and what Kafka alone can tell, when it last did."""

    by_all: Look
    by_kafka: Look

    def differences(self, now: _Seen) -> list[str]:
        is_told_twice = bool(self.by_kafka and now.by_kafka)
        closer = _differences(self.by_kafka, now.by_kafka) if is_told_twice else []
        return [*_differences(self.by_all, now.by_all), *closer]


def journey(row: Row, folder: Path) -> list[Leg]:
    """Make a folder and let all open it in turn; the last one commits what the first has prepared."""
    maker, legs, after = MAKERS[row.made_by], list[Leg](), row.after
    made = maker.make(folder)

    def look_at(opener: str) -> _Seen:
        """Share and streams groups are where Kafka was first."""
        is_closer = opener == maker.by == KAFKA
        return _Seen(look(made.ports), look_closer(made.ports) if is_closer else {})

    with ExitStack() as undo:
        undo.callback(made.first.kill)
        made.first.start()
        prepared = furnish(made.ports, maker.replicas)
        if maker.by == KAFKA:
            furnish_more(made.ports)
        if maker.is_upgraded:
            andiron("cluster", "upgrade", "--yes", "-b", f"127.0.0.1:{made.ports[0]}")
        seen = look_at(maker.by)
        _end(made, row)
        for number, opener in enumerate(row.opened_by):
            server, began = made.opened(opener), time.monotonic()
            assert not maker.is_upgraded or all(
                BOOTSTRAP in each.properties.read_text() for each in made.places
            )
            undo.callback(server.kill)
            server.start()
            seconds = time.monotonic() - began
            legs.append(Leg(row.made_by, after, opener, seconds, seen.differences(look_at(opener))))
            leave_a_trace(made.ports, f"{opener}-{number}".lower(), maker.replicas)
            if number + 1 == len(row.opened_by):
                commit_prepared(made.ports, prepared)
            now = look_at(opener)
            seen = _Seen(now.by_all, now.by_kafka or seen.by_kafka)
            server.stop()
            legs[-1].differences.extend(_complaints(server, made, after))
            after = STOP
    return legs


def _end(made: Made, row: Row) -> None:
    if row.after == KILL:
        eventually(lambda: all("cut 0 15" in _log_starts(place) for place in made.places))
        made.first.kill()
    else:
        made.first.stop()
    if "snapshots" in row.made_by:
        cut = [
            each.name
            for place in made.places
            for each in place.data.glob("__cluster_metadata-0/*.checkpoint")
        ]
        assert any(not name.startswith("0" * 20) for name in cut), "there is no snapshot to look at"


def _log_starts(place: Place) -> str:
    return (place.data / "log-start-offset-checkpoint").read_text()


def _complaints(server: Nodes, made: Made, after: str) -> list[str]:
    """What no server should print: of trouble, or that it has to wait for one that has left in order."""
    unwanted = ["Traceback", "is skipped"]
    if after == STOP and len(made.places) == 1:
        unwanted.append("DUPLICATE_BROKER_REGISTRATION")
    return [line for line in server.printed().splitlines() if any(each in line for each in unwanted)]


def _differences(before: object, now: object, name: str = "") -> list[str]:
    """What is not the same, told where it is."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = [*before, *(each for each in now if each not in before)]
        return [
            found
            for each in names
            for found in _differences(before.get(each), now.get(each), f"{name} {each}".strip())
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [found for at, pair in pairs for found in _differences(*pair, f"{name} [{at}]")]
    return [] if before == now else [f"{name}: {_short(before)} → {_short(now)}"]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 400 else f"{text[:200]} … {text[-200:]}"
