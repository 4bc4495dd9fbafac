"""Who reads a partition by Fetch, and what that changes: which partition is meant, up to where, and on what terms.

    ConsumerReader           a consumer of a data partition: what is committed, from the leader or a follower (KIP-392)
    FollowerReader           a follower of a data partition: all there is, and its position tells what it holds
    MetadataConsumerReader   a consumer of the metadata log: as of any other, and who leads the quorum is always told
    MetadataFollowerReader   a voter or observer of the quorum (KIP-595): it may be told to fetch a snapshot (KIP-630)

All have the same methods, and handlers/fetch.py, which asks them, knows nothing of the difference. `Replica` is who
follows, as `replica_of` finds it in a request.

    find      the partition that is asked for
    hint      who leads it, where that is told though nothing is wrong
    judge     may this position be read from here? Its leader epoch (KIP-320), who asks for it, and where two logs part
    note      what the position says of a follower
    end       where reading ends: high watermark, last stable offset (LSO) or log end offset
    withheld  whether there is nothing for now, though there are records: a quota (KIP-73), or a leader that has just
              begun and cannot tell yet what is committed (KIP-207)
    count     the bytes that were sent

Read next: log_read_result.py, which a reader fills; handlers/fetch.py.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from andiron.broker.broker import Broker
from andiron.broker.replicas.fetch_sessions import CachedPartition
from andiron.broker.replicas.follower_states import FollowerFetch
from andiron.broker.replicas.leader_hints import LeaderHints
from andiron.broker.replicas.log_read_result import LogReadResult
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.preferred_read_replica import HERE, is_rack_aware, nearest
from andiron.broker.replicas.replication_quota import is_throttled
from andiron.broker.telemetry.traffic import TopicTraffic
from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, Millis, NodeId, Offset
from andiron.wire.messages.fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    LeaderIdAndEpoch,
    SnapshotId,
)

READ_COMMITTED = 1
FROM_FOLLOWERS_SINCE = 11  # the version whose consumers can be sent to the nearest replica


class Replica(NamedTuple):
    """A follower that fetches, and the broker epoch in which it does."""

    id: NodeId
    broker_epoch: int


def replica_of(body: FetchRequest) -> Replica | None:
    """The follower that fetches; None is a consumer."""
    if body.replica_state is not None and body.replica_state.replica_id >= 0:
        return Replica(NodeId(body.replica_state.replica_id), body.replica_state.replica_epoch)
    return Replica(NodeId(body.replica_id), -1) if body.replica_id >= 0 else None


class PartitionReader(Protocol):
    """What a fetch asks of whoever reads one of its partitions."""

    def find(self, asked: CachedPartition) -> Partition: ...

    def hint(self, asked: CachedPartition) -> LeaderIdAndEpoch | None: ...

    def judge(self, partition: Partition, found: LogReadResult) -> None: ...

    def note(self, partition: Partition, found: LogReadResult, now: Millis) -> None: ...

    def end(self, partition: Partition, found: LogReadResult) -> Offset: ...

    def withheld(self, partition: Partition, found: LogReadResult) -> bool: ...

    def count(self, traffic: TopicTraffic, found: LogReadResult) -> None: ...


class ConsumerReader:
    """A consumer of a data partition."""

    def __init__(self, broker: Broker, body: FetchRequest, version: int) -> None:
        self._broker = broker
        self._read_committed = body.isolation_level == READ_COMMITTED
        self._from_followers = version >= FROM_FOLLOWERS_SINCE
        self._rack = ""
        if body.rack_id and self._from_followers:
            selector = broker.settings.replication.replica_selector_class
            self._rack = body.rack_id if is_rack_aware(selector) else ""

    def find(self, asked: CachedPartition) -> Partition:
        """The partition hosted here, or the error that says where else to ask."""
        return self._broker.partition(asked.topic, asked.topic_id, asked.wanted.partition)

    def hint(self, asked: CachedPartition) -> LeaderIdAndEpoch | None:
        """Who leads is told only to those who asked elsewhere."""
        return None

    def judge(self, partition: Partition, found: LogReadResult) -> None:
        """Refuse another leader epoch (KIP-320); find out where the consumer's log parts from this one, and whether a
        replica in its rack is nearer (KIP-392)."""
        wanted = found.asked.wanted
        partition.check_epoch(wanted.current_leader_epoch)
        if not (self._from_followers and partition.follows):
            partition.leader()
        if wanted.last_fetched_epoch >= 0:
            found.diverging = _divergence(partition, wanted)
        if self._rack:
            me, offset = NodeId(self._broker.settings.node_id), Offset(wanted.fetch_offset)
            found.nearer = nearest(partition, self._rack, offset, self._broker.image, me)

    def note(self, partition: Partition, found: LogReadResult, now: Millis) -> None:
        """A consumer's position says nothing of what any replica holds."""

    def end(self, partition: Partition, found: LogReadResult) -> Offset:
        """The LSO for read_committed, else the high watermark."""
        return Offset(found.last_stable if self._read_committed else found.watermark)

    def withheld(self, partition: Partition, found: LogReadResult) -> bool:
        """Another replica is nearer; or the leader cannot say yet whether there is something committed at that offset
        (KIP-207): the consumer asks again."""
        if found.nearer != HERE:
            return True
        if not self._from_followers or not partition.leads:
            return False
        if partition.leader().can_tell(Offset(found.asked.wanted.fetch_offset)):
            return False
        found.error, found.watermark, found.last_stable = ErrorCode.OFFSET_NOT_AVAILABLE, -1, -1
        return True

    def count(self, traffic: TopicTraffic, found: LogReadResult) -> None:
        """Bytes that consumers were sent."""
        traffic.bytes_out += len(found.records)


class FollowerReader:
    """A follower of a data partition."""

    def __init__(self, broker: Broker, replica: Replica, conn: int) -> None:
        self._broker, self._replica, self._conn = broker, replica, conn

    def find(self, asked: CachedPartition) -> Partition:
        """The partition hosted here, or the error that says where else to ask."""
        return self._broker.partition(asked.topic, asked.topic_id, asked.wanted.partition)

    def hint(self, asked: CachedPartition) -> LeaderIdAndEpoch | None:
        """Who leads is told only to those who asked elsewhere."""
        return None

    def judge(self, partition: Partition, found: LogReadResult) -> None:
        """Refuse another leader epoch, and who is no replica; find out where the follower's log parts from this one:
        it truncates there (KIP-320)."""
        wanted = found.asked.wanted
        partition.check_epoch(wanted.current_leader_epoch)
        partition.leader().check_replica(self._replica.id)
        if wanted.last_fetched_epoch >= 0:
            found.diverging = _divergence(partition, wanted)

    def note(self, partition: Partition, found: LogReadResult, now: Millis) -> None:
        """Its position moves the high watermark and the ISR. Only what this very log has counts: a follower whose log
        parts from this one holds something else."""
        if (fetch := self._progress(partition, found)) is not None:
            self._broker.follower_states.fetched(partition, fetch, now)

    def end(self, partition: Partition, found: LogReadResult) -> Offset:
        """The log end offset: a follower has a record before it is committed."""
        return partition.log.end

    def withheld(self, partition: Partition, found: LogReadResult) -> bool:
        """A throttled follower that is not in sync waits while the quota of all of them is spent (KIP-73)."""
        named = partition.log.settings.leader_replication_throttled_replicas
        if not named or self._replica.id in partition.leader().isr:
            return False
        found.is_throttled = is_throttled(named, partition.name.partition, self._replica.id)
        return found.is_throttled and self._broker.follower_states.quota.is_spent(self._broker.step.now)

    def count(self, traffic: TopicTraffic, found: LogReadResult) -> None:
        """Bytes that followers were sent; those of a throttled one count against the quota too."""
        size = len(found.records)
        traffic.replicated_out += size
        if found.is_throttled and size:
            self._broker.follower_states.quota.spend(size, self._broker.step.now)

    def _progress(self, partition: Partition, found: LogReadResult) -> FollowerFetch | None:
        wanted = found.asked.wanted
        offset = Offset(wanted.fetch_offset)
        if found.snapshot is not None or found.diverging is not None:
            return None
        if not partition.log.start <= offset <= partition.leader().end:
            return None
        return FollowerFetch(*self._replica, offset, Offset(wanted.log_start_offset), self._conn)


class MetadataConsumerReader(ConsumerReader):
    """A consumer of the metadata log."""

    def __init__(self, broker: Broker, body: FetchRequest, version: int, hints: LeaderHints) -> None:
        super().__init__(broker, body, version)
        self._hints = hints

    def find(self, asked: CachedPartition) -> Partition:
        """The metadata log, which every node has."""
        return self._broker.raft.partition

    def hint(self, asked: CachedPartition) -> LeaderIdAndEpoch | None:
        """Who leads the quorum."""
        return leader_told(self._hints, asked)


class MetadataFollowerReader(FollowerReader):
    """A voter or an observer of the quorum."""

    def __init__(self, broker: Broker, replica: Replica, conn: int, hints: LeaderHints) -> None:
        super().__init__(broker, replica, conn)
        self._hints = hints

    def find(self, asked: CachedPartition) -> Partition:
        """The metadata log, which every node has."""
        return self._broker.raft.partition

    def hint(self, asked: CachedPartition) -> LeaderIdAndEpoch | None:
        """Who leads the quorum: an observer may have asked a voter at random."""
        return leader_told(self._hints, asked)

    def judge(self, partition: Partition, found: LogReadResult) -> None:
        """Refuse another leader epoch, and a second process under one node id. Whom this log does not reach any more is
        told of a snapshot (KIP-630)."""
        wanted, raft = found.asked.wanted, self._broker.raft
        partition.check_epoch(wanted.current_leader_epoch)
        partition.leader()
        raft.check_identity(self._replica.id, wanted.replica_directory_id, self._broker.step.now)
        last_epoch = LeaderEpoch(wanted.last_fetched_epoch)
        offered = raft.offer(Offset(wanted.fetch_offset), last_epoch)
        if offered is not None:
            found.snapshot = SnapshotId(*offered)
        elif last_epoch >= 0:
            found.diverging = _divergence(partition, wanted)

    def note(self, partition: Partition, found: LogReadResult, now: Millis) -> None:
        """Its position moves the high watermark of the metadata log."""
        if (fetch := self._progress(partition, found)) is not None:
            self._broker.controller.fetched_by(fetch.node, fetch.offset, fetch.conn, now)


def leader_told(hints: LeaderHints, asked: CachedPartition) -> LeaderIdAndEpoch | None:
    """Who leads a partition, for whoever has asked another node for it (KIP-951)."""
    hint = hints.leader_of(asked.topic, asked.topic_id, asked.wanted.partition)
    return None if hint is None else LeaderIdAndEpoch(*hint)


def _divergence(partition: Partition, wanted: FetchPartition) -> EpochEndOffset | None:
    parted = partition.divergence(LeaderEpoch(wanted.last_fetched_epoch), Offset(wanted.fetch_offset))
    return None if parted is None else EpochEndOffset(*parted)
