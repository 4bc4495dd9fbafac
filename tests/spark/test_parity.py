"""The same list of questions to Spark's own Kafka connector and to ours: the same rows, or both refuse.

Against an Andiron node, which by that is also tested with the stock connector. Where its jars cannot be had
(tests/peers/jars.py says why) all of this is skipped.

A scenario that reads what is there is a row of `READS`; one in which the log changes is a function below.
The topics are those of tests/peers/assortment.py.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from peers.assortment import BEGINNING, MINUTE, Assortment
from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from peers.connectors import Both

connectors = pytest.importorskip("peers.connectors", reason="pyspark is not installed")
agreed, FORMATS = connectors.agreed, connectors.FORMATS

FROM_START = {"startingOffsets": "earliest"}
PLAIN = {"subscribe": "plain"}
NEVER_MIND = {"failOnDataLoss": "false"}
BEYOND = {"startingOffsets": {"plain": {"0": 25, "1": -2, "2": 20}}}
TOO_FAR = {"endingOffsets": {"plain": {"0": 25, "1": -1, "2": -1}}, "kafkaConsumer.pollTimeoutMs": "1000"}


@dataclass(frozen=True)
class Read:
    """One question: the options, and how many rows they give; None where they are refused.

    A stream is asked too where a stream goes another way; it takes its time.
    """

    name: str
    options: dict[str, Any]
    rows: int | None
    how: str = "batch"  # or stream, or both
    says: str = ""  # a word of our refusal


READS = [
    Read("everything", PLAIN | FROM_START, 60),
    Read("a batch begins with the earliest", PLAIN, 60),
    Read("a stream begins with the latest", PLAIN, 0, "stream"),
    Read("headers", PLAIN | FROM_START | {"includeHeaders": "true"}, 60, "both"),
    Read("several topics", {"subscribe": "plain,empty,trimmed"} | FROM_START, 66),
    Read("a pattern", {"subscribePattern": "PREFIX-(plain|trimmed)"} | FROM_START, 66, "both"),
    Read("a pattern that matches nothing", {"subscribePattern": "nothing.*"} | FROM_START, 0),
    Read("assigned partitions", {"assign": {"plain": [0, 2]}} | FROM_START, 40),
    Read("a pattern of Java's", {"subscribePattern": r"PREFIX-\p{Lower}++"} | FROM_START, 93, "both"),
    Read("a pattern that is none", {"subscribePattern": r"PREFIX-\p{Lower"}, None, says="subscribePattern"),
    Read("a partition that is not there", {"assign": {"plain": [0, 7]}} | FROM_START, 20, "both"),
    Read("a topic of partitions that is not there", {"assign": {"nowhere": [0]}} | FROM_START, None),
    Read("an empty topic", {"subscribe": "empty"} | FROM_START, 0),
    # offsets
    Read("from offsets", PLAIN | {"startingOffsets": {"plain": {"0": 5, "1": -2, "2": 20}}}, 35),
    Read("from offsets", PLAIN | {"startingOffsets": {"plain": {"0": 5, "1": -2, "2": -1}}}, 35, "stream"),
    Read("from beyond the end", PLAIN | BEYOND, None, "both"),
    Read("from beyond the end, and never mind", PLAIN | BEYOND | NEVER_MIND, None),
    Read("from beyond the end, and never mind", PLAIN | BEYOND | NEVER_MIND, 20, "stream"),
    Read("up to beyond the end", PLAIN | TOO_FAR, None),
    Read("up to beyond the end, and never mind", PLAIN | TOO_FAR | NEVER_MIND, 60),
    Read("up to offsets", PLAIN | {"endingOffsets": {"plain": {"0": 5, "1": -1, "2": 0}}}, 25),
    Read(
        "from the latest to the latest",
        PLAIN | {"startingOffsets": {"plain": {"0": 20, "1": 20, "2": 20}}},
        0,
    ),
    Read("offsets of one partition alone", PLAIN | {"startingOffsets": {"plain": {"0": 5}}}, None),
    Read("offsets of a topic not subscribed to", PLAIN | {"startingOffsets": {"other": {"0": 5}}}, None),
    Read("offsets that are no JSON", PLAIN | {"startingOffsets": "{"}, None, says="startingOffsets"),
    # time
    Read("from a time", PLAIN | {"startingTimestamp": BEGINNING + 5 * MINUTE}, 45, "both"),
    Read("up to a time", PLAIN | {"endingTimestamp": BEGINNING + 5 * MINUTE}, 15),
    Read(
        "from times by partition",
        PLAIN | {"startingOffsetsByTimestamp": {"plain": dict.fromkeys("012", BEGINNING + 15 * MINUTE)}},
        15,
    ),
    Read(
        "up to times by partition",
        PLAIN | {"endingOffsetsByTimestamp": {"plain": dict.fromkeys("012", BEGINNING + 15 * MINUTE)}},
        45,
    ),
    Read(
        "from a time after its end",
        PLAIN | {"startingTimestamp": BEGINNING + 9 * MINUTE, "endingTimestamp": BEGINNING + 5 * MINUTE},
        None,
    ),
    Read("from a time after all", PLAIN | {"startingTimestamp": BEGINNING + 60 * MINUTE}, None),
    Read(
        "from a time after all, else the latest",
        PLAIN
        | {"startingTimestamp": BEGINNING + 60 * MINUTE, "startingOffsetsByTimestampStrategy": "latest"},
        0,
    ),
    Read("up to a time after all", PLAIN | {"endingTimestamp": BEGINNING + 60 * MINUTE}, 60),
    # gaps
    Read("a compacted topic", {"subscribe": "compacted"} | FROM_START, 6),
    Read("from a gap", {"subscribe": "compacted", "startingOffsets": {"compacted": {"0": 3}}}, 6),
    Read(
        "up to a gap",
        {"subscribe": "compacted", "endingOffsets": {"compacted": {"0": 97}}},
        2,
    ),
    Read(
        "a compacted topic in pieces",
        {"subscribe": "compacted", "minPartitions": "7"} | FROM_START,
        6,
        "both",
    ),
    Read(
        "committed records",
        {"subscribe": "ended", "kafka.isolation.level": "read_committed"} | FROM_START,
        13,
        "both",
    ),
    Read(
        "uncommitted records",
        {"subscribe": "ended", "kafka.isolation.level": "read_uncommitted"} | FROM_START,
        21,
    ),
    Read("whether committed is not said", {"subscribe": "ended"} | FROM_START, 21),
    Read("a topic trimmed at the front", {"subscribe": "trimmed"} | FROM_START, 6),
    Read(
        "from deleted records",
        {"subscribe": "trimmed", "startingOffsets": {"trimmed": {"0": 2}}},
        None,
    ),
    Read(
        "from deleted records, and never mind",
        {"subscribe": "trimmed", "startingOffsets": {"trimmed": {"0": 2}}, "failOnDataLoss": "false"},
        6,
    ),
    # pieces
    Read("more tasks than partitions", PLAIN | FROM_START | {"minPartitions": "7"}, 60),
    Read("tasks of few records", PLAIN | FROM_START | {"maxRecordsPerPartition": "6"}, 60),
    Read("batches of few records", PLAIN | FROM_START | {"maxOffsetsPerTrigger": "13"}, 60, "stream"),
    Read(
        "batches of few and skewed records",
        {"subscribe": "plain,trimmed", "maxOffsetsPerTrigger": "25"} | FROM_START,
        66,
        "stream",
    ),
    # refused
    Read("a topic that is not there", {"subscribe": "nowhere"} | FROM_START, None, says="nowhere"),
    Read("no topic", FROM_START, None, says="subscribe"),
    Read("two ways to say which", PLAIN | {"assign": {"plain": [0]}}, None, says="subscribe"),
    Read("an empty subscription", {"subscribe": ""}, None, says="subscribe"),
    Read("an empty pattern", {"subscribePattern": ""}, None, says="subscribePattern"),
    Read("an assignment that is no JSON", {"assign": "plain"}, None, says="assign"),
    Read("a batch from the latest", PLAIN | {"startingOffsets": "latest"}, None, says="startingOffsets"),
    Read("a batch up to the earliest", PLAIN | {"endingOffsets": "earliest"}, None, says="endingOffsets"),
    Read("a stream with an end", PLAIN | {"endingOffsets": "latest"}, None, "stream", "endingOffsets"),
    Read("no tasks", PLAIN | FROM_START | {"minPartitions": "0"}, None, says="minPartitions"),
    Read("batches of nothing", PLAIN | {"maxOffsetsPerTrigger": "x"}, None, "stream", "maxOffsetsPerTrigger"),
    Read("a deserializer", PLAIN | {"kafka.key.deserializer": "x"}, None, says="key.deserializer"),
    Read("an offset reset", PLAIN | {"kafka.auto.offset.reset": "x"}, None, says="auto.offset.reset"),
    Read("interceptors", PLAIN | {"kafka.interceptor.classes": "x"}, None, says="interceptor.classes"),
    Read("automatic commits", PLAIN | {"kafka.enable.auto.commit": "true"}, None, says="enable.auto.commit"),
    Read("no brokers", PLAIN | {"kafka.bootstrap.servers": ""}, None, says="bootstrap.servers"),
    Read("a group for the consumer", PLAIN | FROM_START | {"kafka.group.id": "mine"}, 60),
]


@pytest.fixture(scope="module")
def assortment(node: Node, both: Both) -> Assortment:
    """The topics that every read is about."""
    # A worker that takes tests of other files in between comes by here twice.
    return Assortment(Topics(node.bootstrap, f"parity-{os.getpid()}-{secrets.token_hex(4)}"))


def asked(how: str) -> list[Any]:
    return [pytest.param(each, id=each.name.replace(" ", "-")) for each in READS if each.how in (how, "both")]


@pytest.mark.parametrize("read", asked("batch"))
def test_a_batch_read_gives_the_same(read: Read, both: Both, assortment: Assortment) -> None:
    check(read, both.read(with_names(read.options, assortment)))


@pytest.mark.parametrize("read", asked("stream"))
def test_a_stream_gives_the_same(read: Read, both: Both, assortment: Assortment) -> None:
    with both.follow(with_names(read.options, assortment), once=True) as streams:
        check(read, streams.catch_up())
        if read.rows:
            streams.batches()
            streams.lag()


def test_a_read_is_cut_into_the_same_tasks(both: Both, assortment: Assortment) -> None:
    assert both.tasks(with_names(PLAIN | {"minPartitions": "6"}, assortment)) == [10] * 6


def test_one_dataframe_gives_the_same_again_and_again(both: Both, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, [str(each) for each in range(10)])

    def counts(rows: Any) -> list[int]:
        late, early = rows.where("offset >= 8"), rows.where("offset < 3")
        joined = late.select("offset").join(rows.select("offset"), "offset")
        return [each.count() for each in (late, rows, late.union(early), joined)]

    loaded = {each: both.load(each, {"subscribe": topic}) for each in FORMATS}
    assert agreed({each: counts(rows) for each, rows in loaded.items()}) == [2, 10, 5, 2]
    topics.write(topic, ["more", "and more"])
    topics.write(topic, ["elsewhere"], partition=1)
    assert agreed({each: counts(rows) for each, rows in loaded.items()}) == [4, 13, 8, 4]


def check(read: Read, outcome: Any) -> None:
    """The outcome that both had is the one that was expected."""
    if read.rows is None:
        assert not isinstance(outcome, list)
        assert read.says in outcome, outcome.says
    else:
        assert isinstance(outcome, list), outcome.says
        assert len(outcome) == read.rows


def with_names(value: Any, assortment: Assortment) -> Any:
    """The same options about the topics' real names."""
    names = assortment.names
    if isinstance(value, dict):
        return {names.get(key, key): with_names(each, assortment) for key, each in value.items()}
    if isinstance(value, str):
        by_comma = [names.get(each, each) for each in value.split(",")]
        return ",".join(by_comma).replace("PREFIX", assortment.prefix)
    return value
