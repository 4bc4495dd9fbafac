"""Batches are filled, and closed when they are full."""

from __future__ import annotations

from andiron.client.core.accumulator import Accumulator
from andiron.client.core.outbox import NOBODY, Outbox, ProducerIdentity
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import records_of

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def accumulator(
    batch_bytes: int = 400,
    buffer_bytes: int = 1 << 20,
    codec: int = 0,
    identity: ProducerIdentity = NOBODY,
    transactional: bool = False,
) -> Accumulator:
    return Accumulator(Outbox(identity, transactional=transactional), batch_bytes, buffer_bytes, codec)


def fill(gathered: Accumulator, count: int, size: int = 50, partition: TopicPartition = P0) -> None:
    for number in range(count):
        gathered.append(partition, 1000 + number, None, b"%d" % number + bytes(size))


def test_records_wait_until_a_batch_is_full() -> None:
    gathered = accumulator()
    fill(gathered, 2)
    assert not gathered.outbox.waiting

    fill(gathered, 5)
    assert len(gathered.outbox.waiting[P0]) == 1


def test_a_batch_stays_within_its_size() -> None:
    gathered = accumulator()
    fill(gathered, 100)
    gathered.close_all()

    sizes = [len(gathered.outbox.take(P0).data) for _ in range(len(gathered.outbox.waiting[P0]))]
    assert max(sizes) <= 400
    assert not gathered.outbox.waiting


def test_a_record_larger_than_a_batch_has_one_to_itself() -> None:
    gathered = accumulator()
    fill(gathered, 1)
    fill(gathered, 1, size=1000)
    fill(gathered, 1)
    gathered.close_all()

    assert [gathered.outbox.take(P0).records for _ in range(3)] == [1, 1, 1]


def test_partitions_have_batches_of_their_own() -> None:
    gathered = accumulator()
    fill(gathered, 2, partition=P0)
    fill(gathered, 3, partition=P1)
    gathered.close_all()

    assert gathered.outbox.take(P0).records == 2
    assert gathered.outbox.take(P1).records == 3


def test_a_full_buffer_closes_every_batch() -> None:
    gathered = accumulator(batch_bytes=1000, buffer_bytes=600)
    fill(gathered, 3, partition=P0)
    fill(gathered, 4, partition=P1)

    assert set(gathered.outbox.waiting) == {P0, P1}


def test_an_idempotent_producer_numbers_its_records() -> None:
    gathered = accumulator(identity=ProducerIdentity(7, 2))
    fill(gathered, 20)
    fill(gathered, 1, partition=P1)
    gathered.close_all()

    expected = 0
    while P0 in gathered.outbox.waiting:
        closed = gathered.outbox.take(P0)
        batch = Batch(closed.data)
        assert (batch.producer_id, batch.producer_epoch) == (7, 2)
        assert batch.base_sequence == closed.base_sequence == expected
        expected += closed.records
    assert expected == 20
    assert gathered.outbox.take(P1).base_sequence == 0


def test_others_number_nothing() -> None:
    gathered = accumulator()
    fill(gathered, 1)
    gathered.close_all()

    assert Batch(gathered.outbox.take(P0).data).base_sequence == -1


def test_batches_are_packed_and_intact() -> None:
    gathered = accumulator(batch_bytes=5000, codec=4)
    gathered.append(P0, 5, b"k", b"v", (("h", b"x"),))
    gathered.append(P0, 6, None, None)
    gathered.close_all()

    batch = Batch(gathered.outbox.take(P0).data)
    assert batch.is_intact()
    assert batch.codec == 4
    assert [record[1:] for record in records_of(batch)] == [
        (5, b"k", b"v", (("h", b"x"),)),
        (6, None, None, ()),
    ]


def test_batches_of_a_transaction_say_so() -> None:
    gathered = accumulator(identity=ProducerIdentity(7, 2), transactional=True)
    fill(gathered, 1)
    gathered.close_all()

    assert Batch(gathered.outbox.take(P0).data).is_transactional


def test_what_is_given_up_is_not_closed() -> None:
    gathered = accumulator()
    fill(gathered, 1)
    assert not gathered.is_empty
    gathered.clear()
    gathered.close_all()

    assert gathered.is_empty
    assert not gathered.outbox.waiting
