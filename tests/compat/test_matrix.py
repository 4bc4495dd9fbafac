"""Every client reads what every other client wrote, in every codec, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from peers import clients, frames, jars
from peers.clients import Client, Record
from peers.clients.base import CODECS
from peers.datasets import assorted, difference
from peers.process import Server
from peers.raw import Raw

RECORDS = 2000


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", clients.ADAPTERS)
def test_every_client_reads_what_another_wrote(
    node: Server, connect: Callable[[str], Client], make_topic: Callable[..., str], writer: str, codec: str
) -> None:
    author = connect(writer)
    if codec not in author.codecs:
        pytest.skip(f"{writer} has no {codec} here")
    topic = make_topic(max_message_bytes="4000000")
    written = author.writable(assorted(RECORDS))

    offsets = author.write(topic, written, codec=codec)

    assert offsets in (list(range(len(written))), [-1] * len(written))
    expected = [replace(record, offset=offset) for offset, record in enumerate(written)]
    for reader in clients.ADAPTERS:
        found = read_all(node, reader, codec, topic, len(written))
        if found is not None:
            assert difference(expected, found) is None, f"as {reader} reads it"
            # A client that was given no timestamp chose one: from here on all must see the same.
            expected = [
                replace(want, timestamp=got.timestamp) for want, got in zip(expected, found, strict=True)
            ]


def read_all(node: Server, reader: str, codec: str, topic: str, count: int) -> list[Record] | None:
    """The topic as a client sees it; None if it is not installed or lacks the codec."""
    try:
        client = clients.connect(reader, node.bootstrap)
    except jars.Missing:
        return None
    return client.read(topic, end=count) if codec in client.codecs else None


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", clients.ADAPTERS)
def test_batches_are_stored_in_the_codec_they_were_sent_in(
    node: Server, connect: Callable[[str], Client], make_topic: Callable[..., str], writer: str, codec: str
) -> None:
    """An older librdkafka, kcat's, quietly sends plain batches where Produce is not offered from 0 on."""
    author = connect(writer)
    if codec not in author.codecs:
        pytest.skip(f"{writer} has no {codec} here")
    topic = make_topic()

    author.write(topic, [Record(None, b"the same again and again " * 20)] * 50, codec=codec)

    with Raw(node.port) as link:
        assert set(frames.batch_codecs(link.fetch(topic, 0))) == {CODECS.index(codec)}


@pytest.mark.parametrize("codec", CODECS)
def test_a_topics_own_codec_replaces_the_producers(
    node: Server, connect: Callable[[str], Client], make_topic: Callable[..., str], codec: str
) -> None:
    topic = make_topic(compression_type="uncompressed" if codec == "none" else codec)
    records = [Record(b"key %d" % n, b"value " * 20, timestamp=1_700_000_000_000 + n) for n in range(100)]

    connect("confluent").write(topic, records, codec="gzip" if codec == "lz4" else "lz4")

    with Raw(node.port) as link:
        assert set(frames.batch_codecs(link.fetch(topic, 0))) == {CODECS.index(codec)}
    assert difference(records, connect("aiokafka").read(topic, end=100)) is None
