"""Topics of a test's own: made, filled and read through librdkafka, which is nobody's relative here."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Sequence

from confluent_kafka import Producer

from peers import clients
from peers.clients.base import EARLIEST, LATEST, PATIENCE_S, Record
from peers.waiting import eventually


class Topics:
    """A family of topics whose names begin with `name`."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.bootstrap = bootstrap
        self.name = name
        self.client = clients.connect("confluent", bootstrap)
        self._numbers = itertools.count()

    def close(self) -> None:
        """Let go of the client, which would look for its node after the test."""
        del self.client

    def new_name(self) -> str:
        """A name that no topic has."""
        return f"{self.name}-{next(self._numbers)}"

    def make(self, partitions: int = 1, name: str | None = None, **configs: str) -> str:
        """A new topic that can be written to; settings with underscores for dots."""
        topic = name or self.new_name()
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        self.client.create_topic(topic, partitions, 1, {"retention.ms": "-1", **settings})
        self._await(topic, range(partitions))
        return topic

    def grow(self, topic: str, partitions: int) -> None:
        """More partitions, so many in all."""
        there = len(self.client.describe_topic(topic))
        self.client.create_partitions(topic, partitions)
        self._await(topic, range(there, partitions))

    def delete(self, topic: str) -> None:
        """Take the topic away, and wait until it is gone."""
        self.client.delete_topic(topic)
        eventually(lambda: topic not in self.client.topics())

    def write(
        self, topic: str, values: Iterable[str | Record], partition: int = 0, codec: str = "none"
    ) -> None:
        """Append records, or texts as values without key."""
        self.client.write(topic, as_records(values), partition=partition, codec=codec)

    def write_transaction(
        self, topic: str, values: Iterable[str | Record], *, partition: int = 0, commit: bool = True
    ) -> None:
        """Append records in a transaction of their own, and end it."""
        producer = self.begin_transaction(topic, values, partition=partition)
        if commit:
            producer.commit_transaction(PATIENCE_S)
        else:
            producer.abort_transaction(PATIENCE_S)

    def begin_transaction(
        self, topic: str, values: Iterable[str | Record], *, partition: int = 0
    ) -> Producer:
        """Append records in a transaction that stays open; its producer ends it."""
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": f"{self.name}-{secrets.token_hex(4)}",
                "transaction.timeout.ms": 900_000,
            }
        )
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for record in as_records(values):
            producer.produce(topic, record.value, record.key, partition)
        producer.flush(PATIENCE_S)
        return producer

    def delete_before(self, topic: str, offset: int, partition: int = 0) -> None:
        """Take away the records before an offset."""
        assert self.client.delete_records(topic, partition, offset) == offset

    def start(self, topic: str, partition: int = 0) -> int:
        """The offset of the first record that is still there."""
        return self.client.list_offset(topic, partition, EARLIEST)

    def end(self, topic: str, partition: int = 0) -> int:
        """The offset of the next record."""
        return self.client.list_offset(topic, partition, LATEST)

    def read(self, topic: str, partition: int = 0, *, committed: bool = True) -> list[Record]:
        """All there is in one partition."""
        return self.client.read_all(topic, partition=partition, committed=committed)

    def values(self, topic: str, *, committed: bool = True) -> list[str]:
        """The values of all partitions as sorted text."""
        partitions = sorted(self.client.describe_topic(topic))
        found = [each.value for part in partitions for each in self.read(topic, part, committed=committed)]
        return sorted((value or b"").decode() for value in found)

    def _await(self, topic: str, partitions: Sequence[int]) -> None:
        # In this order: librdkafka would remember for long that a partition had no leader.
        def led() -> bool:
            leaders = self.client.describe_topic(topic)
            return all(leaders.get(each) == 1 for each in partitions)

        eventually(led)
        eventually(lambda: all(self.end(topic, each) == 0 for each in partitions))


def as_records(values: Iterable[str | Record]) -> list[Record]:
    """Texts become records without key."""
    return [each if isinstance(each, Record) else Record(None, each.encode()) for each in values]
