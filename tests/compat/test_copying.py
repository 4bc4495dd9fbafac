"""`andiron copy` between processes that die, and between Andiron and Kafka, held to account by another client."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.copying.errors import CopyError
from andiron.copying.producer import CopyProducer
from andiron.model import ids
from andiron.records.builder import build
from andiron.records.record import Record
from peers import copied, jars
from peers.kafka import Kafka
from peers.node import Node
from peers.waiting import eventually


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    """A source with topics of every kind, and an empty target."""
    with (
        Node(tmp_path / "source", settings=copied.READY) as source,
        Node(tmp_path / "target", settings=copied.READY) as target,
    ):
        copied.fill(source.bootstrap)
        yield source, target


def end_of(bootstrap: str, topic: str, partition: int = 0) -> int:
    reading = Consumer({"bootstrap.servers": bootstrap, "group.id": "none", "log_level": 0})
    try:
        if topic not in reading.list_topics(timeout=30).topics:
            return 0
        end: int = reading.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)[1]
        return end
    except KafkaException as error:
        if error.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION:
            raise
        return 0  # it is in the metadata, and its leader has not heard of it yet
    finally:
        reading.close()


def started(source: str, target: str) -> subprocess.Popen[str]:
    """A copy that goes on slowly, and has written something."""
    before = end_of(target, copied.PLAIN)
    process = copied.start_copy(source, target, "--follow", "--rate", "300KiB", "--no-groups")
    eventually(lambda: end_of(target, copied.PLAIN) > before, copied.PATIENCE_S)
    return process


def check_any_sequence_is_taken_from_a_stranger(bootstrap: str) -> None:
    """On which a copy relies that goes on after the broker has forgotten its producer: written, and at its end."""
    with Client(bootstrap) as client:
        Admin(client).create_topic("strange", 1, 1)
        producer = CopyProducer(client)
        producer.begin(ids.TopicPartition("strange", 0), 1_000)
        producer.put(ids.TopicPartition("strange", 0), build([Record(0, 1, None, b"a")]), 1)
        with pytest.raises(CopyError, match="at offset 0 of the target"):
            producer.flush()
        producer.close()


def test_a_copy_that_is_killed_again_and_again_writes_everything_once(nodes: tuple[Node, Node]) -> None:
    source, target = (each.bootstrap for each in nodes)
    ended = threading.Event()

    def go_on_writing() -> None:
        turn = 0
        while not ended.is_set() and turn < 60:
            copied.write_plain(source, 400 + 40 * turn, 440 + 40 * turn)
            copied.transact(source, f"more-{turn}", 100 + turn, 101 + turn, commit=turn % 3 != 0)
            turn += 1

    writer = threading.Thread(target=go_on_writing)
    writer.start()
    try:
        for round_ in range(4):
            process = started(source, target)
            if round_ == 3:
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=60)
                assert process.returncode == 0, err
                assert " records (" in out
            else:
                process.kill()
                process.communicate()
    finally:
        ended.set()
        writer.join()

    told = copied.copied(source, target)

    copied.check_same(source, target)
    kept = {each["topic"]: each["offsets"] for each in told["partitions"]}
    assert kept == {"plain": "kept", "trimmed": "kept", "transacted": "shifted", "compacted": "shifted"}
    assert copied.copied(source, target)["records"] == 0


def test_from_andiron_to_kafka_and_back(nodes: tuple[Node, Node], tmp_path: Path) -> None:
    try:
        kafka = Kafka(tmp_path / "kafka", settings=copied.READY)
    except jars.Missing as why:
        pytest.skip(str(why))
    with kafka:
        source, back = nodes[0].bootstrap, nodes[1].bootstrap
        process = started(source, kafka.bootstrap)
        process.kill()
        process.communicate()
        copied.copied(source, kafka.bootstrap)
        copied.check_same(source, kafka.bootstrap)
        copied.write_plain(kafka.bootstrap, 400, 450)
        copied.transact(kafka.bootstrap, "at-kafka", 200, 215, commit=True)

        copied.copied(kafka.bootstrap, back)

        copied.check_same(kafka.bootstrap, back)
        check_any_sequence_is_taken_from_a_stranger(kafka.bootstrap)
