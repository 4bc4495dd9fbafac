"""What does a step of a node cost, from a frame to its reply, for a batch and for a look at it?

It bounds the small requests that one broker can take, the edge aside (bench_turn.py). One node on a disk in memory,
leading one partition by itself:

    produce, again and again     the short way (broker/node/shortcut.py): nobody waits, nothing is noted
    produce, idempotent          the same of a producer whose batches are numbered, as most clients' are
    produce, others in turn      the whole way through decode, handler and encode
    produce, eight partitions    the whole way for a batch each, in CPU a batch
    fetch                        of the last batch
    produce, a fetch waits       a long poll is answered with the step: the end of a step has something to do

Steps of a busy node have mostly nobody to tell: then nothing is noted in the step (broker/node/step.py), and it has no
end to speak of. So Step asks at once, by direct calls, whether anybody waits and whether a flush is due; were every
batch noted and looked at when the step ends, the first row would be half as much again.

The best of many short rounds, in microseconds of CPU, since the machine may have other things to do; one of them is the
benchmark's own. On two cores, CPython 3.11: 4.6, 5.4, 8.6, 6.3, 20 and 24; before decision 26: 8.0, 8.9, 12, 9.6, 20
and 28.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator

from andiron.broker.node.node import Node
from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.effects import Connected, Flush, Flushed, Received, Woken
from andiron.model.ids import Millis
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.sim.disk import MemoryDisk
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from harness import commit

PROPERTIES = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "log.dirs": "/data",
}
NOW = Millis(1_700_000_000_000)
PRODUCE_VERSION, OLDER_VERSION, FETCH_VERSION, CREATE_VERSION = 9, 3, 12, 7
ROUNDS, STEPS_A_ROUND = 40, 250
PARTITIONS = 8


class Stepped:
    """A node that leads one partition, and frames for it."""

    def __init__(self) -> None:
        self.node = Node(NodeSettings.load(PROPERTIES), MemoryDisk(), seed=1)
        self._carry_out(self.node.start(NOW))
        while not self.node.ready:
            self._step(Woken())
        for conn in (1, 2):
            self._step(Connected(conn, "PLAINTEXT", "here"))
        topic = CreatableTopic("t", num_partitions=PARTITIONS, replication_factor=1)
        self.send(self.frame(CreateTopicsRequest([topic], 1_000), CREATE_VERSION))
        while (
            "t" not in self.node.broker.image.topics
            or self.node.broker.replica_manager.peek(("t", PARTITIONS - 1)) is None
        ):
            self._step(Woken())

    def _step(self, event: object) -> None:
        self._carry_out(self.node.step(event, NOW))

    def _carry_out(self, effects: list) -> None:
        for effect in effects:
            if isinstance(effect, Flush):
                self._step(Flushed(effect.token, None))

    @staticmethod
    def frame(body: object, version: int) -> bytes:
        return encode_request_header(type(body).__api_key__, version, 1, "bench") + encode_message(
            body, version
        )

    def send(self, frame: bytes, conn: int = 1) -> None:
        self._carry_out(self.node.step(Received(conn, 1, memoryview(bytearray(frame))), NOW))

    def produce(self, version: int = PRODUCE_VERSION, partitions: int = 1, **identity: int) -> bytes:
        records = bytes(build([Record(0, NOW, None, bytes(100))], **identity))
        each = [PartitionProduceData(number, records) for number in range(partitions)]
        return self.frame(
            ProduceRequest(None, -1, 1_000, [TopicProduceData("t", partition_data=each)]), version
        )

    def numbered(self) -> Iterator[bytes]:
        """As many requests of an idempotent producer as are measured, made before."""
        count = ROUNDS * STEPS_A_ROUND
        identity = {"producer_id": 7, "producer_epoch": 0}
        return iter([self.produce(**identity, base_sequence=sequence) for sequence in range(count)])

    def fetch(self, offset: int, wait_ms: int) -> bytes:
        wanted = FetchTopic(
            "t", partitions=[FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)]
        )
        return self.frame(FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=[wanted]), FETCH_VERSION)


def best(once: Callable[[], None], steps: int) -> float:
    """CPU microseconds a step, in the best of the rounds."""
    spent = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(STEPS_A_ROUND):
            once()
        spent.append((time.process_time() - started) / STEPS_A_ROUND / steps * 1e6)
    return round(min(spent), 2)


def main() -> None:
    here = Stepped()
    one, log = here.produce(), here.node.broker.replica_manager.peek(("t", 0)).log
    older = here.produce(version=OLDER_VERSION)  # what the short way was not learnt from
    numbered, spread = here.numbered(), here.produce(partitions=PARTITIONS)

    def in_turn() -> None:
        here.send(one, conn=2)
        here.send(older, conn=2)

    def awaited() -> None:
        here.send(here.fetch(log.end, 10_000), conn=1)
        here.send(one, conn=2)

    figures = {
        "produce, again and again": best(lambda: here.send(one), 1),
        "produce, idempotent": best(lambda: here.send(next(numbered)), 1),
        "produce, others in turn": best(in_turn, 2),
        "produce, eight partitions": best(lambda: here.send(spread), PARTITIONS),
        "fetch": best(lambda: here.send(here.fetch(log.end - 1, 0)), 1),
        "a fetch waits, produce": best(awaited, 2),
    }
    where = {"python": platform.python_version(), "commit": commit()}
    print(json.dumps({"bench": "step", "unit": "CPU us/step", **figures, **where}), flush=True)


if __name__ == "__main__":
    main()
