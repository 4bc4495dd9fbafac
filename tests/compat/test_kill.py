"""kill -9 in the middle of load, again and again on the same data: all that was acknowledged is there, once.

One idempotent producer lives through all of it. Whatever was under way when the node died it sends again, and
the node must tell what it already has from what it lost; so in the end the log is exactly what was produced,
in order, and every record lies at the offset it was acknowledged with.

A killed process leaves the page cache behind, so this tells nothing of a power failure: that the second policy
also survives one is for the simulator to show. `ANDIRON_KILL_ROUNDS=100` for the long run.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, Producer

from peers import clients
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server

ROUNDS = int(os.environ.get("ANDIRON_KILL_ROUNDS", "5"))
PARTITIONS = 3
POLICIES = {
    "flushed when the system likes": {},
    "acknowledged after fsync": {"log.flush.interval.messages": "1"},
}


class Load:
    """Numbers in order to each partition, and the offsets they were acknowledged with."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.topic = topic
        self.sent = [0] * PARTITIONS
        self.acked: list[dict[int, int]] = [{} for _ in range(PARTITIONS)]
        self.errors: list[KafkaError] = []
        settings = {"enable.idempotence": True, "acks": "all", "linger.ms": 1, "batch.num.messages": 50}
        settings |= {"message.timeout.ms": 120_000, "reconnect.backoff.max.ms": 200, "log_level": 0}
        self._producer = Producer({"bootstrap.servers": bootstrap, **settings})

    def send_until_acked(self, count: int) -> None:
        """Keep the pipe full until so many more are acknowledged."""
        goal = self.total_acked + count
        while self.total_acked < goal and not self.errors:
            if sum(self.sent) - self.total_acked < 2000:
                self._send_one()
            self._producer.poll(0 if len(self._producer) < 1000 else 0.001)

    def send_and_look_away(self, seconds: float) -> None:
        """Fill the pipe once more and leave with all of it under way."""
        for _ in range(500):
            self._send_one()
        self._producer.poll(seconds)

    def finish(self) -> int:
        """Wait for what is under way; return how many records never arrived."""
        return self._producer.flush(100)

    @property
    def total_acked(self) -> int:
        return sum(map(len, self.acked))

    def _send_one(self) -> None:
        partition = sum(self.sent) % PARTITIONS
        number = self.sent[partition]
        self._producer.produce(
            self.topic,
            b"%d" % number,
            partition=partition,
            on_delivery=self._delivered,
            headers=[("n", bytes(50))],
        )
        self.sent[partition] += 1

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error:
            self.errors.append(error)
        else:
            partition, value, offset = message.partition(), message.value(), message.offset()
            assert partition is not None and value is not None and offset is not None
            self.acked[partition][int(value)] = offset


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_every_acknowledged_record_is_there_in_order_and_once(
    tmp_path: Path, server_kind: type[Node] | type[Kafka], policy: str
) -> None:
    chance = random.Random(policy)
    with server_kind(tmp_path / "node", settings=POLICIES[policy]) as server:
        clients.connect("confluent", server.bootstrap).create_topic("load", PARTITIONS, 1)
        load = Load(server.bootstrap, "load")
        for _ in range(ROUNDS):
            load.send_until_acked(chance.randrange(200, 3000))
            load.send_and_look_away(chance.random() * 0.01)
            server.kill()
            server.start()
        load.send_until_acked(100)

        assert load.finish() == 0
        assert load.errors == []
        for partition in range(PARTITIONS):
            check(server, load, partition)


def check(server: Server, load: Load, partition: int) -> None:
    end = load.sent[partition]
    found = clients.connect("confluent", server.bootstrap).read("load", partition=partition, end=end)

    assert [int(record.value or b"-1") for record in found] == list(range(end))
    assert {int(record.value or b"-1"): record.offset for record in found} == load.acked[partition]
