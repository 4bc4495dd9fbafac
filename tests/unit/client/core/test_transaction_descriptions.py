"""Transactions from both sides, and where the sides do not agree."""

from __future__ import annotations

from andiron.client.core.addresses import Address
from andiron.client.core.metadata import Broker
from andiron.client.core.transaction_descriptions import (
    ActiveProducer,
    OpenTransaction,
    TransactionDescription,
    TransactionListing,
    hanging,
    open_transactions,
)
from andiron.model.ids import TopicPartition
from andiron.wire.messages import describe_transactions, list_transactions
from andiron.wire.messages.describe_producers import ProducerState

BROKER = Broker(1, Address("h", 9092))
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def producer(producer_id: int, start_offset: int = 3, last_timestamp: int = 100) -> ActiveProducer:
    return ActiveProducer(producer_id, 0, 5, last_timestamp, -1, start_offset)


def known(producer_id: int, *partitions: TopicPartition) -> TransactionDescription:
    return TransactionDescription("id", BROKER, producer_id, 0, "Ongoing", 60_000, 1, [*partitions])


def test_a_listing_is_as_it_was_told() -> None:
    told = list_transactions.TransactionState("id", 7, "Ongoing")

    assert TransactionListing.of(told, 1) == TransactionListing("id", 1, 7, "Ongoing")


def test_a_description_has_its_partitions_in_order() -> None:
    told = describe_transactions.TransactionState(
        0, "id", "Ongoing", 60_000, 1, 7, 0, [describe_transactions.TopicData("t", [1, 0])]
    )

    assert TransactionDescription.of(told, BROKER) == known(7, P0, P1)


def test_a_producer_is_as_it_was_told() -> None:
    assert ActiveProducer.of(ProducerState(7, 0, 5, 100, -1, 3)) == producer(7)


def test_those_that_are_open_for_long_are_candidates() -> None:
    old, new, closed = producer(1), producer(2, last_timestamp=200), producer(3, start_offset=-1)

    assert open_transactions({P1: [old], P0: [old, new, closed]}, not_since=150) == [
        OpenTransaction(P0, old),
        OpenTransaction(P1, old),
    ]


def test_what_no_coordinator_knows_hangs() -> None:
    unknown, elsewhere, fine = (
        OpenTransaction(P0, producer(1)),
        OpenTransaction(P0, producer(2)),
        OpenTransaction(P0, producer(3)),
    )

    assert hanging([unknown, elsewhere, fine], [known(2, P1), known(3, P0, P1)]) == [unknown, elsewhere]


def test_a_marker_is_written_under_the_last_coordinators_epoch() -> None:
    assert OpenTransaction(P0, producer(1)).marker_epoch == 0
    assert OpenTransaction(P0, ActiveProducer(1, 0, 5, 100, 4, 3)).marker_epoch == 4
