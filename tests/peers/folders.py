"""Data folders that pass from hand to hand: made by one server, opened by the others in turn, and compared.

    made by          how the folder came to be: with which tool, which quorum, how many nodes
    after            how its maker ended: asked to, or killed
    opened by        who opens it then, one after the other, with the same server.properties

Each that opens it must tell of it what the one before told, to the last record, and leaves a trace of its own for the
next. A row of `ROWS` is such a journey; makers and openers are tables, so that a row is all there is to add.

Read next: folder_contents.py, for what is compared.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import NamedTuple

from peers import jars, quick_java
from peers.folder_contents import Look, furnish, furnish_more, leave_a_trace, look, look_closer
from peers.kafka import Kafka, configure_logging
from peers.kafka_cluster import KafkaCluster
from peers.process import Server
from peers.waiting import eventually

# Kafka writes down once a minute where logs begin whose records were deleted: killed before, it forgets it itself.
SOON = {"log.flush.start.offset.checkpoint.interval.ms": "100"}
SETTINGS = {
    **SOON,
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "share.coordinator.state.topic.num.partitions": "3",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "2000"}
KAFKA, ANDIRON = "Kafka", "Andiron"
NOTHING: Mapping[str, str] = {}


class Place(NamedTuple):
    """The folder of one node, beside the server.properties that it is opened with."""

    folder: Path
    port: int

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"


# ── who opens it ─────────────────────────────────────────────────────────────────────


class ByKafka(Server):
    """Apache Kafka over a folder that is there."""

    name = "kafka"
    start_timeout_s = 120.0
    stop_timeout_s = 30.0

    def __init__(self, place: Place) -> None:
        super().__init__(place.folder, place.port)
        self._place = place

    def command(self) -> list[str]:
        options, properties = [configure_logging(self.folder)], str(self._place.properties)
        return quick_java.command(jars.server_jars(), "kafka.Kafka", properties, options=options)


class ByAndiron(ByKafka):
    """Andiron over the same one, with Kafka's own file."""

    name = "andiron"
    start_timeout_s = 60.0

    def command(self) -> list[str]:
        return [sys.executable, "-m", "andiron", "up", "--config", str(self._place.properties)]


OPENERS: Mapping[str, type[ByKafka]] = {KAFKA: ByKafka, ANDIRON: ByAndiron}


class Opened:
    """All nodes of a folder, or of several that are one cluster, opened by one kind of server."""

    def __init__(self, places: Sequence[Place], opener: str) -> None:
        self.servers = [OPENERS[opener](place) for place in places]
        self.ports = [place.port for place in places]

    def start(self) -> None:
        for server in self.servers:
            server.launch()
        for server in self.servers:
            server.wait_until_ready()

    def stop(self) -> None:
        """All at once. A node of Kafka's that is left without a majority waits for long to be let go, and is killed."""
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
        for server in self.servers:
            with suppress(TimeoutExpired) if len(self.servers) > 1 else nullcontext():
                server.wait()

    def kill(self) -> None:
        for server in self.servers:
            server.kill()

    def complaints(self) -> list[str]:
        """What no server should print."""
        printed = "".join(server.printed() for server in self.servers if isinstance(server, ByAndiron))
        return [
            line for line in printed.splitlines() if line.startswith("Traceback") or "passed over" in line
        ]


# ── who makes it ─────────────────────────────────────────────────────────────────────


class _Standalone(Kafka):
    """Formatted as Kafka's quickstart has it: a quorum of one that can grow, its voters in the log."""

    def _format_options(self) -> list[str]:
        return ["--standalone"]

    def _defaults(self) -> dict[str, str]:
        servers = f"127.0.0.1:{self.controller_port}"
        quorum = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": servers}
        return {**super()._defaults(), **quorum}


class Maker(NamedTuple):
    """How a folder comes to be."""

    make: Callable[[Path], list[Place]]
    by: str = KAFKA  # who opens it first, and fills it
    replicas: int = 1


def _one(kind: type[Kafka], settings: Mapping[str, str] = NOTHING) -> Callable[[Path], list[Place]]:
    return lambda folder: _places([kind(folder, settings={**SETTINGS, **settings})])


def _cluster(count: int, *, dynamic: bool) -> Callable[[Path], list[Place]]:
    def make(folder: Path) -> list[Place]:
        kept = {name: value for name, value in SETTINGS.items() if name in SOON or "share" in name}
        return _places(KafkaCluster(folder, count, kept, dynamic=dynamic).nodes.values())

    return make


def _places(formatted: Iterable[Kafka]) -> list[Place]:
    return [Place(each.folder, each.port) for each in formatted]


MAKERS: Mapping[str, Maker] = {
    "format --standalone": Maker(_one(_Standalone)),
    "format --standalone, snapshots": Maker(_one(_Standalone, SNAPSHOTS)),
    "format --standalone, no more": Maker(_one(_Standalone), by=ANDIRON),
    "static voters": Maker(_one(Kafka)),
    "static voters, snapshots": Maker(_one(Kafka, SNAPSHOTS)),
    "--initial-controllers": Maker(_cluster(1, dynamic=True)),
    "three, --initial-controllers": Maker(_cluster(3, dynamic=True), replicas=3),
    "three, static voters": Maker(_cluster(3, dynamic=False), replicas=3),
}


# ── the journeys ─────────────────────────────────────────────────────────────────────

STOP, KILL = "a stop", "kill -9"


@dataclass(frozen=True)
class Row:
    """One journey of a folder. A `long` one is left to those who have the time."""

    made_by: str
    after: str = STOP
    opened_by: tuple[str, ...] = (ANDIRON, KAFKA)
    long: bool = True

    def __str__(self) -> str:
        return f"{self.made_by}, {MAKERS[self.made_by].by} after {self.after}, then {' then '.join(self.opened_by)}"


ROWS = (
    Row("format --standalone, snapshots", long=False),
    Row("static voters", KILL, long=False),
    Row("format --standalone"),
    Row("format --standalone", KILL, (ANDIRON, KAFKA, ANDIRON)),
    Row("format --standalone, no more", opened_by=(KAFKA, ANDIRON)),
    Row("static voters, snapshots"),
    Row("--initial-controllers"),
    Row("three, --initial-controllers"),
    Row("three, --initial-controllers", KILL),
    Row("three, static voters", KILL),
)


class Leg(NamedTuple):
    """One opening of a folder: by whom, how long it took to serve, and what was told that the one before did not."""

    row: Row
    opened_by: str
    seconds: float
    differences: list[str]

    def __str__(self) -> str:
        verdict = "equal" if not self.differences else f"DIFFERENT: {'; '.join(self.differences)}"
        row = self.row
        return f"{row.made_by:32} {row.after:8} {self.opened_by:8} {self.seconds:5.1f} s  {verdict}"


class _Seen(NamedTuple):
    """What the last one told who opened it, and what Kafka alone can tell, when it last did."""

    by_all: Look
    by_kafka: Look

    def differences(self, now: _Seen) -> list[str]:
        is_told_twice = bool(self.by_kafka and now.by_kafka)
        closer = _differences(self.by_kafka, now.by_kafka) if is_told_twice else []
        return [*_differences(self.by_all, now.by_all), *closer]


def journey(row: Row, folder: Path) -> list[Leg]:
    """Make a folder and let all open it in turn."""
    maker, legs = MAKERS[row.made_by], list[Leg]()
    places = maker.make(folder)
    with ExitStack() as undo:
        seen = _made(row, maker, places, undo)
        for number, opener in enumerate(row.opened_by):
            server, began = Opened(places, opener), time.monotonic()
            undo.callback(server.kill)
            server.start()
            seconds = time.monotonic() - began
            legs.append(Leg(row, opener, seconds, seen.differences(_look(server, opener))))
            leave_a_trace(server.ports, f"{opener}-{number}".lower(), maker.replicas)
            now = _look(server, opener)
            seen = _Seen(now.by_all, now.by_kafka or seen.by_kafka)
            server.stop()
            legs[-1].differences.extend(server.complaints())
    return legs


def _made(row: Row, maker: Maker, places: list[Place], undo: ExitStack) -> _Seen:
    server = Opened(places, maker.by)
    undo.callback(server.kill)
    server.start()
    furnish(server.ports, maker.replicas)
    if maker.by == KAFKA:
        furnish_more(server.ports)
    seen = _look(server, maker.by)
    if row.after == KILL:
        eventually(lambda: all("cut 0 15" in _log_starts(place) for place in places))
        server.kill()
    else:
        server.stop()
    if "snapshots" in row.made_by:
        cut = [
            each.name
            for place in places
            for each in place.folder.glob("data/__cluster_metadata-0/*.checkpoint")
        ]
        assert any(not name.startswith("0" * 20) for name in cut), "there is no snapshot to look at"
    return seen


def _log_starts(place: Place) -> str:
    return (place.folder / "data" / "log-start-offset-checkpoint").read_text()


def _look(server: Opened, opener: str) -> _Seen:
    return _Seen(look(server.ports), look_closer(server.ports) if opener == KAFKA else {})


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
