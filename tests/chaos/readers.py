"""Groups that read along: members that come to know every record, and commit how far they are.

What a member has read it notes by partition and offset. A record that was read once is there for good: whoever finds
another at that place in the end has been shown what was not committed.
"""

from __future__ import annotations

import threading
import time
import traceback
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, TopicPartition

from chaos.writers.confluent import QUIET, talkative

COMMIT_EVERY_S = 0.5


class GroupReader:
    """One group: several members, each in a thread."""

    def __init__(
        self,
        name: str,
        bootstrap: str,
        source: str,
        partitions: int,
        members: int = 2,
        protocol: str = "classic",
        debug: bool = False,
    ) -> None:
        self.name, self.bootstrap, self.source, self.partitions = name, bootstrap, source, partitions
        self.protocol, self._debug = protocol, debug
        self.seen: dict[tuple[int, int], bytes] = {}
        self.twice = 0  # records that came again, which a group may see after a rebalance
        self.changed: list[str] = []  # records that came again as others
        self.problem: str | None = None
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._guarded, name=f"{name}-{at}", daemon=True) for at in range(members)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)
            if thread.is_alive():
                self.problem = self.problem or f"{thread.name} did not come to its end"

    @property
    def progress(self) -> int:
        return len(self.seen) + self.twice

    def _guarded(self) -> None:
        try:
            self._read()
        except Exception:
            self.problem = traceback.format_exc()

    def _read(self) -> None:
        told = {"bootstrap.servers": self.bootstrap, "group.id": self.name, "enable.auto.commit": False}
        told |= {"auto.offset.reset": "earliest", "fetch.wait.max.ms": 100, "group.protocol": self.protocol}
        if self.protocol == "classic":
            told |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
            told["partition.assignment.strategy"] = "cooperative-sticky"
        consumer = Consumer(QUIET | told | talkative(self._debug, threading.current_thread().name))
        consumer.subscribe([self.source])
        due = time.monotonic() + COMMIT_EVERY_S
        while not self._over.is_set():
            for message in consumer.consume(200, timeout=0.1):
                error = message.error()
                if error is None:
                    self._note(message.partition(), message.offset(), message.value())
                elif error.fatal():
                    raise KafkaException(error)
            if time.monotonic() > due:
                due = time.monotonic() + COMMIT_EVERY_S
                self._commit(consumer)
        self._commit(consumer)
        consumer.close()

    def _commit(self, consumer: Consumer) -> None:
        try:
            consumer.commit(asynchronous=False)
        except KafkaException:
            return  # in a rebalance, or while nobody coordinates: the next one says all that this would have

    def _note(self, partition: int, offset: int, value: bytes) -> None:
        before = self.seen.setdefault((partition, offset), value)
        if before is not value:
            self.twice += 1
            if before != value:
                self.changed.append(f"{partition}@{offset}: {before!r}, then {value!r}")


class Group(Protocol):
    """Whoever reads the topic of somebody's records as a group."""

    name: str
    bootstrap: str
    source: str
    partitions: int


def committed(group: Group) -> dict[int, int]:
    """How far a group is, by what the coordinator says."""
    consumer = Consumer(QUIET | {"bootstrap.servers": group.bootstrap, "group.id": group.name})
    try:
        asked = [TopicPartition(group.source, each) for each in range(group.partitions)]
        return {each.partition: each.offset for each in consumer.committed(asked, timeout=30)}
    finally:
        consumer.close()


def wait_for(group: Group, ends: dict[int, int], patience_s: float = 120.0) -> bool:
    """Whether the group commits up to these ends, however long it takes, as long as it gets on."""
    best, until = -1, time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            places = committed(group)
        except KafkaException:
            places = {}
        if all(places.get(partition, -1) >= end for partition, end in ends.items() if end):
            return True
        if sum(places.values()) > best:
            best, until = sum(places.values()), time.monotonic() + patience_s
        time.sleep(0.3)
    return False
