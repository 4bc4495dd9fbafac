"""From one topic to another, exactly once: what is read, what is written and how far it is, in one transaction.

    records ──read──▶ begin ─▶ copies ─▶ offsets of the group ─▶ commit       again from there
                                                              └ abort ─▶ back to what the group has committed

A copy says which record it is of, so that in the end every record has one copy, in the order of the records.

Partitions are assigned by hand: whoever takes over asks the group how far it is, and fences who was there before. That
is needed, since librdkafka may hang for good in send_offsets_to_transaction: when the broker that it takes for the
group's coordinator is left out of the metadata (its issue 5511), and often when all brokers were away at once. One that
does not get on is replaced.
"""

from __future__ import annotations

import threading
import time
import traceback

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from chaos.audit import Log, Verdict
from chaos.bankers import patiently
from chaos.writers.base import DELIVERY_MS
from chaos.writers.confluent import QUIET, talkative

PATIENCE_S = 60.0
HANGS_S = 20.0  # longer than any fault, and what it takes to mend it
BEGINNING = 0
BATCH = 500  # records a transaction; after a hang it must catch up with all writers at once


class Bridge:
    """One transactional id, carried on by one worker after another."""

    def __init__(
        self, name: str, bootstrap: str, source: str, target: str, partitions: int, debug: bool = False
    ) -> None:
        self.name, self.bootstrap, self.source, self.target = name, bootstrap, source, target
        self.partitions, self._debug = partitions, debug
        self.committed = 0  # transactions
        self.replaced = 0  # workers that hung
        self.complaints: list[str] = []
        self.fatal: list[str] = []  # that a producer which does nothing wrong should never hear
        self.problem: str | None = None
        self._over = threading.Event()
        self._worker = 0  # the one that counts
        self._active = time.monotonic()  # when it last said that it is alive
        self._thread = threading.Thread(target=self._look_after, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(2 * PATIENCE_S)

    @property
    def progress(self) -> int:
        return self.committed

    def _look_after(self) -> None:
        """Have a worker at work, another if it hangs."""
        thread = self._begin()
        while not self._over.wait(0.5):
            if time.monotonic() - self._active > HANGS_S:
                self.replaced += 1
                thread = self._begin()
        thread.join(PATIENCE_S)

    def _begin(self) -> threading.Thread:
        self._worker += 1
        self._active = time.monotonic()
        thread = threading.Thread(target=self._guarded, args=(self._worker,), daemon=True)
        thread.start()
        return thread

    def _counts(self, worker: int) -> bool:
        return self._worker == worker and not self._over.is_set()

    def _guarded(self, worker: int) -> None:
        try:
            while self._counts(worker):
                self._work(worker)
        except Exception:
            self.problem = traceback.format_exc()

    def _work(self, worker: int) -> None:
        """Until it is over, or the producer is of no more use."""
        consumer = Consumer(QUIET | self._consumer_settings() | talkative(self._debug, f"{self.name}-reads"))
        producer = Producer(QUIET | self._producer_settings() | talkative(self._debug, f"{self.name}-writes"))
        try:
            patiently(producer.init_transactions)
            _assign(consumer, [TopicPartition(self.source, each) for each in range(self.partitions)])
            while self._counts(worker):
                self._active = time.monotonic()
                messages = [each for each in consumer.consume(BATCH, timeout=0.1) if each.error() is None]
                if messages:
                    self._copy(consumer, producer, messages, worker)
        except KafkaException as error:
            if self._worker == worker:  # one that was replaced hears that it is fenced
                self.complaints.append(str(error.args[0]))
                if error.args[0].fatal():
                    self.fatal.append(str(error.args[0]))
        finally:
            consumer.close()

    def _copy(self, consumer: Consumer, producer: Producer, messages: list[Message], worker: int) -> None:
        try:
            producer.begin_transaction()
            for message in messages:
                value = b"%d:%s" % (message.offset(), message.value())
                producer.produce(self.target, value, partition=message.partition())
            positions = [each for each in consumer.position(consumer.assignment()) if each.offset >= 0]
            metadata = consumer.consumer_group_metadata()
            patiently(lambda timeout: producer.send_offsets_to_transaction(positions, metadata, timeout))
            patiently(producer.commit_transaction)
            self.committed += self._worker == worker
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self.complaints.append(str(error.args[0]))
            patiently(producer.abort_transaction)
            _assign(consumer, consumer.assignment())

    def _consumer_settings(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.name,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
        }

    def _producer_settings(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.bootstrap,
            "transactional.id": self.name,
            "linger.ms": 2,
            "message.timeout.ms": DELIVERY_MS // 3,
            "transaction.timeout.ms": DELIVERY_MS // 3,
        }


def _assign(consumer: Consumer, partitions: list[TopicPartition]) -> None:
    """Read from where the group is."""
    places = consumer.committed(partitions, timeout=PATIENCE_S)
    consumer.assign(
        [TopicPartition(each.topic, each.partition, max(BEGINNING, each.offset)) for each in places]
    )


def check_bridge(verdict: Verdict, bridge: Bridge, source: Log, copies: Log) -> None:
    """Every record has one copy, in the order of the records."""
    for partition, records in source.items():
        wanted = [b"%d:%s" % (offset, value) for offset, value in sorted(records.items())]
        there = [value for _, value in sorted(copies[partition].items())]
        verdict.checked["copied"] += len(there)
        seen = set(there)
        for value in wanted:
            if value not in seen:
                verdict.note("not copied", f"{bridge.name} {partition}: {value!r}")
        if len(there) > len(seen):
            verdict.note("copied twice", f"{bridge.name} {partition}: {len(there) - len(seen)} records")
        elif len(there) == len(wanted) and there != wanted:
            verdict.note("copied out of order", f"{bridge.name} {partition}")
        elif len(there) > len(wanted):
            verdict.note(
                "copied from nowhere", f"{bridge.name} {partition}: {len(there) - len(wanted)} records"
            )
