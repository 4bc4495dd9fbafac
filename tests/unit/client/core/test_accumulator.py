"""Batches are filled, closed in order and numbered."""

from __future__ import annotations

from andiron.client.core.accumulator import Accumulator, ProducerIdentity
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import records_of

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def accumulator(batch_bytes: int = 400, buffer_bytes: int = 1 << 20, **more: object) -> Accumulator:
    return Accumulator(batch_bytes, buffer_bytes, **more)  # type: ignore[arg-type]


def fill(gathered: Accumulator, count: int, size: int = 50, partition: TopicPartition = P0) -> None:
    for number in range(count):
        gathered.append(partition, 1000 + number, None, b"%d" % number + bytes(size))


def test_records_wait_until_a_batch_is_full() -> None:
    gathered = accumulator()
    fill(gathered, 2)
    assert not gathered.closed

    fill(gathered, 5)
    assert len(gathered.closed[P0]) == 1


def test_a_batch_stays_within_its_size() -> None:
    gathered = accumulator()
    fill(gathered, 100)
    gathered.close_all()

    sizes = [len(gathered.take(P0).data) for _ in range(len(gathered.closed[P0]))]
    assert max(sizes) <= 400
    assert not gathered.closed


def test_a_record_larger_than_a_batch_has_one_to_itself() -> None:
    gathered = accumulator()
    fill(gathered, 1)
    fill(gathered, 1, size=1000)
    fill(gathered, 1)
    gathered.close_all()

    assert [gathered.take(P0).records for _ in range(3)] == [1, 1, 1]


def test_partitions_have_batches_of_their_own() -> None:
    gathered = accumulator()
    fill(gathered, 2, partition=P0)
    fill(gathered, 3, partition=P1)
    gathered.close_all()

    assert gathered.take(P0).records == 2
    assert gathered.take(P1).records == 3


def test_a_full_buffer_closes_every_batch() -> None:
    gathered = accumulator(batch_bytes=1000, buffer_bytes=600)
    fill(gathered, 3, partition=P0)
    fill(gathered, 4, partition=P1)

    assert set(gathered.closed) == {P0, P1}


def test_an_idempotent_producer_numbers_its_records() -> None:
    gathered = accumulator(identity=ProducerIdentity(7, 2))
    fill(gathered, 20)
    fill(gathered, 1, partition=P1)
    gathered.close_all()

    expected = 0
    while P0 in gathered.closed:
        closed = gathered.take(P0)
        batch = Batch(closed.data)
        assert (batch.producer_id, batch.producer_epoch) == (7, 2)
        assert batch.base_sequence == closed.base_sequence == expected
        expected += closed.records
    assert expected == 20
    assert gathered.take(P1).base_sequence == 0


def test_sequences_go_on_with_0_after_the_last() -> None:
    gathered = accumulator(identity=ProducerIdentity(7, 0))
    gathered._sequences[P0] = (1 << 31) - 2
    fill(gathered, 3)
    gathered.close_all()
    fill(gathered, 1)
    gathered.close_all()

    assert [gathered.take(P0).base_sequence for _ in range(2)] == [(1 << 31) - 2, 1]


def test_others_number_nothing() -> None:
    gathered = accumulator()
    fill(gathered, 1)
    gathered.close_all()

    assert Batch(gathered.take(P0).data).base_sequence == -1


def test_batches_are_packed_and_intact() -> None:
    gathered = accumulator(batch_bytes=5000, codec=4)
    gathered.append(P0, 5, b"k", b"v", (("h", b"x"),))
    gathered.append(P0, 6, None, None)
    gathered.close_all()

    batch = Batch(gathered.take(P0).data)
    assert batch.is_intact()
    assert batch.codec == 4
    assert [record[1:] for record in records_of(batch)] == [
        (5, b"k", b"v", (("h", b"x"),)),
        (6, None, None, ()),
    ]


def test_batches_remember_the_order_in_which_they_were_closed() -> None:
    gathered = accumulator()
    for partition in (P1, P0, P1):
        fill(gathered, 1, partition=partition)
        gathered.close_all()

    assert [gathered.take(each).number for each in (P1, P0, P1)] == [0, 1, 2]
