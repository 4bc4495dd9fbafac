"""Acknowledgements and idempotence through every client."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import clients, frames
from peers.clients import Client
from peers.clients.base import LATEST
from peers.datasets import assorted, difference
from peers.marks import each_client
from peers.process import Server
from peers.raw import Raw
from peers.waiting import eventually

OUT_OF_ORDER_SEQUENCE_NUMBER = 45
CORRUPT_MESSAGE = 2
INVALID_REQUIRED_ACKS = 21
UNKNOWN_TOPIC_OR_PARTITION = 3


@each_client("write", "read")
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_records_arrive_whatever_is_awaited(
    client: Client, node: Server, make_topic: Callable[..., str], acks: str
) -> None:
    topic = make_topic()
    records = client.writable(assorted(200, large=0))

    client.write(topic, records, acks=acks, idempotent=False)

    arrived = clients.connect("confluent", node.bootstrap)
    eventually(lambda: arrived.list_offset(topic, 0, LATEST) == len(records))
    assert difference(records, client.read(topic, end=len(records))) is None


@each_client("write", "read")
def test_an_idempotent_producer_writes_each_record_once(
    client: Client, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(partitions=2)
    records = client.writable(assorted(3000, large=0))

    for partition in (0, 1):
        client.write(topic, records, partition=partition, idempotent=True)

    for partition in (0, 1):
        assert difference(records, client.read(topic, partition=partition, end=len(records))) is None


def test_a_batch_sent_twice_is_answered_with_its_first_offset(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    batches = [frames.batch([b"a", b"b"], producer=(777, 0, first)) for first in (0, 2, 4)]
    with Raw(node.port) as link:
        sent = [frames.read_produce(link.ask(frames.produce(topic, {0: each}, acks=-1))) for each in batches]
        again = [frames.read_produce(link.ask(frames.produce(topic, {0: each}, acks=-1))) for each in batches]

    assert sent == again == [{0: (0, 0)}, {0: (0, 2)}, {0: (0, 4)}]


def test_a_gap_in_a_producers_sequence_is_refused(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as link:
        link.ask(frames.produce(topic, {0: frames.batch([b"a"], producer=(778, 0, 0))}, acks=-1))
        gap = link.ask(frames.produce(topic, {0: frames.batch([b"c"], producer=(778, 0, 2))}, acks=-1))

    assert frames.read_produce(gap)[0][0] == OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_damaged_batch_is_refused_and_the_next_one_taken(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    whole = frames.batch([b"hello"])
    damaged = whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:]
    with Raw(node.port) as link:
        refused = frames.read_produce(link.ask(frames.produce(topic, {0: damaged})))
        taken = frames.read_produce(link.ask(frames.produce(topic, {0: whole})))

    assert refused[0][0] == CORRUPT_MESSAGE
    assert taken == {0: (0, 0)}


def test_an_acks_that_does_not_exist_is_refused(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as link:
        answer = frames.read_produce(link.ask(frames.produce(topic, {0: frames.batch([b"x"])}, acks=2)))

    assert answer[0][0] == INVALID_REQUIRED_ACKS


def test_a_partition_that_is_not_there_does_not_stop_its_neighbour(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    batch = frames.batch([b"x"])
    with Raw(node.port) as link:
        answer = frames.read_produce(link.ask(frames.produce(topic, {0: batch, 9: batch})))

    assert answer[0] == (0, 0)
    assert answer[9][0] == UNKNOWN_TOPIC_OR_PARTITION


def test_answers_come_in_the_order_of_the_requests(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as link:
        asked = [
            frames.produce(topic, {0: frames.batch([b"x"])}, acks=(-1, 1)[number % 2], correlation=number)
            for number in range(50)
        ]
        link.send(b"".join(asked))
        answers = [link.receive() for _ in asked]

    assert [int.from_bytes(answer[:4], "big") for answer in answers] == list(range(50))
    assert [frames.read_produce(answer)[0] for answer in answers] == [(0, number) for number in range(50)]
