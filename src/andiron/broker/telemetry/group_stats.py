"""How the groups are that this broker coordinates: in which state, and how far behind.

    __consumer_offsets-7, led here ─▶ group "billing" ─▶ orders-0: committed 120
    orders-0, a replica here       ─▶ watermark 150, and when the record at 120 was written
                                      └─▶ 30 records, 12 seconds behind

Lag in records is what kafka-consumer-groups.sh shows: the high watermark less the committed offset. Lag in seconds is
the age of the first record that the group has not committed, by the header of its batch, which is not opened: a record
in the middle of a batch counts as old as the first in it.

Of a partition that a group reads and has never committed there is no lag: where a consumer begins is said by its
auto.offset.reset, which no broker knows. It is told as such (`committed` is None), with all the records there are. A
group reads the topics that its members subscribe to, and, without members, those that it has committed a part of.

Both need a log to look into. Where this broker has no replica in sync, only the committed offset is told; the watermark
is with the partition's leader. To look up a time costs a read of a header. It is remembered for as long as the offset
stands, which is when the read would be a slow one, and there is a limit to how many are looked up for one asking.

Read next: stats.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from andiron.groups.group import CLASSIC, Group
from andiron.groups.listing import EMPTY
from andiron.log.timestamp_lookup import time_of
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis, wall_time
from andiron.transactions.states import State
from andiron.wire.consumer_protocol import PROTOCOL_TYPE

if TYPE_CHECKING:
    from andiron.broker.broker import Broker
    from andiron.broker.replicas.partition import Partition

PIECE = 20  # offsets that are looked at without a pause
LOOKUPS_MAX = 2_000  # reads for one asking

Place = tuple[str, str, int]  # group, topic, partition


class Lag(NamedTuple):
    """One group on one partition."""

    group: str
    topic: str
    partition: int
    committed: int | None  # None: nothing ever was
    records: (
        int | None
    )  # to the watermark, from the first there is where nothing was committed; None: not known here
    age_ms: int | None  # None: not known here, or there is no time on the record, or nothing was committed


def group_states(broker: Broker) -> dict[tuple[str, str], int]:
    """How many groups there are of each protocol and state."""
    found: dict[tuple[str, str], int] = {}
    for shard in broker.groups.shards:
        groups = shard.machine.groups
        for group in groups.values():
            key = group.kind, group.state
            found[key] = found.get(key, 0) + 1
        of_offsets_alone = sum(id not in groups for id in shard.machine.offsets)
        if of_offsets_alone:
            found[CLASSIC, EMPTY] = found.get((CLASSIC, EMPTY), 0) + of_offsets_alone
    return found


def transaction_states(broker: Broker) -> dict[str, int]:
    """How many transactional ids there are in each state."""
    found: dict[State, int] = {}
    for shard in broker.transactions.shards:
        for transaction in shard.machine.transactions.values():
            found[transaction.state] = found.get(transaction.state, 0) + 1
    return {state.title: count for state, count in found.items()}


def rebalances(broker: Broker) -> list[tuple[str, str, int]]:
    """How often each group has rebalanced since it is coordinated here, and why."""
    return [each for shard in broker.groups.shards for each in shard.machine.rebalances]


class LagWatch:
    """Asks for the lags of all groups, and remembers the times that it has looked up."""

    def __init__(self, lookups_max: int = LOOKUPS_MAX) -> None:
        self._lookups_max = lookups_max
        self._times: dict[Place, tuple[int, int]] = {}  # the offset, and the time of the record there
        self.unmeasured = 0  # lags whose age was not looked up, there being too many

    def lags(self, broker: Broker, now: Millis) -> Iterator[list[Lag]]:
        """The lags of every group, a piece at a time."""
        asking = _Asking(broker, wall_time(now), self._times, self._lookups_max)
        piece: list[Lag] = []
        for place, committed in _read_by_groups(broker):
            piece.append(asking.lag(place, committed))
            if len(piece) == PIECE:
                yield piece
                piece = []
        yield piece
        self._times, self.unmeasured = asking.times, asking.unmeasured


class _Asking:
    """One round through all groups."""

    def __init__(
        self, broker: Broker, now: Millis, known: dict[Place, tuple[int, int]], lookups: int
    ) -> None:
        self._broker, self._now, self._known, self._lookups = broker, now, known, lookups
        self.times: dict[Place, tuple[int, int]] = {}
        self.unmeasured = 0

    def lag(self, place: Place, committed: int | None) -> Lag:
        group, topic, index = place
        partition = self._in_sync(topic, index)
        if partition is None:
            return Lag(group, topic, index, committed, None, None)
        if committed is None:
            return Lag(group, topic, index, None, max(0, partition.watermark - partition.log.start), None)
        records = max(0, partition.watermark - committed)
        age_ms = 0 if not records else self._age_ms(place, partition, committed)
        return Lag(group, topic, index, committed, records, age_ms)

    def _in_sync(self, topic: str, index: int) -> Partition | None:
        """A replica here that knows what is committed: the leader, or a follower that keeps up."""
        known = self._broker.image.topics.get(topic)
        image = None if known is None else known.partitions.get(index)
        if image is None or self._broker.settings.node_id not in image.isr:
            return None
        try:
            partition = self._broker.replica_manager.get((topic, index))
        except ProtocolError:
            return None  # its log will not open
        return partition if partition is not None and partition.failure is None else None

    def _age_ms(self, place: Place, partition: Partition, committed: int) -> int | None:
        offset = max(committed, partition.log.start)
        before = self._known.get(place)
        if before is None or before[0] != offset:
            time = self._looked_up(partition, offset)
            if time is None:
                return None
            before = offset, time
        self.times[place] = before
        return max(0, self._now - before[1])

    def _looked_up(self, partition: Partition, offset: int) -> int | None:
        if not self._lookups:
            self.unmeasured += 1
            return None
        self._lookups -= 1
        try:
            return time_of(partition.log.segments, offset)
        except (OSError, ProtocolError):
            return None  # the disk would not be read, and the partition's own errors say so


def _read_by_groups(broker: Broker) -> Iterator[tuple[Place, int | None]]:
    """Every partition that a group has committed or reads. What comes or goes meanwhile may be left out."""
    for shard in broker.groups.shards:
        machine = shard.machine
        for group_id in [*machine.offsets, *(id for id in machine.groups if id not in machine.offsets)]:
            of_group = machine.offsets.of(group_id)
            committed = {} if of_group is None else {k: dict(v) for k, v in of_group.committed.items()}
            for topic, partitions in committed.items():
                for index, each in partitions.items():
                    yield (group_id, topic, index), each.offset
            for topic in _topics_of(machine.groups.get(group_id), committed):
                known = broker.image.topics.get(topic)
                for index in () if known is None else list(known.partitions):
                    if index not in committed.get(topic, {}):
                        yield (group_id, topic, index), None


def _topics_of(group: Group | None, committed: Collection[str]) -> list[str]:
    """The topics that a group reads as a whole. Who assigns partitions to itself, and only commits, reads none so."""
    if group is None or group.protocol_type != PROTOCOL_TYPE:
        return []
    return sorted(group.subscribed_topics() or committed)
