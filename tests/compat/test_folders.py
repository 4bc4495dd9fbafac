"""Data folders pass from hand to hand, and everybody who opens one finds what was there: every row of the matrix.

Each row makes a folder, ends its maker in one way, and lets others open it with the same server.properties; what they
tell clients is compared, and in the end the matrix is printed. See peers/folders.py for the rows. One journey is of
another kind: there a cluster goes on while one of its nodes passes from hand to hand.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from andiron.cli.identity import claim, new_id
from peers import clients, jars
from peers.asking import Asker
from peers.folder_makers import ANDIRON, FEW, KAFKA, OPENERS, Place, andiron
from peers.folders import ROWS, STOP, Leg, Row, journey, printed
from peers.ports import free_port
from peers.process import Server
from peers.waiting import eventually

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S = 60


@pytest.fixture(scope="module")
def matrix(request: pytest.FixtureRequest) -> Iterator[list[Leg]]:
    """Every opening of a folder, printed when all are done."""
    try:
        jars.server_jars()
    except jars.Missing as why:
        pytest.skip(str(why))
    legs: list[Leg] = []
    yield legs
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("", printed(legs), sep="\n")


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=str(row), marks=[pytest.mark.long] if row.long else []) for row in ROWS]
)
def test_a_folder_is_the_same_to_all_who_open_it(row: Row, tmp_path: Path, matrix: list[Leg]) -> None:
    legs = journey(row, tmp_path)

    matrix += legs
    assert [leg.differences for leg in legs] == [[] for _ in row.opened_by]


@pytest.mark.long
def test_a_node_of_three_is_replaced_by_kafka_and_back_while_a_producer_writes(
    tmp_path: Path, matrix: list[Leg]
) -> None:
    """Kafka follows and leads partitions, votes, and asks the controller, among nodes of ours."""
    places = _three(tmp_path)
    cluster = {number: OPENERS[ANDIRON](place) for number, place in places.items()}
    bootstrap = ",".join(server.bootstrap for server in cluster.values())
    with ExitStack() as undo:
        for server in cluster.values():
            undo.callback(server.kill)
            server.launch()
        for server in cluster.values():
            server.wait_until_ready()
        clients.connect("confluent", bootstrap).create_topic("t", 3, 3)
        load = undo.enter_context(Load(bootstrap))
        for opener in (KAFKA, ANDIRON):
            cluster[2].stop()
            cluster[2], began = OPENERS[opener](places[2]), time.monotonic()
            undo.callback(cluster[2].kill)
            cluster[2].start()
            leg = Leg("one of three, the others go on", STOP, opener, time.monotonic() - began, load.failed)
            matrix.append(leg)
            eventually(lambda: all(len(each.isr_nodes) == 3 for each in partitions(cluster[1])), PATIENCE_S)
            andiron("cluster", "elect", "-b", bootstrap)
            eventually(lambda: 2 in [each.leader_id for each in partitions(cluster[1])], PATIENCE_S)
            count = len(load.acknowledged)
            eventually(lambda count=count: len(load.acknowledged) > count + 50, PATIENCE_S)
        load.stop()

        assert load.failed == []
        assert load.acknowledged == load.found()
        for server in cluster.values():
            server.stop()


def _three(tmp_path: Path) -> dict[int, Place]:
    """Three nodes of ours, each with a file that Kafka reads as well."""
    ports = {number: (free_port(), free_port()) for number in (1, 2, 3)}
    voters = ",".join(f"{number}@127.0.0.1:{inner}" for number, (_, inner) in ports.items())
    id, cluster = new_id(), {}
    for number, (port, inner) in ports.items():
        folder = tmp_path / f"{number}"
        place = Place(folder / "data", port, folder / "server.properties")
        settings = {
            "process.roles": "broker,controller",
            "node.id": number,
            "controller.quorum.voters": voters,
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{inner}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": place.data,
            "min.insync.replicas": 2,
            **FEW,
        }
        folder.mkdir()
        place.properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        claim([str(place.data)], id, number)
        cluster[number] = place
    return cluster


def partitions(server: Server) -> list[Any]:
    """Those of the topic, as a broker knows them."""
    with Asker(server.port) as asker:
        topics = asker.ask("metadata", 12, topics=None).topics
    return [each for topic in topics if topic.name == "t" for each in topic.partitions]


class Load(threading.Thread):
    """An idempotent producer that goes on until it is told to stop, and remembers what was acknowledged."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self.bootstrap, self._over = bootstrap, threading.Event()
        self.acknowledged: dict[bytes, list[int]] = {}
        self.failed: list[str] = []

    def run(self) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "log_level": 0})
        number = 0
        while not self._over.is_set():
            producer.produce("t", b"%d" % number, partition=number % 3, on_delivery=self._heard)
            number += 1
            producer.poll(0.02)
        producer.flush(PATIENCE_S)

    def _heard(self, error: object, message: Any) -> None:
        if error is None:
            self.acknowledged[message.value()] = [message.offset()]
        else:
            self.failed.append(str(error))

    def found(self) -> dict[bytes | None, list[int | None]]:
        """Every record that is there, by where it is."""
        client = clients.connect("confluent", self.bootstrap)
        there: dict[bytes | None, list[int | None]] = {}
        for partition in range(3):
            for each in client.read_all("t", partition=partition, committed=False):
                there.setdefault(each.value, []).append(each.offset)
        return there

    def stop(self) -> None:
        self._over.set()
        self.join()

    def __enter__(self) -> Load:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
