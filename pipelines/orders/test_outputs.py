"""What is told of the outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import outputs
import pytest
from job import Settings, prepare
from outputs import Outputs

from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from peers.node import Node


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with Node(tmp_path_factory.mktemp("node")) as server:
        yield server


@pytest.fixture
def settings(node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(outputs, "EVERY_S", 0)
    chosen = Settings(node.bootstrap, str(tmp_path), topic=f"orders-{tmp_path.name}", partitions=1)
    prepare(chosen)
    return chosen


def test_only_what_comes_after_the_beginning_is_told_and_only_once(settings: Settings) -> None:
    order = {"order_id": "o-1", "status": "paid", "amount": 1_234_505, "currency": "EUR"}
    notified = {**order, "name": "Ada", "channel": "mail", "text": "your order is paid"}
    revenue = {
        "window_start": "2026-01-01T12:30:00.000Z",
        "currency": "EUR",
        "orders_paid": 1,
        "revenue_cents": 5,
    }
    with Client(settings.bootstrap) as client, Producer(client) as producer:
        producer.send(settings.latest_topic, json.dumps({**order, "order_id": "before"}).encode(), key=b"k")
        producer.flush()
        watched = Outputs(settings)
        assert watched.changes() == []

        producer.send(settings.latest_topic, json.dumps(order).encode(), key=b"k")
        producer.send(settings.notifications_topic, json.dumps(notified).encode(), key=b"k")
        producer.send(settings.revenue_topic, json.dumps(revenue).encode(), key=b"k")
        origin = {"topic": b"orders", "partition": b"1", "offset": b"7", "reason": b"not JSON"}
        headers = [(f"andiron.{name}", value) for name, value in origin.items()]
        producer.send(settings.dead_letters_topic, b"?", headers=headers)
        producer.flush()

    told: list[str] = []
    while not told or "1 notifications, 1 states" not in told[0] or "1 dead" not in told[0]:
        told = watched.changes() or told
    assert told[1:] == [
        "  revenue     12:30  EUR 0.05 (1)",
        "  notified    Ada by mail: your order is paid",
        "  latest      o-1 paid, 12,345.05 EUR",
        "  dead letter orders-1 at 7: not JSON",
    ]
    assert watched.changes() == []
