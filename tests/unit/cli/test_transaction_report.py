"""What is said of transactions."""

from __future__ import annotations

import pytest

from andiron.cli.times import show_time
from andiron.cli.transaction_report import (
    description_as_json,
    description_as_text,
    hanging_as_text,
    producer_as_json,
    producers_as_text,
)
from andiron.client.core.addresses import Address
from andiron.client.core.metadata import Broker
from andiron.client.core.transaction_descriptions import (
    ActiveProducer,
    OpenTransaction,
    TransactionDescription,
)
from andiron.model.ids import TopicPartition

NOW = 31_000
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
BROKER = Broker(1, Address("h", 9092))
OPEN = TransactionDescription("id", BROKER, 7, 2, "Ongoing", 60_000, 1_000, [P0, P1])
DONE = TransactionDescription("id", BROKER, 7, 2, "Empty", 60_000, -1, [])
WRITING, IDLE = ActiveProducer(7, 2, 9, 1_000, 4, 10), ActiveProducer(8, 0, 3, -1, -1, -1)


def test_an_open_transaction_tells_how_long_it_has_been_and_where() -> None:
    assert description_as_text(OPEN, NOW) == "\n".join(
        [
            "id: Ongoing, producer 7 epoch 2, coordinator 1 (h:9092), open for 30s of 1m 0s that it may take",
            "",
            "TOPIC  PARTITION",
            "t              0",
            "t              1",
        ]
    )


def test_without_one_there_is_a_line() -> None:
    assert description_as_text(DONE, NOW) == (
        "id: Empty, producer 7 epoch 2, coordinator 1 (h:9092), timeout 1m 0s"
    )


@pytest.mark.parametrize("state", ["CompleteCommit", "CompleteAbort"])
def test_one_that_has_ended_is_not_open_for_any_time(state: str) -> None:
    ended = OPEN._replace(state=state, partitions=[])

    assert description_as_text(ended, NOW) == (
        f"id: {state}, producer 7 epoch 2, coordinator 1 (h:9092), timeout 1m 0s, last begun {show_time(1_000)}"
    )


def test_a_description_is_complete_for_programs() -> None:
    assert description_as_json(OPEN) == {
        "transactional_id": "id",
        "state": "Ongoing",
        "coordinator": {"id": 1, "host": "h", "port": 9092},
        "producer_id": 7,
        "producer_epoch": 2,
        "timeout_ms": 60_000,
        "started_at": 1_000,
        "partitions": [{"topic": "t", "partition": 0}, {"topic": "t", "partition": 1}],
    }
    assert description_as_json(DONE)["started_at"] is None


def test_producers_have_a_row_each() -> None:
    when = show_time(1_000)

    assert producers_as_text({P1: [IDLE], P0: [WRITING]}) == "\n".join(
        [
            f"TOPIC  PARTITION  PRODUCER  EPOCH  SEQUENCE  {'LAST WRITE':<{len(when)}}  OPEN FROM  COORDINATOR EPOCH",
            f"t              0         7      2         9  {when}         10                  4",
            f"t              1         8      0         3  {'-':<{len(when)}}          -                  -",
        ]
    )


def test_what_a_producer_does_not_have_is_null_for_programs() -> None:
    assert producer_as_json(P0, WRITING)["start_offset"] == 10
    told = producer_as_json(P0, IDLE)
    assert told["start_offset"] is told["coordinator_epoch"] is None


def test_what_hangs_tells_how_to_name_it() -> None:
    text = hanging_as_text([OpenTransaction(P0, WRITING)], NOW)

    assert text.splitlines()[1].split() == ["t", "0", "10", "7", "2", show_time(1_000), "30s"]
