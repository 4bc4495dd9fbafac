"""From one topic to another, exactly once: what is read, what is written and how far it is, in one transaction.

    records ──read──▶ begin ─▶ copies ─▶ offsets of the group ─▶ commit       again from there
                                                              └ abort ─▶ back to what the group has committed

A copy says which record it is of, so that in the end every record has one copy, in the order of the records.
"""

from __future__ import annotations

import threading
import traceback
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from chaos.audit import Log, Verdict
from chaos.bankers import patiently
from chaos.writers.base import DELIVERY_MS
from chaos.writers.confluent import QUIET, talkative

PATIENCE_S = 60.0
BEGINNING = 0


class Bridge:
    """One member, one transactional id."""

    def __init__(
        self, name: str, bootstrap: str, source: str, target: str, partitions: int, debug: Path | None = None
    ) -> None:
        self.name, self.bootstrap, self.source, self.target = name, bootstrap, source, target
        self.partitions, self._debug = partitions, debug
        self.committed = 0  # transactions
        self.complaints: list[str] = []
        self.fatal: list[str] = []  # that a producer which does nothing wrong should never hear
        self.problem: str | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(2 * PATIENCE_S)
        if self._thread.is_alive():
            self.problem = self.problem or f"{self.name} did not come to its end"

    @property
    def progress(self) -> int:
        return self.committed

    def _guarded(self) -> None:
        try:
            while not self._over.is_set():
                self._work()
        except Exception:
            self.problem = traceback.format_exc()

    def _work(self) -> None:
        """Until it is over, or the producer is of no more use."""
        settings, how = talkative(self._debug, f"{self.name}-consumer")
        consumer = Consumer(QUIET | self._consumer_settings() | settings, **how)
        settings, how = talkative(self._debug, f"{self.name}-producer")
        producer = Producer(QUIET | self._producer_settings() | settings, **how)
        try:
            patiently(producer.init_transactions)
            consumer.subscribe([self.source])
            while not self._over.is_set():
                messages = [each for each in consumer.consume(100, timeout=0.1) if each.error() is None]
                if messages:
                    self._copy(consumer, producer, messages)
        except KafkaException as error:
            self.complaints.append(str(error.args[0]))
            if error.args[0].fatal():
                self.fatal.append(str(error.args[0]))
        finally:
            consumer.close()

    def _copy(self, consumer: Consumer, producer: Producer, messages: list[Message]) -> None:
        try:
            producer.begin_transaction()
            for message in messages:
                value = b"%d:%s" % (message.offset(), message.value())
                producer.produce(self.target, value, partition=message.partition())
            positions = consumer.position(consumer.assignment())
            patiently(
                lambda timeout: producer.send_offsets_to_transaction(
                    [each for each in positions if each.offset >= 0],
                    consumer.consumer_group_metadata(),
                    timeout,
                )
            )
            patiently(producer.commit_transaction)
            self.committed += 1
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self.complaints.append(str(error.args[0]))
            patiently(producer.abort_transaction)
            _rewind(consumer)

    def _consumer_settings(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.name,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 500,
        }

    def _producer_settings(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.bootstrap,
            "transactional.id": self.name,
            "linger.ms": 2,
            "message.timeout.ms": DELIVERY_MS // 3,
            "transaction.timeout.ms": DELIVERY_MS // 3,
        }


def _rewind(consumer: Consumer) -> None:
    """Read again what was not committed."""
    for each in consumer.committed(consumer.assignment(), timeout=PATIENCE_S):
        at = each.offset if each.offset >= 0 else BEGINNING
        consumer.seek(TopicPartition(each.topic, each.partition, at))


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
