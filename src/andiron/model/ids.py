"""Names for the integers and strings of the protocol, so that none is mistaken for another.

And for time, of which there are two kinds. How long something takes is measured by a steady clock, which nobody can
set: that is what `now` is everywhere below the edges, and deadlines are made from it. What is written down for others
to read (the time of a record, of a commit) is the time on the wall: `wall_time(now)`.
"""

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


class Moment(int):
    """Now, by both clocks: a number of the steady one, which is where the wall's was when the process began, and has
    gone on evenly since. What is reckoned from it, a deadline, is of the steady clock alone."""

    wall: Millis

    def __new__(cls, steady: int, wall: int) -> Moment:
        moment = super().__new__(cls, steady)
        moment.wall = Millis(wall)
        return moment


def wall_time(now: Millis) -> Millis:
    """What the clock on the wall says at a moment; where there is but one clock, that."""
    wall: Millis = getattr(now, "wall", now)
    return wall


class TopicPartition(NamedTuple):
    """One partition of one topic, by name: the key of most tables."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class TopicIdPartition(NamedTuple):
    """One partition of one topic, of this name and no other of that name before or after it (KIP-516)."""

    topic_id: TopicId
    partition: TopicPartition


class Address(NamedTuple):
    """Where a node listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
