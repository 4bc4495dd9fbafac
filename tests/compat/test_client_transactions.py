"""Our own client's transactions, as other clients see them, and its readers on what transactions leave in a log.

ANDIRON_TEST_PEER=kafka    the same with Apache Kafka as the broker: the client is no friend of ours only
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from andiron.client.blocking import (
    Admin,
    Client,
    ColumnProducer,
    ColumnReader,
    GroupAdmin,
    PartitionReader,
    Producer,
    Transaction,
    end_transaction,
)
from andiron.client.core.descriptions import LATEST
from andiron.client.settings import ClientSettings, ProducerSettings, ReaderSettings
from andiron.model.errors import ErrorCode, Fenced, ProtocolError, Retriable
from andiron.model.ids import TopicPartition
from peers import clients
from peers.committed import committed_offsets
from peers.process import Server
from peers.transactors import Transactor
from peers.waiting import eventually

SMALL_FETCHES = ReaderSettings(max_partition_fetch_bytes=600, fetch_max_bytes=600)


@pytest.fixture
def client(node: Server) -> Iterator[Client]:
    with Client(node.bootstrap) as made:
        yield made


@pytest.fixture
def topic(make_topic: Callable[..., str]) -> str:
    return make_topic(2)


def rows(*values: bytes, **columns: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"value": pa.array(values, pa.binary()), **columns})


def seen(node: Server, topic: str, partition: int = 0, *, committed: bool = True) -> list[bytes | None]:
    """By librdkafka."""
    other = clients.connect("confluent", node.bootstrap)
    return [record.value for record in other.read_all(topic, partition=partition, committed=committed)]


def settled(client: Client, topic: str, partition: int = 0) -> None:
    """A commit is answered when it is decided; its marker in a partition may be a moment behind."""
    place = TopicPartition(topic, partition)
    eventually(lambda: end_of(client, place, committed=True) == end_of(client, place, committed=False))


def end_of(client: Client, partition: TopicPartition, *, committed: bool) -> int:
    return Admin(client).list_offsets({partition: LATEST}, committed=committed)[partition].offset


def records(client: Client, partition: TopicPartition, *, committed: bool) -> list[tuple[int, bytes | None]]:
    """By our reader, over as many fetches as it takes."""
    end = end_of(client, partition, committed=committed)
    with PartitionReader(client, partition, 0, end, committed=committed, settings=SMALL_FETCHES) as reader:
        return [(record.offset, record.value) for record in reader]


def columns(client: Client, partition: TopicPartition, *, committed: bool) -> list[tuple[int, bytes | None]]:
    """By our reader of columns."""
    end = end_of(client, partition, committed=committed)
    with ColumnReader(client, partition, 0, end, committed=committed, settings=SMALL_FETCHES) as reader:
        batches = list(reader)
    assert reader.position == end
    return [
        (offset, value)
        for batch in batches
        for offset, value in zip(batch["offset"].to_pylist(), batch["value"].to_pylist(), strict=True)
    ]


def test_others_see_what_was_committed_and_nothing_of_what_was_aborted(
    node: Server, client: Client, topic: str
) -> None:
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    with ColumnProducer(client, transaction=transaction) as producer:
        transaction.begin()
        producer.send(topic, rows(b"1", b"2", partition=[0, 1]))
        producer.flush()
        transaction.abort()
        transaction.begin()
        producer.send(topic, rows(b"3", b"4", partition=[0, 1]))
        transaction.commit()
        settled(client, topic, 0)
        settled(client, topic, 1)
        transaction.begin()
        producer.send(topic, rows(b"5", partition=[0]))
        producer.flush()

        assert seen(node, topic, 0) == [b"3"]
        assert seen(node, topic, 0, committed=False) == [b"1", b"3", b"5"]
        transaction.commit()
    settled(client, topic)
    assert seen(node, topic, 0) == [b"3", b"5"]
    assert seen(node, topic, 1) == [b"4"]


def test_records_and_columns_in_one_transaction(node: Server, client: Client, topic: str) -> None:
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    transaction.begin()
    with ColumnProducer(client, transaction=transaction) as many, Producer(client, None, transaction) as one:
        many.send(topic, rows(b"columns", partition=[0]))
        one.send(topic, b"record", partition=1)
        transaction.commit()

    settled(client, topic, 0)
    settled(client, topic, 1)
    assert (seen(node, topic, 0), seen(node, topic, 1)) == ([b"columns"], [b"record"])


def test_offsets_count_with_the_commit_and_not_before(node: Server, client: Client, topic: str) -> None:
    group, place = f"{topic}-group", TopicPartition(topic, 1)
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    for offset, commit in ((1, True), (2, False), (3, True)):
        transaction.begin()
        transaction.send_offsets(group, {place: (offset, f"batch {offset}")})
        transaction.commit() if commit else transaction.abort()

        expected = offset if commit else offset - 1
        told = GroupAdmin(client).committed(group, stable=True)[place]
        assert (told.offset, told.metadata) == (expected, f"batch {expected}")
        assert committed_offsets(node.bootstrap, group, topic) == {1: expected}


def test_stable_offsets_wait_for_an_open_transaction(node: Server, client: Client, topic: str) -> None:
    group, place = f"{topic}-group", TopicPartition(topic, 0)
    GroupAdmin(client).commit(group, {place: 1}, "first")
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    transaction.begin()
    transaction.send_offsets(group, {place: (2, "")})

    assert GroupAdmin(client).committed(group)[place].offset == 1
    with Client(node.bootstrap, ClientSettings(default_api_timeout_ms=200)) as hasty:
        with pytest.raises(Retriable) as caught:
            GroupAdmin(hasty).committed(group, stable=True)
        assert caught.value.code is ErrorCode.UNSTABLE_OFFSET_COMMIT
    transaction.commit()
    assert GroupAdmin(client).committed(group, stable=True)[place].offset == 2


def test_what_was_ended_once_may_be_told_again(node: Server, client: Client, topic: str) -> None:
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    transaction.begin()
    with ColumnProducer(client, transaction=transaction) as producer:
        producer.send(topic, rows(b"once", partition=[0]))
    for _ in range(3):
        end_transaction(client, transaction.id, transaction.identity, commit=True)

    settled(client, topic)
    assert seen(node, topic) == [b"once"]
    with pytest.raises(ProtocolError) as caught:
        end_transaction(client, transaction.id, transaction.identity, commit=False)
    assert caught.value.code is ErrorCode.INVALID_TXN_STATE


def test_a_zombie_neither_writes_nor_ends_nor_goes_on(node: Server, client: Client, topic: str) -> None:
    zombie = Transaction(client, f"{topic}-id")
    zombie.initiate()
    zombie.begin()
    producer = ColumnProducer(client, transaction=zombie)
    producer.send(topic, rows(b"undead", partition=[0]))
    producer.flush()
    heir = Transaction(client, f"{topic}-id")
    heir.initiate()
    held = zombie.identity

    producer.send(topic, rows(b"undead too", partition=[1]))
    with pytest.raises(Fenced):
        producer.flush()
    with pytest.raises(Fenced):
        zombie.commit()
    with pytest.raises(Fenced):
        Transaction(client, f"{topic}-id").initiate(held)
    producer.close()
    assert heir.initiate(heir.identity).identity.epoch > held.epoch
    assert seen(node, topic) == []


def test_a_holder_who_did_not_hear_the_answer_is_given_it_again(client: Client, topic: str) -> None:
    """What a retry relies on. So two who know one identity are not kept apart by it: a newcomer's is needed."""
    first = Transaction(client, f"{topic}-id")
    held = first.initiate().identity
    renewed = first.initiate(held).identity

    assert Transaction(client, f"{topic}-id").initiate(held).identity == renewed
    assert Transaction(client, f"{topic}-id").initiate().identity != renewed
    with pytest.raises(Fenced):
        first.initiate(renewed)


def test_a_holder_aborts_what_it_left_open_itself(node: Server, client: Client, topic: str) -> None:
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    transaction.begin()
    with ColumnProducer(client, transaction=transaction) as producer:
        producer.send(topic, rows(b"left open", partition=[0]))
        producer.flush()
        transaction.initiate(transaction.identity)
        transaction.begin()
        producer.send(topic, rows(b"anew", partition=[0]))
        transaction.commit()

    settled(client, topic)
    assert seen(node, topic) == [b"anew"]


def test_readers_agree_on_transactions_that_are_interleaved(
    node: Server, client: Client, make_topic: Callable[..., str]
) -> None:
    """Three producers in turns, hundreds of small batches, read in fetches of a few batches."""
    topic, dice = make_topic(1), random.Random(4)
    place = TopicPartition(topic, 0)
    transactions = [Transaction(client, f"{topic}-{number}") for number in range(3)]
    producers = [ColumnProducer(client, ProducerSettings(), each) for each in transactions]
    loose = ColumnProducer(client)
    expected: list[bytes] = []
    pending: dict[int, list[bytes]] = {}
    for each in transactions:
        each.initiate()
    for step in range(150):
        who = dice.randrange(4)
        value = b"%d by %d" % (step, who)
        if who == 3:
            loose.send(topic, rows(value, partition=[0]))
            loose.flush()
            expected.append(value)
        elif who in pending and dice.random() < 0.3:
            mine = pending.pop(who)
            if dice.random() < 0.5:
                transactions[who].commit()
                expected += mine
            else:
                transactions[who].abort()
        else:
            if who not in pending:
                transactions[who].begin()
            producers[who].send(topic, rows(value, value, partition=[0, 0]))
            producers[who].flush()
            pending.setdefault(who, []).extend([value, value])
    for who in pending:
        transactions[who].abort()
    for each in [*producers, loose]:
        each.close()

    settled(client, topic)
    committed = records(client, place, committed=True)
    assert sorted(value for _, value in committed if value) == sorted(expected)
    assert [value for _, value in committed] == seen(node, topic)
    assert columns(client, place, committed=True) == committed
    everything = records(client, place, committed=False)
    assert [value for _, value in everything] == seen(node, topic, committed=False)
    assert columns(client, place, committed=False) == everything


def test_our_readers_on_what_others_aborted(
    client: Client, topic: str, transactor: Callable[..., Transactor]
) -> None:
    place = TopicPartition(topic, 0)
    other = transactor("confluent", f"{topic}-other")
    for value, commit in (("1", False), ("2", True), ("3", False)):
        other.write(topic, value, commit=commit)

    settled(client, topic)
    assert [value for _, value in records(client, place, committed=True)] == [b"2"]
    assert [value for _, value in columns(client, place, committed=True)] == [b"2"]
