"""The walks that ARCHITECTURE.md tells are walked: what it says is called is called, and in that order.

    ### Produce                                            a heading for each walk, and a table of its hops
    | 3 | `broker/handlers/produce.py` | `handle` | … |    its file below src/andiron, and its qualified name

A real node takes the walk's request from a real socket, and every call into Andiron is noted meanwhile. A hop that is
not called after the hop before it is a page that is not true any more, or a walk that has changed without it.
"""

import contextlib
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from andiron.broker.settings.node_settings import NodeSettings
from andiron.edge.main import assemble
from andiron.model.ids import Millis
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

ROOT = Path(__file__).parents[2]
SOURCE = str(ROOT / "src" / "andiron") + "/"
PROPERTIES = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
}
TURNS_MAX = 2_000
TURN_MS = 20
BATCH = build([Record(0, 1_700_000_000_000, b"ann", b"hello")])


class Hop(NamedTuple):
    """A function that a walk passes."""

    file: str
    function: str


def hops_of(walk: str) -> list[Hop]:
    """The hops that ARCHITECTURE.md tells of a walk."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    section = re.search(rf"^### {walk}$(.*?)(?=^##|\Z)", page, re.M | re.S)
    assert section, f"ARCHITECTURE.md has no heading {walk}"
    return [Hop(*hop) for hop in re.findall(r"^\| +\d+ \| `([^`]+)` \| `([^`]+)` \|", section[1], re.M)]


@contextlib.contextmanager
def noted_calls() -> Iterator[list[Hop]]:
    """Every call of this thread into Andiron, in order."""
    calls: list[Hop] = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            calls.append(Hop(frame.f_code.co_filename.removeprefix(SOURCE), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def first_missing(hops: list[Hop], calls: list[Hop]) -> Hop | None:
    """The first hop that is not called after the one before it."""
    rest = iter(calls)
    return next((hop for hop in hops if hop not in rest), None)


class TurnedNode:
    """A node with its real edge, turned by hand, and clients on sockets."""

    def __init__(self, folder: Path) -> None:
        self.assembly = assemble(NodeSettings.load(PROPERTIES | {"log.dirs": str(folder)}))
        self.assembly.start()
        self.turn_until(lambda: self.assembly.host._node.ready)
        self.links: list[socket.socket] = []

    def turn_until(self, condition: Callable[[], bool]) -> None:
        host = self.assembly.host
        for _ in range(TURNS_MAX):
            if condition():
                return
            host.turn(Millis(host.now + TURN_MS))
        raise AssertionError("it did not come about")

    def send(self, request, version) -> socket.socket:
        """Ask on a connection of its own, which will have the answer."""
        link = socket.create_connection(("127.0.0.1", self.assembly.listeners[0].port))
        link.setblocking(False)
        self.links.append(link)
        body = encode_request_header(request.__api_key__, version, 1, "walker") + encode_message(
            request, version
        )
        link.send(len(body).to_bytes(4, "big") + body)
        return link

    def ask(self, request, version) -> None:
        """Ask, and wait for the answer."""
        link, answer = self.send(request, version), bytearray()
        self.turn_until(lambda: has_come(link, answer))

    def close(self) -> None:
        for link in self.links:
            link.close()
        self.assembly.host.connections.close_all()
        self.assembly.close()


def has_come(link: socket.socket, answer: bytearray) -> bool:
    """Take in what has come of an answer; whether that is all."""
    try:
        answer += link.recv(1 << 20)
    except BlockingIOError:
        return False
    return len(answer) >= 4 and len(answer) - 4 >= int.from_bytes(answer[:4], "big")


def create(node: TurnedNode, topic: str) -> None:
    node.ask(CreateTopicsRequest([CreatableTopic(topic, 1, 1)], timeout_ms=5_000), 7)


def produce(node: TurnedNode) -> None:
    data = TopicProduceData("orders", partition_data=[PartitionProduceData(0, bytearray(BATCH))])
    node.ask(ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[data]), 9)


def fetch_request() -> FetchRequest:
    topic = FetchTopic("orders", partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])
    return FetchRequest(max_wait_ms=60_000, min_bytes=1, max_bytes=1 << 20, topics=[topic])


def wait_for_records(node: TurnedNode) -> None:
    """A consumer that finds nothing yet."""
    fetched = node.assembly.host._node.broker.waiting
    node.send(fetch_request(), 12)
    node.turn_until(lambda: len(fetched) > 0)


def commit(node: TurnedNode) -> None:
    offsets = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])]
    node.ask(OffsetCommitRequest("billing", topics=offsets), 9)


def find_coordinator(node: TurnedNode) -> None:
    """Who asks for the first time has `__consumer_offsets` made; its first commit may still find it being loaded."""
    node.ask(FindCoordinatorRequest(key="billing"), 3)
    commit(node)


BEFORE: dict[str, Callable[[TurnedNode], None]] = {
    "Produce": wait_for_records,
    "Fetch": produce,
    "Commit an offset": find_coordinator,
}
WALKS: dict[str, Callable[[TurnedNode], None]] = {
    "Produce": produce,
    "Fetch": lambda node: node.ask(fetch_request(), 12),
    "Commit an offset": commit,
    "Create a topic": lambda node: create(node, "fresh"),
}


@pytest.fixture
def node(tmp_path):
    turned = TurnedNode(tmp_path)
    create(turned, "orders")
    yield turned
    turned.close()


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_passes_the_hops_that_the_architecture_tells(node, walk):
    BEFORE.get(walk, lambda node: None)(node)

    with noted_calls() as calls:
        WALKS[walk](node)

    hops = hops_of(walk)
    assert hops
    assert first_missing(hops, calls) is None, "\n".join(f"{hop.file} {hop.function}" for hop in calls)


def test_a_batch_of_spark_passes_the_hops_that_the_architecture_tells(tmp_path, monkeypatch):
    """Driver and tasks of a stream from topic to topic, in the order in which Spark calls them, in one thread."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from pyspark.sql.datasource import ReadAllAvailable
    from pyspark.sql.types import StringType, StructField, StructType

    from andiron.spark.connector import DefaultSource
    from andiron.spark.sink import task_report
    from unit.spark.sinking import Field, node_in, rows

    schema = StructType([StructField("value", StringType())])
    with node_in(tmp_path) as node, contextlib.closing(Field(node)) as field:
        source, target, query = field.topics.make(1), field.topics.make(1), field.new_query()
        field.topics.write(source, ["a"])
        monkeypatch.setattr(task_report.Task, "current", lambda: task_report.Task(0, query, 0, "run"))
        bootstrap = {"kafka.bootstrap.servers": node.bootstrap}
        reading = DefaultSource({**bootstrap, "subscribe": source, "startingOffsets": "earliest"})
        writing = DefaultSource({**bootstrap, "topic": target})

        with noted_calls() as calls:
            reader, sink = reading.streamReader(reading.schema()), writing.streamWriter(schema, False)
            start = reader.initialOffset()
            end = reader.latestOffset(start, ReadAllAvailable())
            fetched = [batch for each in reader.partitions(start, end) for batch in reader.read(each)]
            sink.commit([sink.write(iter([rows("A")]))], 0)
        reader.stop()

    assert sum(batch.num_rows for batch in fetched) == 1
    assert first_missing(hops_of("A Spark batch"), calls) is None, "\n".join(map(str, calls))
