"""The source and the target of a copy: two clients, and what they are asked before anything is copied.

What goes wrong names the side on which it did: two clusters, two addresses, and one line to say it in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.transaction_admin import TransactionAdmin
from andiron.client.core.descriptions import EARLIEST, LATEST, Resource, ResourceType
from andiron.client.core.metadata import Topic
from andiron.client.core.outbox import ProducerIdentity
from andiron.copying.errors import CopyError
from andiron.copying.plan import TopicFacts
from andiron.copying.producer import SEQUENCES
from andiron.copying.selection import STATE_TOPIC
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition

SOURCE, TARGET = "source", "target"
_RIGHTS = {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
           ErrorCode.GROUP_AUTHORIZATION_FAILED}  # fmt: skip


@contextmanager
def on(side: str) -> Iterator[None]:
    """Errors raised inside name this side, source or target."""
    try:
        yield
    except ProtocolError as error:
        told = f"on the {side}: {error.detail}"
        if error.code in _RIGHTS:
            told += "; ask for the right to " + (
                "read and describe" if side == SOURCE else "create and write"
            )
        raise type(error)(error.code, told) from error


class Side:
    """The source or the target cluster of a copy."""

    def __init__(self, name: str, client: Client, option: str) -> None:
        self.name, self.client, self.option = name, client, option
        self.admin = Admin(client)

    def reach(self) -> str:
        """The id of the cluster; one that nobody answers for is told by its option."""
        try:
            self.client.refresh([])
        except ProtocolError as error:
            raise CopyError(f"the {self.name} does not answer: {error.detail}; see {self.option}") from error
        return self.client.metadata.cluster_id or ""

    def facts(self, topics: Iterable[Topic], *, committed: bool = False) -> dict[str, TopicFacts]:
        """Partitions, settings and offsets of some topics; with `committed`, up to the last stable offset (LSO)."""
        wanted = list(topics)
        with on(self.name):
            names = [each for topic in wanted for each in topic.names()]
            starts = self.admin.list_offsets(dict.fromkeys(names, EARLIEST))
            ends = self.admin.list_offsets(dict.fromkeys(names, LATEST), committed=committed)
            return {
                topic.name: TopicFacts(
                    topic,
                    {
                        each.name: each
                        for each in self.admin.configs(Resource(ResourceType.TOPIC, topic.name))
                    },
                    {each.partition: starts[each].offset for each in topic.names()},
                    {each.partition: ends[each].offset for each in topic.names()},
                )
                for topic in wanted
            }

    def understood(self) -> frozenset[str] | None:
        """The settings of topics that this cluster knows; None while it has no topic that could tell."""
        with on(self.name):
            for topic in sorted(self.client.topics(), key=lambda each: each.name != STATE_TOPIC):
                configs = self.admin.configs(Resource(ResourceType.TOPIC, topic.name))
                return frozenset(each.name for each in configs)
        return None

    def ends(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, tuple[int, int]]:
        """Log start and log end offsets of some partitions."""
        wanted = list(partitions)
        with on(self.name):
            starts = self.admin.list_offsets(dict.fromkeys(wanted, EARLIEST))
            ends = self.admin.list_offsets(dict.fromkeys(wanted, LATEST))
        return {each: (starts[each].offset, ends[each].offset) for each in wanted}

    def settled(
        self, partitions: Iterable[TopicPartition], identity: ProducerIdentity
    ) -> dict[TopicPartition, tuple[int, int]]:
        """As `ends`, when all that this producer has written is counted in: what a broker has appended for one that was
        killed may not be replicated yet. Who cannot tell of producers (before Kafka 2.8) is taken at its word."""
        wanted = list(partitions)

        def attempt() -> dict[TopicPartition, tuple[int, int]]:
            written = TransactionAdmin(self.client).producers(wanted)
            ends = self.ends(wanted)
            for partition, known in written.items():
                for each in known:
                    if each.producer_id == identity.id and is_behind(ends[partition][1], each.last_sequence):
                        raise ErrorCode.NOT_ENOUGH_REPLICAS.error(
                            f"{partition}: what was written is not replicated"
                        )
            return ends

        with on(self.name):
            try:
                return self.client.retry(attempt)
            except ProtocolError as error:
                if error.code is not ErrorCode.UNSUPPORTED_VERSION:
                    raise
        return self.ends(wanted)


def is_behind(end: int, last_sequence: int) -> bool:
    """Whether a log's end is one before which the record with this sequence, its offset, does not lie yet."""
    return 0 <= (last_sequence - end) % SEQUENCES < SEQUENCES // 2


def check_distinct(source: str, target: str) -> None:
    """Refuse to copy a cluster onto itself."""
    if source == target:
        raise CopyError(
            f"source and target are the same cluster ({source}), by its id; a folder that was copied keeps the id too"
        )
