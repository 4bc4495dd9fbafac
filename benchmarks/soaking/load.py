"""The load of a soak: a little of everything that a node keeps something in mind for, for hours.

flow      an idempotent producer, into segments that retention takes away again
ledger    transactions, each with two records, one in ten aborted
state     a thousand keys of a compacted topic, over and over
groups    that come, read, commit, leave and are deleted
topics    that come, are written to, are read by a group that stays, and are deleted

Each is a thread with a pace of its own, and counts what was acknowledged. What fails is counted and tried again: a
soak that stops at the first error is none.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

MIB = 1 << 20
VALUE = bytes(1000)
KEYS = 1_000
QUIETLY = {"enable.metrics.push": False, "log_level": 3}  # a line for each client would be all that is seen
TOPICS = {
    "flow": {"retention.ms": "60000", "segment.bytes": str(MIB), "file.delete.delay.ms": "10000"},
    "ledger": {"retention.ms": "120000", "segment.bytes": str(MIB)},
    "state": {"cleanup.policy": "compact", "segment.bytes": str(MIB), "min.cleanable.dirty.ratio": "0.2"},
}


class Load:
    """All of it, until told to stop."""

    def __init__(self, bootstrap: str, replicas: int, rate: int) -> None:
        self._bootstrap, self._replicas, self._rate = bootstrap, replicas, rate
        self._stop = threading.Event()
        self.acknowledged: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._admin = AdminClient({"bootstrap.servers": bootstrap, **QUIETLY})
        rounds = (self._flow, self._ledger, self._state, self._groups, self._topics)
        self._threads = [threading.Thread(target=self._go_on, args=(each,)) for each in rounds]

    def start(self) -> None:
        """Make the topics, and begin."""
        for name, settings in TOPICS.items():
            self._create(name, 4, settings)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish what it is at."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _go_on(self, round: Callable[[], None]) -> None:
        """A round may be given up at any error, and the next one begins with clients of its own."""
        while not self._stop.is_set():
            try:
                round()
            except Exception as error:
                self.failed[f"{round.__name__[1:]}: {type(error).__name__}"] += 1
                self._stop.wait(1.0)

    def _create(self, name: str, partitions: int, settings: dict[str, str]) -> None:
        made = self._admin.create_topics([NewTopic(name, partitions, self._replicas, config=settings)])
        made[name].result(30)

    def _producer(self, **settings: object) -> Producer:
        return Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 20, **QUIETLY, **settings})

    # ── records ──────────────────────────────────────────────────────────────────────

    def _flow(self) -> None:
        producer = self._producer(**{"enable.idempotence": True})
        while not self._stop.wait(0.1):
            for _ in range(self._rate // 10):
                producer.produce("flow", VALUE, on_delivery=self._noted("flow"))
            producer.poll(0)
        producer.flush(30)

    def _state(self) -> None:
        producer, number = self._producer(**{"enable.idempotence": True}), 0
        while not self._stop.wait(0.1):
            for _ in range(self._rate // 10):
                number += 1
                producer.produce("state", VALUE, b"%d" % (number % KEYS), on_delivery=self._noted("state"))
            producer.poll(0)
        producer.flush(30)

    def _ledger(self) -> None:
        producer, number = self._producer(**{"transactional.id": "soak"}), 0
        producer.init_transactions(30)
        while not self._stop.wait(0.02):
            number += 1
            producer.begin_transaction()
            for _ in range(2):
                producer.produce("ledger", VALUE[:100], partition=number % 4)
            if number % 10:
                producer.commit_transaction(30)
                self.acknowledged["transactions"] += 1
            else:
                producer.abort_transaction(30)

    def _noted(self, what: str) -> Callable[[object, object], None]:
        def noted(error: object, message: object) -> None:
            (self.failed if error else self.acknowledged)[what] += 1

        return noted

    # ── what comes and goes ──────────────────────────────────────────────────────────

    def _groups(self) -> None:
        name = f"soak-{time.time_ns()}"
        protocol = {"group.protocol": "consumer"} if self.acknowledged["groups"] % 2 else {}
        self._read(name, "flow", seconds=2.0, **protocol)
        self._admin.delete_consumer_groups([name])[name].result(30)
        self.acknowledged["groups"] += 1

    def _topics(self) -> None:
        name = f"passing-{time.time_ns()}"
        self._create(name, 2, {})
        producer = self._producer()
        producer.produce(name, VALUE)
        producer.flush(30)
        consumer = self._consumer("walker")
        consumer.commit(offsets=[TopicPartition(name, 0, 1), TopicPartition(name, 1, 1)], asynchronous=False)
        consumer.close()
        self._admin.delete_topics([name])[name].result(30)
        self.acknowledged["topics"] += 1
        self._stop.wait(2.0)

    def _consumer(self, group: str, **settings: object) -> Consumer:
        common = {"bootstrap.servers": self._bootstrap, "group.id": group, "auto.offset.reset": "latest"}
        return Consumer({**common, "enable.auto.commit": False, **QUIETLY, **settings})

    def _read(self, group: str, topic: str, seconds: float, **settings: object) -> None:
        consumer = self._consumer(group, **settings)
        consumer.subscribe([topic])
        until, seen = time.monotonic() + seconds, 0
        while time.monotonic() < until or (not seen and time.monotonic() < until + 10):
            seen += len(consumer.consume(500, 0.2))
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            self.failed[f"commits: {error.args[0].name()}"] += 1
        consumer.close()
