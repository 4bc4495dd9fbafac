"""Closed batches keep their order and their numbers."""

from __future__ import annotations

from andiron.client.core.outbox import NO_SEQUENCE, Outbox, ProducerIdentity
from andiron.model.ids import TopicPartition

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
SOMEBODY = ProducerIdentity(7, 2)


def put(outbox: Outbox, partition: TopicPartition, *records: int) -> None:
    for count in records:
        outbox.put(partition, bytearray(b"batch"), count)


def test_batches_are_taken_in_the_order_in_which_they_were_put() -> None:
    outbox = Outbox()
    put(outbox, P0, 1, 2, 3)

    assert [outbox.take(P0).records for _ in range(3)] == [1, 2, 3]
    assert not outbox.waiting


def test_batches_remember_the_order_in_which_they_were_closed() -> None:
    outbox = Outbox()
    for partition in (P1, P0, P1):
        put(outbox, partition, 1)

    assert [outbox.take(each).number for each in (P1, P0, P1)] == [0, 1, 2]


def test_sequences_count_the_records_of_each_partition() -> None:
    outbox = Outbox(SOMEBODY)
    put(outbox, P0, 5, 2)
    put(outbox, P1, 1)

    assert [outbox.take(P0).base_sequence for _ in range(2)] == [0, 5]
    assert outbox.take(P1).base_sequence == 0
    assert (outbox.sequence(P0), outbox.sequence(P1)) == (7, 1)


def test_sequences_go_on_with_0_after_the_last() -> None:
    outbox = Outbox(SOMEBODY)
    put(outbox, P0, (1 << 31) - 2, 3, 1)

    assert [outbox.take(P0).base_sequence for _ in range(3)] == [0, (1 << 31) - 2, 1]


def test_without_an_identity_nothing_is_numbered() -> None:
    outbox = Outbox()
    put(outbox, P0, 5, 2)

    assert [outbox.take(P0).base_sequence for _ in range(2)] == [NO_SEQUENCE, NO_SEQUENCE]


def test_another_identity_begins_anew_and_gives_up_what_waits() -> None:
    outbox = Outbox(SOMEBODY)
    put(outbox, P0, 5)
    outbox.identify(ProducerIdentity(7, 3))

    assert not outbox.waiting
    assert outbox.sequence(P0) == 0


def test_a_partition_that_the_identity_has_written_to_before_is_numbered_on() -> None:
    outbox = Outbox(SOMEBODY)
    outbox.continue_at(P0, 40)
    put(outbox, P0, 2, 1)

    assert [outbox.take(P0).base_sequence for _ in range(2)] == [40, 42]
