"""The check finds what is wrong: outputs made by hand, right at first, then spoiled one at a time."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from checking import check
from job import Settings, prepare
from sample import Sample

from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.blocking.producer import Producer
from andiron.model.ids import TopicPartition
from peers.node import Node

SAMPLE = Sample(seed=3, orders=60, every_ms=1_000, malformed=0.1)


class World:
    """The topic and its outputs, as a pipeline would have written them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.client = Client(settings.bootstrap)
        self.producer = Producer(self.client)
        prepare(settings)
        records = SAMPLE.records(0, SAMPLE.ticks).to_pylist()
        statuses = SAMPLE.events(0, SAMPLE.ticks).status.tolist()
        for offset, (record, status) in enumerate(zip(records, statuses, strict=True)):
            self.producer.send(settings.topic, record["value"], key=record["key"])
            if status >= 0:
                for topic in (settings.latest_topic, settings.notifications_topic):
                    self.producer.send(topic, record["value"], key=record["key"])
            else:
                self.bury(record, offset)
        self.write_revenue(SAMPLE.totals().windows)
        self.producer.flush()
        for reader in settings.readers:
            self.commit(reader, len(records))

    def bury(self, record: dict[str, bytes], offset: int) -> None:
        headers = {"topic": "orders", "partition": "0", "offset": str(offset), "reader": "notifications"}
        told = [(f"andiron.{name}", value.encode()) for name, value in headers.items()]
        self.producer.send(self.settings.dead_letters_topic, record["value"], key=record["key"], headers=told)

    def write_revenue(self, windows: Any) -> None:
        rows = [
            {
                "window_start": datetime.datetime.fromtimestamp(start / 1_000, datetime.UTC),
                "currency": currency,
                **window._asdict(),
            }
            for (start, currency), window in windows.items()
        ]
        deltalake.write_deltalake(self.settings.revenue_table, pa.Table.from_pylist(rows), mode="overwrite")
        for row in rows:
            value = json.dumps({**row, "window_start": row["window_start"].isoformat()}).encode()
            self.producer.send(self.settings.revenue_topic, value, key=row["currency"].encode())

    def commit(self, reader: str, offset: int) -> None:
        GroupAdmin(self.client).commit(
            self.settings.group(reader), {TopicPartition(self.settings.topic, 0): offset}
        )

    def wrong(self) -> set[str]:
        self.producer.flush()
        return {finding.output for finding in check(self.settings, SAMPLE) if finding.problem}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with Node(tmp_path_factory.mktemp("node")) as server:
        yield server


@pytest.fixture
def world(node: Node, tmp_path: Path) -> World:
    name = f"orders-{tmp_path.name}"
    return World(Settings(node.bootstrap, str(tmp_path), topic=name, partitions=1))


def test_outputs_as_they_should_be_are_right(world: World) -> None:
    findings = check(world.settings, SAMPLE)

    assert [finding.problem for finding in findings] == [""] * 8
    assert str(findings[0]).startswith("revenue table          right")


def notify_again(world: World) -> None:
    first = SAMPLE.records(0, 1).to_pylist()[0]
    world.producer.send(world.settings.notifications_topic, first["value"], key=first["key"])


def go_back(world: World) -> None:
    shipped = int(SAMPLE.events(0, SAMPLE.ticks).number[SAMPLE.events(0, SAMPLE.ticks).status == 2][0])
    created = next(
        record
        for record in SAMPLE.records(0, SAMPLE.ticks).to_pylist()
        if record["key"].decode() == SAMPLE.order_id(shipped)
    )
    world.producer.send(world.settings.latest_topic, created["value"], key=created["key"])


def lose_a_cent(world: World) -> None:
    windows = dict(SAMPLE.totals().windows)
    key = next(iter(windows))
    windows[key] = windows[key]._replace(revenue_cents=windows[key].revenue_cents - 1)
    world.write_revenue(windows)


def bury_again(world: World) -> None:
    world.bury({"key": b"k", "value": b"an order, but not in JSON"}, 0)


def fall_behind(world: World) -> None:
    world.commit("search", 1)


@pytest.mark.parametrize(
    ("spoil", "outputs"),
    [
        (notify_again, {"notifications"}),
        (go_back, {"latest"}),
        (lose_a_cent, {"revenue table", "revenue topic"}),
        (bury_again, {"dead letters"}),
        (fall_behind, {"group of search"}),
    ],
)
def test_what_is_wrong_is_found_and_nothing_else(
    world: World, spoil: Callable[[World], None], outputs: set[str]
) -> None:
    spoil(world)

    assert world.wrong() == outputs
