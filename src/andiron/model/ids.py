"""Names for the integers and strings of the protocol, so that none is mistaken for another."""

from __future__ import annotations

from typing import NamedTuple, NewType

NodeId = NewType("NodeId", int)
Offset = NewType("Offset", int)  # exclusive when called an end, inclusive when called a last
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
Millis = NewType("Millis", int)
TopicId = NewType("TopicId", bytes)  # 16 bytes; on the wire a UUID

NO_EPOCH = LeaderEpoch(-1)
NO_PRODUCER = ProducerId(-1)
NO_TIMESTAMP = Millis(-1)
NO_TOPIC_ID = TopicId(bytes(16))
NEVER = Millis(1 << 62)


class TopicPartition(NamedTuple):
    """One partition of one topic, by name: the key of most tables."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Address(NamedTuple):
    """Where a node listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
