"""A range is read in a task: all of it, or a word about what is missing."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from andiron.model.ids import TopicPartition
from andiron.spark.source.options import SourceOptions
from andiron.spark.source.plan import DataLoss, Range
from andiron.spark.source.scan import client_of, report, scan
from andiron.spark.source.topics import Unreachable
from andiron.wire.apis import ApiKey
from unit.spark.world import World

T0 = TopicPartition("t", 0)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 1, 10)
        made.write("t", 0, 10)
        yield made


def offsets(options: SourceOptions, start: int, end: int) -> list[int]:
    return [
        offset
        for rows in scan(options, Range(T0, start, end))
        for offset in rows.column("offset").to_pylist()
    ]


def test_a_range_is_read(world: World) -> None:
    rows = next(scan(world.options(), Range(T0, 3, 5)))

    assert rows.column("value").to_pylist() == [b"3", b"4"]
    assert rows.schema.names[-1] == "timestampType"
    assert offsets(world.options(), 8, 15) == list(range(8, 15))


def test_headers_come_where_they_are_asked_for(world: World) -> None:
    rows = next(scan(world.options(includeHeaders="true"), Range(T0, 0, 1)))

    assert rows.schema.names[-1] == "headers"


def test_a_short_range_does_not_ask_for_more_than_it_can_be(world: World) -> None:
    offsets(world.options(), 0, 3)
    offsets(world.options(**{"kafka.max.partition.fetch.bytes": "777"}), 0, 3)

    asked = [each.topics[0].partitions[0].partition_max_bytes for each in world.broker.requests("Fetch")]
    assert asked == [64 << 10, 777]


def test_a_client_is_kept_for_the_next_task(world: World) -> None:
    options = world.options()
    offsets(options, 0, 5)
    asked = len(world.broker.requests("Metadata"))
    offsets(options, 5, 10)

    assert len(world.broker.requests("Metadata")) == asked
    assert client_of(options.kafka) is client_of(world.options().kafka)
    assert client_of(options.kafka) is not client_of(world.options(**{"kafka.client.id": "other"}).kafka)


def test_records_that_went_while_the_task_started_are_a_loss(world: World) -> None:
    world.delete_before("t", 0, 7)

    with pytest.raises(
        DataLoss, match=r"t-0: offsets 3 to 6 are gone, its log starts at 7.*failOnDataLoss=false"
    ):
        offsets(world.options(), 3, 12)


def test_or_the_task_goes_on_and_warns(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.delete_before("t", 0, 7)

    with caplog.at_level(logging.WARNING):
        assert offsets(world.options(failOnDataLoss="false"), 3, 12) == list(range(7, 12))
    assert "t-0: offsets 3 to 6 are gone" in caplog.text


def test_a_topic_that_went_is_a_loss(world: World) -> None:
    options, lax = world.options(), world.options(failOnDataLoss="false")
    world.drop("t")

    with pytest.raises(DataLoss, match="t-0: gone, before it was read up to offset 12"):
        offsets(options, 3, 12)
    assert offsets(lax, 3, 12) == []


def test_a_range_beyond_the_log_is_a_loss(world: World) -> None:
    with pytest.raises(DataLoss, match="offsets 25 to 29 are not there, its log ends at 20"):
        offsets(world.options(), 25, 30)


def test_a_cluster_that_is_away_is_waited_for(world: World) -> None:
    world.broker.on(ApiKey.API_VERSIONS, lambda _: None, lambda _: None, world.broker.api_versions)

    assert offsets(world.options(), 0, 3) == [0, 1, 2]


def test_but_not_for_ever(world: World) -> None:
    options = world.options(**{"kafka.default.api.timeout.ms": "0"})
    world.broker.close()

    with pytest.raises(Unreachable, match="no broker answers"):
        offsets(options, 0, 1)


def test_losses_fail_or_warn(caplog: pytest.LogCaptureFixture) -> None:
    report([], fail=True)
    with pytest.raises(DataLoss, match=r"records are lost: a; b\. To go on"):
        report(["a", "b"], fail=True)
    report(["a"], fail=False)
    assert "Records are lost" in caplog.text
