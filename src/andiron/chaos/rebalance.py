"""The sixth step: a group is scaled from one member to three, and the pause that this costs is measured.

    partition 4   · · · · · · · ─────── · · · · ·      the longest time between two records that the group was given
                        │ two members join    │ given to another member
    member 1      · · · · · · · ── · · · · · · ·       the same, of all that one member was given

Three ways to rebalance: eager (all stop, all begin again), cooperative (those that move stop), and the protocol of
KIP-848, in which the broker decides. The members are confluent-kafka's, since our own client reads without groups;
where it is not installed this step is left out, and the report says so.

Records come to every partition all the time, so that a pause shows. What is measured is what an application sees: it
has the client's own poll and heartbeat intervals in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, NamedTuple

from andiron.chaos.load import PATIENT, make_topic
from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.model.errors import ProtocolError

PARTITIONS = 6
MEMBERS = 3
RATE = 40.0  # records a second, of each partition
PATIENCE_S = 30.0
LIBRARY = "confluent_kafka"
QUICKLY = {"heartbeat.interval.ms": 500, "session.timeout.ms": 6000}
KINDS: dict[str, dict[str, Any]] = {
    "eager": {**QUICKLY, "partition.assignment.strategy": "range"},
    "cooperative": {**QUICKLY, "partition.assignment.strategy": "cooperative-sticky"},
    "KIP-848": {"group.protocol": "consumer"},
}


class ReceivedRecord(NamedTuple):
    """A record that a member of the group received: when, who, and of which partition."""

    at: float
    member: int
    partition: int


class Scaling(NamedTuple):
    """What scaling a group cost, in milliseconds."""

    kind: str
    settled: float  # until every member had its share
    partitions: dict[int, float]  # the longest pause of each
    members: dict[int, float]  # of those who were there before; of those who came, until their first record
    moved: list[int]


def is_possible() -> bool:
    """Whether there is a client that can be a member."""
    return find_spec(LIBRARY) is not None


def longest_gap(times: list[float], begin: float, end: float) -> float:
    """The longest time between two of them, of those that touch the span."""
    inside = [each for each in times if begin <= each <= end]
    before = [each for each in times if each < begin][-1:]
    ordered = [*before, *inside]
    gaps = [after - at for at, after in pairwise(ordered)]
    return max(gaps, default=end - begin)


def measure(kind: str, given: list[ReceivedRecord], scaled: float, settled: float, end: float) -> Scaling:
    """From what members were given to pauses."""
    by_partition: dict[int, list[ReceivedRecord]] = {number: [] for number in range(PARTITIONS)}
    by_member: dict[int, list[float]] = {number: [] for number in range(MEMBERS)}
    for each in sorted(given):
        by_partition[each.partition].append(each)
        by_member[each.member].append(each.at)
    members = {0: longest_gap(by_member[0], scaled, end)}
    for number in range(1, MEMBERS):
        members[number] = by_member[number][0] - scaled if by_member[number] else end - scaled
    return Scaling(
        kind,
        1000 * (settled - scaled),
        {
            number: round(1000 * longest_gap([each.at for each in own], scaled, end), 1)
            for number, own in by_partition.items()
        },
        {number: round(1000 * pause, 1) for number, pause in members.items()},
        [number for number, own in by_partition.items() if len({each.member for each in own}) > 1],
    )


class ScaledGroup:
    """A group, its members in threads, and a feeder for its topic."""

    def __init__(self, bootstrap: str, kind: str) -> None:
        self._bootstrap, self._kind = bootstrap, kind
        self._topic = f"chaos-group-{kind.lower()}"
        self._over = threading.Event()
        self._given: list[ReceivedRecord] = []
        self._shares: dict[int, int] = {}
        self._threads: list[threading.Thread] = []

    def run(self, seconds: float) -> Scaling:
        """Scale it from one to three."""
        make_topic(self._bootstrap, self._topic, PARTITIONS, {"min.insync.replicas": "2"})
        self._begin(self._feed)
        try:
            self._begin(self._be_member, 0)
            self._wait_for({0: PARTITIONS})
            time.sleep(seconds)
            scaled = time.monotonic()
            for number in range(1, MEMBERS):
                self._begin(self._be_member, number)
            self._wait_for(dict.fromkeys(range(MEMBERS), PARTITIONS // MEMBERS))
            settled = time.monotonic()
            time.sleep(seconds)
            return measure(self._kind, list(self._given), scaled, settled, time.monotonic())
        finally:
            self._over.set()
            for thread in self._threads:
                thread.join(PATIENCE_S)

    def _wait_for(self, shares: Mapping[int, int]) -> None:
        """Until members have so many partitions each, or it takes too long."""
        until = time.monotonic() + PATIENCE_S
        while self._shares != shares and time.monotonic() < until:
            time.sleep(0.01)

    def _begin(self, work: Callable[..., None], *arguments: int) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _feed(self) -> None:
        with Client(self._bootstrap, PATIENT) as client, Producer(client) as producer:
            while not self._over.wait(1 / RATE):
                try:
                    for number in range(PARTITIONS):
                        producer.send(self._topic, b"tick", partition=number)
                    producer.flush()
                except ProtocolError:
                    return

    def _be_member(self, member: int) -> None:
        consumer = import_module(LIBRARY).Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": self._topic,
                "auto.offset.reset": "latest",
                "fetch.wait.max.ms": 20,
                "log_level": 0,
                **KINDS[self._kind],
            }
        )
        consumer.subscribe([self._topic])
        while not self._over.is_set():
            message = consumer.poll(0.02)
            if message is not None and message.error() is None:
                self._given.append(ReceivedRecord(time.monotonic(), member, message.partition()))
            self._shares[member] = len(consumer.assignment())
        consumer.close()
