"""Fetching as the protocol has it: waiting for bytes, limits, and sessions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import frames
from peers.clients import Client, Record
from peers.clients.java import Java
from peers.process import Server
from peers.raw import Raw

LONG_MS = 50_000
OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
FETCH_SESSION_ID_NOT_FOUND = 70
INVALID_FETCH_SESSION_EPOCH = 71


def fill(link: Raw, topic: str, *values: bytes, partition: int = 0) -> None:
    """Write a batch for each value."""
    for value in values:
        answer = frames.read_produce(
            link.ask(frames.produce(topic, {partition: frames.batch([value])}, acks=-1))
        )
        assert answer[partition][0] == 0


def test_a_fetch_at_the_end_waits_for_a_record(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as reader, Raw(node.port) as writer:
        reader.send(frames.fetch(topic, {0: 0}, wait_ms=LONG_MS))
        fill(writer, topic, b"hello")
        answer = frames.read_fetch(reader.receive())

    error, watermark, records = answer.partitions[0]
    assert (error, watermark) == (0, 1)
    assert b"hello" in records


def test_a_fetch_waits_until_there_are_as_many_bytes_as_it_asked_for(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    with Raw(node.port) as reader, Raw(node.port) as writer:
        reader.send(frames.fetch(topic, {0: 0}, wait_ms=LONG_MS, min_bytes=1000))
        fill(writer, topic, b"too little", b"enough " * 200)
        answer = frames.read_fetch(reader.receive())

    _, watermark, records = answer.partitions[0]
    assert watermark == 2
    assert b"too little" in records
    assert b"enough" in records


def test_a_fetch_that_waited_in_vain_is_answered_empty(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as reader:
        answer = frames.read_fetch(reader.ask(frames.fetch(topic, {0: 0}, wait_ms=50)))

    assert answer.partitions[0] == (0, 0, b"")


def test_an_error_found_in_one_log_ends_the_wait_of_all(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=2)
    with Raw(node.port) as reader:
        answer = frames.read_fetch(reader.ask(frames.fetch(topic, {0: 0, 1: 9}, wait_ms=LONG_MS)))

    assert answer.partitions[0][0] == 0
    assert answer.partitions[1][0] == OFFSET_OUT_OF_RANGE


def test_a_fetch_of_nothing_that_exists_does_not_wait(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as reader:
        answer = frames.read_fetch(reader.ask(frames.fetch(topic, {8: 0, 9: 0}, wait_ms=LONG_MS)))

    assert {error for error, _, _ in answer.partitions.values()} == {UNKNOWN_TOPIC_OR_PARTITION}


def test_an_offset_beyond_the_end_is_out_of_range(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as reader:
        answer = frames.read_fetch(reader.ask(frames.fetch(topic, {0: 7}, wait_ms=LONG_MS)))

    assert answer.partitions[0][0] == OFFSET_OUT_OF_RANGE


def test_a_batch_larger_than_the_limit_is_sent_whole_when_it_is_the_first(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    with Raw(node.port) as link:
        fill(link, topic, bytes(5000), bytes(5000))
        records = link.fetch(topic, 0, partition_bytes=100)

    assert len(frames.batch_codecs(records)) == 1


def test_the_limit_of_the_whole_answer_is_shared_by_the_partitions(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(partitions=3)
    with Raw(node.port) as link:
        for partition in range(3):
            fill(link, topic, bytes(5000), bytes(5000), partition=partition)
        answer = frames.read_fetch(link.ask(frames.fetch(topic, {0: 0, 1: 0, 2: 0}, max_bytes=12_000)))

    sizes = {number: len(records) for number, (_, _, records) in answer.partitions.items()}
    assert sizes[0] > 10_000
    assert sum(sizes.values()) <= 12_000


def test_an_incremental_fetch_tells_only_what_is_new(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=3)
    with Raw(node.port) as link:
        full = frames.read_fetch(link.ask(frames.fetch(topic, {0: 0, 1: 0, 2: 0}, wait_ms=0, epoch=0)))
        assert full.partitions.keys() == {0, 1, 2}
        if not full.session:
            pytest.skip("the broker gave no session, as it may")
        fill(link, topic, b"news", partition=1)
        news = frames.read_fetch(link.ask(frames.fetch(topic, {}, session=full.session, epoch=1)))

    assert (news.error, news.session) == (0, full.session)
    assert news.partitions.keys() == {1}
    assert b"news" in news.partitions[1][2]


def test_a_partition_forgotten_in_a_session_is_not_told_again(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(partitions=2)
    with Raw(node.port) as link:
        full = frames.read_fetch(link.ask(frames.fetch(topic, {0: 0, 1: 0}, wait_ms=0, epoch=0)))
        if not full.session:
            pytest.skip("the broker gave no session, as it may")
        fill(link, topic, b"unheard", partition=0)
        fill(link, topic, b"heard", partition=1)
        ask = frames.fetch(topic, {}, session=full.session, epoch=1, forgotten=[0])
        left = frames.read_fetch(link.ask(ask))

    assert left.partitions.keys() == {1}


def test_a_session_is_known_by_id_and_epoch(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    with Raw(node.port) as link:
        full = frames.read_fetch(link.ask(frames.fetch(topic, {0: 0}, wait_ms=0, epoch=0)))
        if not full.session:
            pytest.skip("the broker gave no session, as it may")
        early = frames.read_fetch(link.ask(frames.fetch(topic, {}, session=full.session, epoch=5)))
        stranger = frames.read_fetch(
            link.ask(frames.fetch(topic, {}, session=full.session ^ 0x5555, epoch=1))
        )

    assert early.error == INVALID_FETCH_SESSION_EPOCH
    assert stranger.error == FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.java
def test_a_java_consumer_of_many_partitions_sees_every_record_in_order(
    connect: Callable[[str], Client], make_topic: Callable[..., str]
) -> None:
    """It fetches in sessions; small fetches make it take many of them."""
    java = connect("java")
    assert isinstance(java, Java)
    topic = make_topic(partitions=8)
    for partition in range(8):
        java.write(topic, [Record(b"k", bytes(100))] * (50 * partition), partition=partition)
    total = sum(50 * partition for partition in range(8))

    found = java.call("poll_all", topic=topic, count=total, config={"max.partition.fetch.bytes": 1000})

    assert found == {str(partition): list(range(50 * partition)) for partition in range(1, 8)}
