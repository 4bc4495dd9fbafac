"""A group under test: its topics, who is in it, and what was written for it to read.

Each record's value tells nothing; a record is known by its partition and offset. `settled` is what a test waits
for after it changed the membership: every partition has exactly one owner, and nobody has none who could have.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from peers.members import hosting
from peers.members.hosting import Member
from peers.members.kinds import Kind
from peers.members.member import Place
from peers.process import Server
from peers.waiting import eventually

PATIENCE_S = 60.0
NUMBERS = itertools.count()
# The quickest that is safe: a member that is not killed must never be late, however busy the machine.
TIMES = {"session_ms": 30_000, "heartbeat_ms": 200}


class Group:
    """The members of one group, past and present."""

    def __init__(self, server: Server, name: str, topics: Mapping[str, int]) -> None:
        self.server = server
        self.name = name
        self.topics = dict(topics)
        self.members: list[Member] = []
        self.written: dict[Place, int] = dict.fromkeys(self.partitions, 0)
        self._producer = Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 1, "log_level": 0})

    @property
    def partitions(self) -> list[Place]:
        return [(topic, number) for topic, count in self.topics.items() for number in range(count)]

    @property
    def living(self) -> list[Member]:
        return [member for member in self.members if member.living]

    def join(
        self,
        kind: Kind,
        *,
        topics: list[str] | None = None,
        pattern: str | None = None,
        alone: bool = False,
        **more: Any,
    ) -> Member:
        """Start a member; it is not waited for. One that is to be killed must be `alone` in its process."""
        spec = {"bootstrap": self.server.bootstrap, "group": self.name, "reset": "earliest", **TIMES}
        spec |= {"assignor": kind.assignor, "protocol": kind.protocol, "pattern": pattern}
        spec["topics"] = [] if pattern else topics or list(self.topics)
        name = f"{kind}-{next(NUMBERS)}"
        member = hosting.host(kind.client, alone=alone).join(name, kind.client, spec | more)
        self.members.append(member)
        return member

    def write(self, rounds: int = 1) -> None:
        """So many records to every partition, acknowledged."""
        for _ in range(rounds):
            for place in self.partitions:
                self._send(place)
        assert self._producer.flush(PATIENCE_S) == 0

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Records keep coming while the block runs, some to every partition."""
        stopped = threading.Event()

        def pour() -> None:
            for place in itertools.cycle(self.partitions):
                self._send(place)
                if stopped.is_set():
                    return
                self._producer.poll(0)
                stopped.wait(0.003)

        thread = threading.Thread(target=pour)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()
        assert self._producer.flush(PATIENCE_S) == 0

    def grown(self, topic: str, partitions: int) -> None:
        """Somebody made the topic larger."""
        self.topics[topic] = partitions
        self.written = dict.fromkeys(self.partitions, 0) | self.written

    def settled(self, *shares: int) -> None:
        """Wait until every partition has one owner, and everyone has something who could.

        With incremental protocols that is so before the last partition has moved: whoever wants to look at the
        end of it says how large the members' shares then are.
        """
        least = min(len(self.living), len(self.written))

        def holds() -> bool:
            owned = [member.owned for member in self.living]
            if shares and sorted(map(len, owned)) != sorted(shares):
                return False
            each = sorted(place for share in owned for place in share)
            return each == sorted(self.written) and sum(map(bool, owned)) >= least

        self._wait(holds)

    def drained(self) -> None:
        """Wait until all that was written has been processed by somebody."""
        self._wait(lambda: self.expected <= {seen for member in self.members for seen in member.records})

    @property
    def expected(self) -> set[tuple[Place, int]]:
        return {(place, offset) for place, count in self.written.items() for offset in range(count)}

    def close(self) -> None:
        """End whoever still lives, without ceremony where that is possible."""
        for member in self.living:
            if member.client == "java":
                member.tell("leave")
            else:
                member.kill()

    def _send(self, place: Place) -> None:
        topic, number = place
        self._producer.produce(topic, b"%d" % self.written[place], partition=number)
        self.written[place] += 1

    def _wait(self, holds: Any) -> None:
        try:
            eventually(holds, PATIENCE_S)
        except AssertionError as failed:
            for member in self.living:
                member.ask_where()
            known = self._described()
            told = "\n".join(f"{m.name}: {len(m.owned)} owned\n{m.said()}" for m in self.members)
            raise AssertionError(f"it did not come to pass\n{known}\n{told}") from failed

    def _described(self) -> str:
        """The group as its coordinator knows it."""
        admin = AdminClient({"bootstrap.servers": self.server.bootstrap, "log_level": 0})
        try:
            found = admin.describe_consumer_groups([self.name], request_timeout=5.0)[self.name].result()
        except KafkaException as error:
            return f"{self.name}: {error}"
        shares = {each.member_id: len(each.assignment.topic_partitions) for each in found.members}
        return f"{self.name}: {found.state}, {shares}"
