"""How a broker is: what its machines have counted and what they hold, as plain values.

    machines: counters, state ──▶ here: values with Kafka's meaning ──▶ edge/metrics/: names, text, HTTP

Machines count where things happen and know nothing of who reads it; nothing here is asked for on the way of a request.
Everything is taken at the time of asking, piece by piece where there may be thousands, so that whoever asks can do
something else in between.

Partitions are under-replicated, under or at their min.insync.replicas only where they are led, as in Kafka: the sum
over all nodes is the cluster's figure. The metadata log is not among the partitions; `quorum_stats` tells of it.

Read next: group_stats.py; edge/metrics/catalog.py for the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from andiron.broker.replicas.partition import Partition
from andiron.controller.image import NO_LEADER, Image
from andiron.model.ids import Millis, NodeId, TopicPartition

if TYPE_CHECKING:
    from andiron.broker.broker import Broker

PIECE = 100  # partitions that are looked at without a pause


class FollowerStats(NamedTuple):
    """A follower, as its leader sees it."""

    node: NodeId
    lag: int  # records that it has not asked for yet
    behind_ms: int  # since it was last caught up, as replica.lag.time.max.ms counts; 0 where it is


class PartitionStats(NamedTuple):
    """One partition as it is here."""

    name: TopicPartition
    start: int
    end: int
    watermark: int
    last_stable_lag: int  # committed records that read_committed readers do not see yet
    size: int
    segments: int
    producers: int
    transactions: int  # open
    failed: bool
    leads: bool
    replicas: int  # that there should be
    isr: int
    least: int  # min.insync.replicas, or the replicas if there are fewer
    followers: list[FollowerStats]
    fetch_lag: int  # as a follower: committed records that it does not have

    @property
    def under_replicated(self) -> bool:
        return self.leads and self.isr < self.replicas

    @property
    def under_min_isr(self) -> bool:
        return self.leads and self.isr < self.least

    @property
    def at_min_isr(self) -> bool:
        return self.leads and self.isr == self.least


def partition_stats(partition: Partition, image: Image, now: Millis) -> PartitionStats:
    """What there is to know of a partition."""
    log, watermark = partition.log, partition.watermark
    followers: list[FollowerStats] = []
    replicas = isr = least = 0
    if partition.leads:
        leader = partition.leader()
        followers = [
            FollowerStats(node, max(0, leader.end - seen.offset), leader.behind_ms(node, now))
            for node, seen in leader.progress().items()
        ]
        isr, replicas = len(leader.isr), len(followers) + 1
        least = min(log.settings.min_insync_replicas, replicas)
        replicas -= _being_added(partition.name, image)
    return PartitionStats(
        partition.name, log.start, log.end, watermark, watermark - log.last_stable(watermark), log.size,
        len(log.segments), len(log.producers), log.producers.open_transactions, partition.failure is not None,
        partition.leads, replicas, isr, least, followers, partition.fetch_lag,
    )  # fmt: skip


def _being_added(name: TopicPartition, image: Image) -> int:
    """Replicas that a reassignment brings are not missing while it goes on."""
    topic = image.topics.get(name.topic)
    known = None if topic is None else topic.partitions.get(name.partition)
    return 0 if known is None else len(known.adding)


@dataclass(slots=True)
class BrokerTotals:
    """Sums over the partitions here."""

    partitions: int = 0
    leaders: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    failed: int = 0
    producers: int = 0
    transactions: int = 0
    fetch_lag_max: int = 0
    follower_lag_max: int = 0
    follower_behind_ms_max: int = 0

    def add(self, partition: PartitionStats) -> None:
        """Count one more in."""
        self.partitions += 1
        self.leaders += partition.leads
        self.under_replicated += partition.under_replicated
        self.under_min_isr += partition.under_min_isr
        self.at_min_isr += partition.at_min_isr
        self.failed += partition.failed
        self.producers += partition.producers
        self.transactions += partition.transactions
        self.fetch_lag_max = max(self.fetch_lag_max, partition.fetch_lag)
        for follower in partition.followers:
            self.follower_lag_max = max(self.follower_lag_max, follower.lag)
            self.follower_behind_ms_max = max(self.follower_behind_ms_max, follower.behind_ms)


def all_partitions(broker: Broker, now: Millis) -> Iterator[list[PartitionStats]]:
    """Every partition here, a piece at a time."""
    hosted = list(broker.replica_manager)
    for begin in range(0, len(hosted), PIECE):
        yield [
            partition_stats(each, broker.image, now)
            for each in hosted[begin : begin + PIECE]
            if not each.retired
        ]


class QuorumStats(NamedTuple):
    """The metadata log, and this node's part in it."""

    epoch: int
    leader: int  # -1: none is known
    role: str
    leads: bool
    voters: int
    end: int
    watermark: int
    applied: int  # up to where the metadata has taken effect here
    lags: dict[NodeId, int]  # where it is led: records that each other node has not asked for yet


def quorum_stats(broker: Broker) -> QuorumStats:
    """What there is to know of the quorum."""
    raft = broker.raft
    partition, quorum = raft.partition, raft.quorum
    lags: dict[NodeId, int] = {}
    if partition.leads:
        leader = partition.leader()
        seen = {**leader.progress(), **raft.observers}
        lags = {node: max(0, leader.end - each.offset) for node, each in seen.items()}
    observes = broker.settings.node_id not in quorum.voters
    return QuorumStats(
        quorum.epoch, raft.leader, "observer" if observes else quorum.role.value, broker.controller.is_active,
        len(list(quorum.voters)), partition.log.end, partition.watermark, broker.metadata.applied, lags,
    )  # fmt: skip


@dataclass(slots=True)
class ControllerTotals:
    """The cluster, as the controller sees it."""

    topics: int = 0
    partitions: int = 0
    offline: int = 0  # without a leader
    not_preferred: int = 0  # led by another than the first of its replicas
    active_brokers: int = 0
    fenced_brokers: int = 0
    unclean_elections: int = 0


def controller_totals(image: Image) -> Iterator[ControllerTotals]:
    """Sums over the whole cluster, which are complete when this ends; it pauses now and then."""
    brokers = list(image.brokers.values())
    fenced = sum(each.fenced for each in brokers)
    totals = ControllerTotals(
        active_brokers=len(brokers) - fenced,
        fenced_brokers=fenced,
        unclean_elections=image.unclean_elections,
    )
    yield totals
    for topic in list(image.topics.values()):
        totals.topics += 1
        for each in topic.partitions.values():
            totals.partitions += 1
            totals.offline += each.leader == NO_LEADER
            totals.not_preferred += each.leader != each.replicas[0]
        yield totals


def broker_state(broker: Broker) -> int:
    """Kafka's number for where in its life the broker is."""
    return int(broker.lifecycle.state)
