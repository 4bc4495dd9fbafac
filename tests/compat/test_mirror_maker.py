"""MirrorMaker 2, as docs/moving.md has it, between Andiron and Kafka: both ways at once, in one process.

Its translation of groups' offsets is its own and rough, between two Kafkas as here (docs/moving.md has the numbers): a
commit becomes one at or before the record that comes next, so nothing is left out, and something is read again.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.group_descriptions import CommittedOffset
from andiron.model import ids
from peers import copied, jars
from peers.kafka import Kafka
from peers.mirror import Mirror
from peers.node import Node
from peers.process import Server
from peers.waiting import eventually

UP, BACK = "up", "back"
RECORDS, COMMITTED = 300, 250
START_S = 120.0


def fill(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for future in admin.create_topics([NewTopic(topic, 2, 1, config={"retention.ms": "-1"})]).values():
        future.result(30)
    writing = copied.producer(bootstrap, **{"compression.type": "lz4"})
    for at in range(RECORDS):
        for partition in (0, 1):
            writing.produce(
                topic,
                b"%d" % at,
                b"k%d" % at,
                partition,
                timestamp=1_700_000_000_000 + at,
                headers=[("h", b"1")],
            )
    assert writing.flush(30) == 0


def records(bootstrap: str, topic: str) -> dict[int, list[tuple[int, copied.Seen]]]:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    return copied.seen(bootstrap, topic) if topic in admin.list_topics(timeout=30).topics else {}


def group(bootstrap: str, name: str) -> dict[ids.TopicPartition, CommittedOffset]:
    with Client(bootstrap) as client:
        return GroupAdmin(client).committed(name)


def check_flow(mirror: Mirror, source: Server, target: Server, topic: str) -> None:
    """The same records at the same offsets, and a group that goes on at or before where it was."""
    here = records(source.bootstrap, topic)
    eventually(lambda: not mirror.running or records(target.bootstrap, topic) == here, START_S)
    assert mirror.running, mirror.printed()[-3000:]
    copied.commit(source.bootstrap, topic, [TopicPartition(topic, at, COMMITTED) for at in (0, 1)])
    eventually(lambda: len(group(target.bootstrap, topic)) == 2, START_S)
    for at in group(target.bootstrap, topic).values():
        assert 0 < at.offset <= COMMITTED


def test_it_mirrors_from_andiron_and_to_andiron(tmp_path: Path) -> None:
    try:
        kafka, libs = Kafka(tmp_path / "kafka", settings=copied.READY), jars.mirror_jars()
    except jars.Missing as why:
        pytest.skip(str(why))
    assert libs.files
    with kafka, Node(tmp_path / "node", settings=copied.READY) as node:
        fill(node.bootstrap, UP)
        fill(kafka.bootstrap, BACK)
        clusters = {"andiron": node.bootstrap, "kafka": kafka.bootstrap}
        flows = {("andiron", "kafka"): UP, ("kafka", "andiron"): BACK}
        with Mirror(tmp_path / "mirror", clusters, flows) as mirror:
            check_flow(mirror, node, kafka, UP)
            check_flow(mirror, kafka, node, BACK)
