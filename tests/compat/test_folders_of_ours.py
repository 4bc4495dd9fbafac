"""A folder of `andiron up` goes to Kafka and comes back, with the settings that `andiron kafka properties` prints.

What is compared is what both tell clients: ids, settings, groups, transactional ids, and every byte of every log, in
which offsets, timestamps, leader epochs, codecs and producers are.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from andiron.cli.identity import claim, new_id
from andiron.client.blocking import Client, ColumnProducer, Transaction
from andiron.client.blocking.transaction import end_transaction
from andiron.client.core.outbox import ProducerIdentity
from andiron.records.batch import iterate
from peers import clients, jars, quick_java
from peers.asking import Asker
from peers.clients.base import EARLIEST, LATEST, Record
from peers.committed import committed_offsets
from peers.kafka import configure_logging
from peers.node import Node
from peers.ports import free_port
from peers.process import Server
from peers.raw import Raw
from peers.waiting import eventually

pytestmark = pytest.mark.java

TOPICS = {"orders": 2, "state": 1, "cut": 1, "txn": 1}
CONFIGS = {"state": {"cleanup.policy": "compact"}, "orders": {"retention.ms": "-1"}}
OF_TOPIC = 1  # a setting that the topic has itself
FEW = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}
# A Kafka that takes the folder of a killed node over waits for that one's session.
IMPATIENT = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
PATIENCE_S = 60

Look = dict[str, Any]


class ByFile(Server):
    """Andiron or Kafka over a folder that is there, with one server.properties."""

    start_timeout_s = 120.0

    def __init__(self, name: str, folder: Path, port: int, properties: Path) -> None:
        self.name, self.properties = name, properties
        super().__init__(folder, port)

    def command(self) -> list[str]:
        if self.name == "andiron":
            return [sys.executable, "-m", "andiron", "up", "--config", str(self.properties)]
        options, properties = [configure_logging(self.folder)], str(self.properties)
        return quick_java.command(jars.server_jars(), "kafka.Kafka", properties, options=options)


@pytest.fixture(autouse=True)
def needs_kafka() -> None:
    try:
        jars.server_jars()
    except jars.Missing as why:
        pytest.skip(str(why))


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "node", settings=FEW) as started:
        yield started


def andiron(*arguments: object) -> str:
    command = [sys.executable, "-m", "andiron", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def handed_to(name: str, node: Node) -> ByFile:
    """Whoever opens the folder of a node that has ended, with what our command says."""
    properties = node.folder / "kafka.properties"
    if not properties.exists():
        options = [part for key, value in IMPATIENT.items() for part in ("--set", f"{key}={value}")]
        properties.write_text(andiron("kafka", "properties", "--data", node.data, *options))
    return ByFile(name, node.folder, node.port, properties)


# ── what is in it ────────────────────────────────────────────────────────────────────


def furnish(node: Server) -> ProducerIdentity:
    """Something of everything; the identity of a transaction that is prepared, and not decided."""
    client = clients.connect("confluent", node.bootstrap)
    for topic, partitions in TOPICS.items():
        client.create_topic(topic, partitions, 1, CONFIGS.get(topic))
    for partition, codec in enumerate(("zstd", "none")):
        client.write("orders", records(100), partition=partition, codec=codec, idempotent=True)
    client.write("state", [Record(b"k%d" % (n % 7), None if n % 5 == 0 else b"%d" % n) for n in range(50)])
    client.write("cut", records(40))
    for id, end in {"paid": "commit_transaction", "void": "abort_transaction", "open": "flush"}.items():
        transact(node.bootstrap, id, end)
    identity = prepare(node.bootstrap)
    client.delete_records("cut", 0, 15)
    return identity


def records(count: int) -> list[Record]:
    first = 1_700_000_000_000
    return [Record(b"k%d" % (n % 13), b"value %d" % n, (("h", b"%d" % n),), first + n) for n in range(count)]


def transact(bootstrap: str, id: str, end: str) -> None:
    """One transaction that ends so; one that is only flushed is open when its producer goes."""
    settings = {"bootstrap.servers": bootstrap, "transactional.id": id, "transaction.timeout.ms": 600_000}
    producer = Producer({**settings, "log_level": 0})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    for number in range(3):
        producer.produce("txn", f"{id} {number}", partition=0)
    producer.flush(PATIENCE_S)
    getattr(producer, end)(PATIENCE_S)


def prepare(bootstrap: str) -> ProducerIdentity:
    """A transaction with records and offsets that waits for somebody's decision (KIP-939)."""
    with Client(bootstrap) as client:
        transaction = Transaction(client, "prepared", two_phase=True)
        transaction.initiate()
        transaction.begin()
        producer = ColumnProducer(client, transaction=transaction)
        producer.send("txn", pa.RecordBatch.from_pydict({"value": [b"prepared"], "partition": [0]}))
        producer.flush()
        return transaction.identity


# ── what is told of it ───────────────────────────────────────────────────────────────


def look(server: Server) -> Look:
    """What clients are told, but for what changes with every start: who leads, and in which epoch."""
    seen: Look = {}
    client = clients.connect("confluent", server.bootstrap)
    with Asker(server.port) as asker:
        told = asker.ask("metadata", 12, topics=None)
        seen["cluster"], seen["brokers"] = told.cluster_id, [each.node_id for each in told.brokers]
        for topic in told.topics:
            seen[f"id of {topic.name}"] = str(topic.topic_id)
            seen[f"settings of {topic.name}"] = settings_of(asker, topic.name)
    for topic, partitions in TOPICS.items():
        for number in range(partitions):
            ends = [client.list_offset(topic, number, spec) for spec in (EARLIEST, LATEST)]
            seen[f"ends of {topic}-{number}"] = [*ends, client.stable_offset(topic, number)]
            seen[f"{topic}-{number}"] = digest(server.port, topic, number, *ends)
    seen["committed of txn"] = [each.value for each in client.read_all("txn", committed=True)]
    seen["offsets"] = committed_offsets(server.bootstrap, "billing", "orders")
    for id in ("paid", "void", "open", "prepared"):
        seen[f"transactional id {id}"] = transaction(server.port, id)
    return seen


def settings_of(asker: Asker, topic: str) -> dict[str, str]:
    wanted = [{"resource_type": 2, "resource_name": topic, "configuration_keys": None}]
    (told,) = asker.ask("describe_configs", 4, resources=wanted).results
    return {each.name: each.value for each in told.configs if each.config_source == OF_TOPIC}


def digest(port: int, topic: str, partition: int, start: int, end: int) -> str:
    """Of a log's bytes as they are stored."""
    found = sha256()
    with Raw(port) as link:
        while start < end and (data := link.fetch(topic, start, partition, wait_ms=500)):
            whole = [batch for batch in iterate(data) if batch.next_offset > start]
            found.update(b"".join(bytes(batch.raw) for batch in whole))
            start = whole[-1].next_offset
    return found.hexdigest()


def transaction(port: int, id: str) -> dict[str, str]:
    found: list[Any] = []

    def is_told() -> bool:
        with Asker(port) as asker:
            found[:] = asker.ask("describe_transactions", 0, transactional_ids=[id]).transaction_states
        return not found[0].error_code

    eventually(is_told, PATIENCE_S)
    return {name: str(value) for name, value in sorted(vars(found[0]).items())}


def differences(before: Look, now: Look) -> list[str]:
    return [
        f"{name}: {before.get(name)} → {now.get(name)}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]


# ── the journeys ─────────────────────────────────────────────────────────────────────


def commit(server: Server, offset: int) -> None:
    """Offsets of a group without members."""
    andiron(
        "group",
        "reset",
        "-b",
        server.bootstrap,
        "billing",
        "--topic",
        "orders",
        "--to-offset",
        offset,
        "--execute",
    )


def test_the_folder_of_a_node_that_was_killed_is_the_same_to_kafka_and_back_again(node: Node) -> None:
    identity = furnish(node)
    commit(node, 60)
    seen = look(node)
    node.kill()

    for opener in ("kafka", "andiron"):
        with handed_to(opener, node) as server:
            now = look(server)
            assert differences(seen, now) == [], opener
            clients.connect("confluent", server.bootstrap).write("orders", [Record(b"k", opener.encode())])
            transact(server.bootstrap, "paid", "commit_transaction")
            seen = look(server)
            if opener == "andiron":
                with Client(server.bootstrap) as client:
                    end_transaction(client, "prepared", identity, commit=True)
                eventually(lambda: state_of("prepared", server.port) == "CompleteCommit")
            server.stop()


def state_of(id: str, port: int) -> str:
    return transaction(port, id)["transaction_state"]


def test_a_folder_of_before_is_upgraded_and_opened_by_kafka_at_once_after_a_stop(tmp_path: Path) -> None:
    """With its voters in the settings at first, as all were before new folders named them."""
    port = free_port()
    static = {"controller.quorum.voters": f"1@localhost:{port + 1}"}
    with Node(tmp_path / "node", port, FEW | static) as node:
        client = clients.connect("confluent", node.bootstrap)
        client.create_topic("t", 1, 1)
        client.write("t", records(10))
        node.stop()
        node.settings = FEW
        node.start()
        assert "kraft.version" in andiron("cluster", "upgrade", "--yes", "-b", node.bootstrap)
        node.stop()

    with handed_to("kafka", node) as kafka:
        found = clients.connect("confluent", kafka.bootstrap).read("t", end=10)

        assert [each.value for each in found] == [each.value for each in records(10)]
        assert "controller.quorum.bootstrap.servers=localhost" in kafka.properties.read_text()
        assert "DUPLICATE_BROKER_REGISTRATION" not in kafka.printed()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_node_of_three_is_replaced_by_kafka_and_back_while_a_producer_writes(tmp_path: Path) -> None:
    """Kafka follows and leads partitions, votes, and asks the controller, among nodes of ours."""
    cluster = _three(tmp_path)
    bootstrap = ",".join(server.bootstrap for server in cluster.values())
    with ExitStack() as undo:
        for server in cluster.values():
            undo.callback(server.kill)
            server.launch()
        for server in cluster.values():
            server.wait_until_ready()
        clients.connect("confluent", bootstrap).create_topic("t", 3, 3)
        load = undo.enter_context(Load(bootstrap))
        for opener in ("kafka", "andiron"):
            cluster[2].stop()
            cluster[2] = ByFile(opener, cluster[2].folder, cluster[2].port, cluster[2].properties)
            undo.callback(cluster[2].kill)
            cluster[2].start()
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


def _three(tmp_path: Path) -> dict[int, ByFile]:
    """Three nodes of ours, each with a file that Kafka reads as well."""
    ports = {number: (free_port(), free_port()) for number in (1, 2, 3)}
    voters = ",".join(f"{number}@127.0.0.1:{inner}" for number, (_, inner) in ports.items())
    id, cluster = new_id(), {}
    for number, (port, inner) in ports.items():
        settings = {
            "process.roles": "broker,controller",
            "node.id": number,
            "controller.quorum.voters": voters,
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{inner}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": tmp_path / f"{number}" / "data",
            "min.insync.replicas": 2,
            **FEW,
        }
        (tmp_path / f"{number}").mkdir()
        file = tmp_path / f"{number}" / "server.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        claim([str(settings["log.dirs"])], id, number)
        cluster[number] = ByFile("andiron", tmp_path / f"{number}", port, file)
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
