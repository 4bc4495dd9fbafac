"""Two nodes in processes of their own, a copy from one to the other as the command makes it, and topics to copy."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.reader import PartitionReader
from andiron.client.blocking.transaction import Transaction
from andiron.copying.cluster_side import SOURCE, TARGET, Side
from andiron.copying.copier import Copier
from andiron.copying.copy_options import CopyOptions
from andiron.copying.copy_start import CopyStart
from andiron.model.ids import TopicPartition
from andiron.records.record import Record
from peers.node import Node

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, Node]]:
    """A source and a target for all tests of this process; each test has topics of its own."""
    with Node(tmp_path_factory.mktemp("source")) as source, Node(tmp_path_factory.mktemp("target")) as target:
        yield source, target


@dataclass
class Both:
    """Both sides, and what a test does with them."""

    source: Side
    target: Side
    topic: str

    @property
    def partition(self) -> TopicPartition:
        return TopicPartition(self.topic, 0)

    def write(self, *values: str | None, key: bytes | None = b"k", partition: int = 0) -> None:
        """Records on the source, a batch each."""
        for value in values:
            with Producer(self.source.client) as producer:
                told = None if value is None else value.encode()
                producer.send(self.topic, told, key=key, partition=partition, headers=[("h", b"1")])

    def transact(self, *values: str, commit: bool = True) -> None:
        """Records of one transaction on the source."""
        transaction = Transaction(self.source.client, self.topic)
        with Producer(self.source.client, transaction=transaction) as producer:
            transaction.initiate()
            transaction.begin()
            for value in values:
                producer.send(self.topic, value.encode(), partition=0)
            producer.flush()
            transaction.commit() if commit else transaction.abort()

    def opening(self, clock: Callable[[], float] = time.monotonic, **wishes: Any) -> CopyStart:
        """Planned, not prepared."""
        wanted = CopyOptions((self.topic,), **wishes)
        opening = CopyStart(self.source, self.target, self.source.reach(), wanted, clock=clock)
        opening.plan()
        return opening

    def copy(self, **options: Any) -> Copier:
        """A copy from the beginning to the end, or on from where one was."""
        wishes = {each.name: options.pop(each.name) for each in fields(CopyOptions) if each.name in options}
        opening = self.opening(**wishes)
        opening.prepare()
        copier = Copier(self.source, self.target, opening, **options)
        copier.run()
        opening.close()
        return copier

    def there(self, side: Side) -> list[Record]:
        """The records of the first partition, as a reader of committed ones sees them."""
        start, end = side.ends([self.partition])[self.partition]
        reader = PartitionReader(side.client, self.partition, start, end, committed=True)
        found = list(reader)
        reader.close()
        return found


@pytest.fixture
def both(nodes: tuple[Node, Node]) -> Iterator[Both]:
    """A topic on the source, named as no other test names one."""
    with Client(nodes[0].bootstrap) as reading, Client(nodes[1].bootstrap) as writing:
        source, target = Side(SOURCE, reading, "--from"), Side(TARGET, writing, "--to")
        source.reach(), target.reach()
        topic = f"t{next(NUMBERS)}"
        source.admin.create_topic(topic, 1)
        yield Both(source, target, topic)
