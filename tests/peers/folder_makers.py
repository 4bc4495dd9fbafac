"""Who makes a data folder, and who opens it then: Apache Kafka and Andiron, one node or a cluster.

    MAKERS[…].make(folder) ──▶ Made ─┬─ first          who fills it
                                     └─ opened(whom)   whoever opens it when that one has ended

What Kafka's tool has formatted is opened by all with the server.properties that it was formatted with. What
`andiron up` has made goes to Kafka with the file that `andiron kafka properties` prints, and comes back with the same
one; that of `andiron up --brokers` comes back to the command that it is from.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import NamedTuple, Protocol

from peers import jars, quick_java
from peers.kafka import Kafka, configure_logging
from peers.kafka_cluster import KafkaCluster
from peers.node import Node
from peers.node_cluster import NodeCluster
from peers.ports import free_port
from peers.process import Server

KAFKA, ANDIRON = "Kafka", "Andiron"
FEW = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}
OF_KAFKA = {
    # Where logs begin whose records were deleted it writes down once a minute: killed before, it forgets it itself.
    "log.flush.start.offset.checkpoint.interval.ms": "100",
    "transaction.two.phase.commit.enable": "true",
    "unstable.api.versions.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "share.coordinator.state.topic.num.partitions": "3",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "2000"}
# A Kafka that takes the folder of a killed node over waits for that one's session.
IMPATIENT = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
NOTHING: Mapping[str, str] = {}


def andiron(*arguments: object) -> str:
    """What the command prints."""
    command = [sys.executable, "-m", "andiron", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Place(NamedTuple):
    """The data of one node, and the server.properties that it is opened with."""

    data: Path
    port: int
    properties: Path

    def ask_for_properties(self) -> None:
        """Where there are none, our command has them."""
        if not self.properties.exists():
            self.properties.parent.mkdir(parents=True, exist_ok=True)
            chosen = [part for name, value in IMPATIENT.items() for part in ("--set", f"{name}={value}")]
            self.properties.write_text(andiron("kafka", "properties", "--data", self.data, *chosen))


class Nodes(Protocol):
    """One kind of server over a folder, or over those of a cluster."""

    def start(self) -> object: ...

    def stop(self) -> object: ...

    def kill(self) -> None: ...

    def printed(self) -> str: ...


# ── who opens it ─────────────────────────────────────────────────────────────────────


class ByKafka(Server):
    """Apache Kafka over a folder that is there."""

    name = "kafka"
    start_timeout_s = 120.0
    stop_timeout_s = 30.0

    def __init__(self, place: Place) -> None:
        super().__init__(place.properties.parent, place.port)
        self.properties = place.properties
        self._said_before = len(super().printed())

    def command(self) -> list[str]:
        options, properties = [configure_logging(self.folder)], str(self.properties)
        return quick_java.command(jars.server_jars(), "kafka.Kafka", properties, options=options)

    def printed(self) -> str:
        return super().printed()[self._said_before :]


class ByAndiron(ByKafka):
    """Andiron over the same one, with the same file."""

    name = "andiron"
    start_timeout_s = 60.0

    def command(self) -> list[str]:
        return [sys.executable, "-m", "andiron", "up", "--config", str(self.properties)]


OPENERS: Mapping[str, type[ByKafka]] = {KAFKA: ByKafka, ANDIRON: ByAndiron}


class Opened:
    """All nodes of a folder, or of several that are one cluster."""

    def __init__(self, places: Sequence[Place], opener: str) -> None:
        self.servers = [OPENERS[opener](place) for place in places]

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

    def printed(self) -> str:
        return "".join(server.printed() for server in self.servers)


class Made(NamedTuple):
    """A folder that is there or about to be, or those of a cluster."""

    places: list[Place]
    first: Nodes  # who fills it
    back: Nodes | None = None  # by whom it is opened where Andiron does not go by the file

    @property
    def ports(self) -> list[int]:
        return [place.port for place in self.places]

    def opened(self, opener: str) -> Nodes:
        """Whoever opens it when the one before has ended."""
        if opener == ANDIRON and self.back is not None:
            return self.back
        for place in self.places:
            place.ask_for_properties()
        return Opened(self.places, opener)


# ── made by Kafka ────────────────────────────────────────────────────────────────────


class _Standalone(Kafka):
    """Formatted as Kafka's quickstart has it: a quorum of one that can grow, its voters in the log."""

    def _format_options(self) -> list[str]:
        return ["--standalone"]

    def _defaults(self) -> dict[str, str]:
        servers = f"127.0.0.1:{self.controller_port}"
        quorum = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": servers}
        return {**super()._defaults(), **quorum}


def _formatted(nodes: Iterable[Kafka], by: str = KAFKA) -> Made:
    places = [Place(each.data, each.port, each.properties) for each in nodes]
    return Made(places, Opened(places, by))


def _one(kind: type[Kafka], settings: Mapping[str, str] = NOTHING, by: str = KAFKA) -> Callable[[Path], Made]:
    return lambda folder: _formatted([kind(folder, settings={**FEW, **OF_KAFKA, **settings})], by)


def _cluster(count: int, *, dynamic: bool) -> Callable[[Path], Made]:
    return lambda folder: _formatted(KafkaCluster(folder, count, OF_KAFKA, dynamic=dynamic).nodes.values())


# ── made by Andiron ──────────────────────────────────────────────────────────────────


class _Local(NodeCluster):
    """Killed with all of its nodes, each of which would end in order when the process that watches them is gone."""

    def kill(self) -> None:
        nodes = self.node_pids().values() if self.running else ()
        super().kill()
        for each in nodes:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def _up(folder: Path) -> Made:
    node = Node(folder, settings=FEW)
    return Made([Place(node.data, node.port, folder / "kafka.properties")], node)


def _up_of_before(folder: Path) -> Made:
    """With its voter in the settings at first: such a folder names none, as all were before new ones did."""
    port = free_port()
    with Node(folder, port, {**FEW, "controller.quorum.voters": f"1@localhost:{port + 1}"}) as node:
        node.stop()
        node.settings = FEW
        return Made([Place(node.data, port, folder / "kafka.properties")], node)


def _up_three(folder: Path) -> Made:
    cluster = _Local(folder, 3, FEW)
    places = [
        Place(
            cluster.data / f"node-{at}" / "data", cluster.port + at - 1, folder / f"{at}" / "kafka.properties"
        )
        for at in (1, 2, 3)
    ]
    return Made(places, cluster, cluster)


class Maker(NamedTuple):
    """How a folder comes to be."""

    make: Callable[[Path], Made]
    by: str = KAFKA  # who fills it
    replicas: int = 1
    is_upgraded: bool = False  # by `andiron cluster upgrade`, once it is filled


MAKERS: Mapping[str, Maker] = {
    "format --standalone": Maker(_one(_Standalone)),
    "format --standalone, snapshots": Maker(_one(_Standalone, SNAPSHOTS)),
    "format --standalone, no more": Maker(_one(_Standalone, by=ANDIRON), by=ANDIRON),
    "static voters": Maker(_one(Kafka)),
    "static voters, snapshots": Maker(_one(Kafka, SNAPSHOTS)),
    "--initial-controllers": Maker(_cluster(1, dynamic=True)),
    "three, --initial-controllers": Maker(_cluster(3, dynamic=True), replicas=3),
    "three, static voters": Maker(_cluster(3, dynamic=False), replicas=3),
    "andiron up": Maker(_up, ANDIRON),
    "andiron up of before, upgraded": Maker(_up_of_before, ANDIRON, is_upgraded=True),
    "andiron up --brokers 3": Maker(_up_three, ANDIRON, replicas=3),
    "andiron up --brokers 3, upgraded": Maker(_up_three, ANDIRON, replicas=3, is_upgraded=True),
}
