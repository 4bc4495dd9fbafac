"""What is in a produced batch: what no consumer could read is refused, a header that lies is put right, bad records are
told one by one. All of it has been asked of Apache Kafka 4.3.1 as well (ANDIRON_TEST_PEER=kafka)."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator

import google_crc32c
import pytest
from confluent_kafka import KafkaError, Producer

from peers import frames
from peers.asking import Asker
from peers.process import Server
from peers.raw import Raw

UNKNOWN_SERVER_ERROR, INVALID_TIMESTAMP, INVALID_PRODUCER_EPOCH, INVALID_RECORD = -1, 32, 47, 87
GZIP = 1
ATTRIBUTES, LAST_DELTA, BASE_TIME, MAX_TIME, COUNT = 21, 23, 27, 35, 57
MAX_TIMESTAMP = -3
NOW = int(time.time() * 1000)


@pytest.fixture
def link(node: Server) -> Iterator[Raw]:
    with Raw(node.port) as link:
        yield link


def forged(batch: bytes, *changes: tuple[int, bytes]) -> bytes:
    """A batch with other bytes in some places, and the checksum of what it is now."""
    raw = bytearray(batch)
    for place, field in changes:
        raw[place : place + len(field)] = field
    raw[8:12] = (len(raw) - 12).to_bytes(4, "big")
    raw[17:21] = google_crc32c.value(bytes(raw[21:])).to_bytes(4, "big")
    return bytes(raw)


def packed(batch: bytes) -> bytes:
    """The same batch, its records packed with gzip."""
    squeezed = zlib.compressobj(wbits=31)
    return forged(
        batch[:61] + squeezed.compress(batch[61:]) + squeezed.flush(), (ATTRIBUTES, GZIP.to_bytes(2, "big"))
    )


def number(value: int, size: int = 4) -> bytes:
    return value.to_bytes(size, "big", signed=True)


def counting(batch: bytes, count: int) -> bytes:
    return forged(batch, (COUNT, number(count)), (LAST_DELTA, number(count - 1)))


ONE, THREE = frames.batch([b"v"], timestamp=NOW), frames.batch([b"v", b"w", b"x"], timestamp=NOW)
NONSENSE = {
    "random bytes": forged(ONE, (61, bytes(range(200, 200 + len(ONE) - 61)))),
    "a count too large": counting(ONE, 2),
    "a count of all there could be": counting(ONE, 2**31 - 1),
    "a count too small": counting(THREE, 2),
    "a byte too many": forged(ONE + b"\0"),
    "a byte too few": forged(ONE[:-1]),
    "a record cut short by its length": forged(ONE, (61, b"\x0c")),
    "a key of more bytes than there are": forged(ONE, (65, b"\x7e")),
    "minus one header": forged(ONE, (len(ONE) - 1, b"\x01")),
    "more headers than there are": forged(ONE, (len(ONE) - 1, b"\x02")),
    "a varint without an end": forged(ONE, (61, b"\xff" * (len(ONE) - 61))),
    "no records": counting(forged(ONE[:61]), 0),
    "control records": forged(ONE, (ATTRIBUTES, b"\0\x20")),
}


# What Kafka makes of some: it stumbles over a length without an end, and looks less closely at what is packed.
KAFKA_SAYS = {
    ("random bytes", False): UNKNOWN_SERVER_ERROR,
    ("a varint without an end", False): UNKNOWN_SERVER_ERROR,
    ("a record cut short by its length", True): 0,
}


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("what", NONSENSE)
def test_what_no_consumer_could_read_is_refused_under_a_right_checksum(
    node: Server, link: Raw, make_topic: Callable[..., str], what: str, is_packed: bool
) -> None:
    topic = make_topic()
    bad = packed(NONSENSE[what]) if is_packed and what != "control records" else NONSENSE[what]

    code, _ = frames.read_produce(link.ask(frames.produce(topic, {0: bad})))[0]

    differs = node.name == "kafka" and (what, is_packed) in KAFKA_SAYS
    assert code == (KAFKA_SAYS[what, is_packed] if differs else INVALID_RECORD)
    if code:
        assert frames.read_produce(link.ask(frames.produce(topic, {0: ONE})))[0] == (0, 0)


@pytest.mark.parametrize("pack", [lambda batch: batch, packed], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("base", "claimed", "kept"),
    [(-1, 0, -1), (-1, 5, -1), (NOW, 0, NOW), (NOW, NOW - 1, NOW), (NOW, NOW + 1, NOW), (NOW, -1, NOW)],
    ids=["none, 1970", "none, later", "now, 1970", "now, before", "now, after", "now, none"],
)
def test_the_largest_timestamp_is_that_of_the_records(
    link: Raw,
    make_topic: Callable[..., str],
    base: int,
    claimed: int,
    kept: int,
    pack: Callable[[bytes], bytes],
) -> None:
    topic = make_topic()
    sent = pack(forged(THREE, (BASE_TIME, number(base, 8)), (MAX_TIME, number(claimed, 8))))

    assert frames.read_produce(link.ask(frames.produce(topic, {0: sent})))[0] == (0, 0)

    stored = link.fetch(topic, 0)
    assert stored[MAX_TIME : MAX_TIME + 8] == number(kept, 8)
    assert int.from_bytes(stored[17:21], "big") == google_crc32c.value(bytes(stored[21:]))
    assert stored[61:] == sent[61:]


def test_an_epoch_that_no_producer_has_is_refused(link: Raw, make_topic: Callable[..., str]) -> None:
    sent = frames.batch([b"v"], producer=(77, -2, 0))

    answer = frames.read_produce(link.ask(frames.produce(make_topic(), {0: sent})))

    assert answer[0][0] == INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("pack", [lambda batch: batch, packed], ids=["plain", "gzip"])
def test_records_without_a_key_are_told_one_by_one(
    link: Raw, make_topic: Callable[..., str], pack: Callable[[bytes], bytes]
) -> None:
    topic = make_topic(cleanup_policy="compact")
    keys = [b"k", None, b"k", None, b"k"]
    sent = pack(frames.batch([b"v"] * 5, keys=keys, timestamp=NOW))

    refused = frames.read_refusals(link.ask(frames.produce(topic, {0: sent})))[0]

    assert (refused.code, refused.records) == (INVALID_RECORD, [1, 3])
    assert refused.message


def test_records_outside_the_limits_of_time_are_told_one_by_one(
    link: Raw, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(message_timestamp_before_max_ms="60000")
    sent = frames.batch([b"v"] * 3, timestamp=NOW - 3_600_000)

    refused = frames.read_refusals(link.ask(frames.produce(topic, {0: sent})))[0]

    assert (refused.code, refused.records) == (INVALID_TIMESTAMP, [0, 1, 2])


def test_librdkafka_fails_the_records_that_were_bad_and_tells_the_others_apart(
    node: Server, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(cleanup_policy="compact")
    outcome: dict[int, int | None] = {}
    producer = Producer({"bootstrap.servers": node.bootstrap, "linger.ms": 500, "retries": 0})
    for each in range(100):
        key = None if each % 10 == 3 else b"k%d" % each

        def note(error: KafkaError | None, _: object, each: int = each) -> None:
            outcome[each] = error and error.code()

        producer.produce(topic, b"v", key, partition=0, on_delivery=note)
    producer.flush(30)

    assert {each for each, code in outcome.items() if code == INVALID_RECORD} == set(range(3, 100, 10))
    assert set(outcome.values()) == {INVALID_RECORD, KafkaError._INVALID_DIFFERENT_RECORD}


def test_librdkafkas_records_without_a_timestamp_are_stored_as_having_none(
    node: Server, link: Raw, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    producer = Producer({"bootstrap.servers": node.bootstrap})
    for _ in range(3):
        producer.produce(topic, b"v", partition=0, timestamp=-1)
    producer.flush(30)

    stored = link.fetch(topic, 0)

    assert stored[BASE_TIME : BASE_TIME + 16] == number(-1, 8) * 2


def test_where_no_record_has_a_timestamp_the_latest_is_the_first(
    asker: Asker, link: Raw, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    for _ in range(2):
        link.ask(frames.produce(topic, {0: frames.batch([b"v", b"w"], timestamp=-1)}))

    wanted = [{"partition_index": 0, "timestamp": each} for each in (MAX_TIMESTAMP, 0)]
    found = [
        asker.ask(
            "list_offsets",
            7,
            replica_id=-1,
            isolation_level=0,
            topics=[{"name": topic, "partitions": [each]}],
        )
        for each in wanted
    ]

    answers = [answer.topics[0].partitions[0] for answer in found]
    assert [(answer.offset, answer.error_code) for answer in answers] == [(0, 0), (-1, 0)]
