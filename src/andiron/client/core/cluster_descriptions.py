"""Descriptions of the cluster for admins: brokers, features, the quorum, and the health of partitions.

features   what its nodes may say to each other, in levels
cluster    every broker that is registered; one that is fenced is down, or starting, or stuck
quorum     who leads the metadata log, and how far voters and observers have come

             high watermark ── a majority of the voters has it
    voter 1  ━━━━━━━━━━━━━━━━┿━━━━  the leader's own end
    voter 2  ━━━━━━━━━━━━━━━━┿━━    lag 2
    voter 3  ━━━━━━━━━       │      lag 7; cannot help to elect who has more
    broker 4 ━━━━━━━━━━━━━━━━┿━━━   an observer: reads, and has no vote

partitions    under-replicated: a replica is not in sync      one more failure hurts
              under its minimum: acks=all is refused          writers are stopped
              offline: no leader                              nobody reads or writes
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import NamedTuple

from andiron.client.core.addresses import Address
from andiron.client.core.metadata import NO_LEADER, Partition
from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TOPIC_ID
from andiron.wire.messages.api_versions import ApiVersionsResponse
from andiron.wire.messages.describe_cluster import DescribeClusterResponse
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    ReplicaState,
)

NOT_TOLD = -1
NO_DIRECTORY = NO_TOPIC_ID  # a member of a quorum that is written in the settings has none
_ID_BYTES = 16


class BrokerState(NamedTuple):
    """A registered broker; fenced ones are told only from DescribeCluster 2 on."""

    id: int
    address: Address
    rack: str | None
    fenced: bool


class ClusterState(NamedTuple):
    """The cluster's id, brokers and controller, which is the broker that DescribeCluster names."""

    id: str
    controller_id: int
    brokers: list[BrokerState]

    @classmethod
    def of(cls, told: DescribeClusterResponse) -> ClusterState:
        """As a broker told it."""
        brokers = [
            BrokerState(each.broker_id, Address(each.host, each.port), each.rack, each.is_fenced)
            for each in told.brokers
        ]
        return cls(told.cluster_id, told.controller_id, sorted(brokers))

    def racks(self) -> dict[int, str | None]:
        """The rack of each broker that is alive."""
        return {each.id: each.rack for each in self.brokers if not each.fenced}


class Feature(NamedTuple):
    """A feature (KIP-584): its finalized level, and the newest level that the broker which was asked supports."""

    name: str
    level: int
    newest: int

    @classmethod
    def all_of(cls, told: ApiVersionsResponse) -> list[Feature]:
        """As a broker told them, by their names."""
        levels = {each.name: each.max_version_level for each in told.finalized_features}
        known = sorted(told.supported_features, key=lambda each: each.name)
        return [cls(each.name, levels.get(each.name, 0), each.max_version) for each in known]


class QuorumMember(NamedTuple):
    """A replica of the metadata log; times are ms since 1970, or -1 where nothing is told."""

    id: int
    directory_id: bytes
    log_end: int
    last_fetch_ms: int
    last_caught_up_ms: int

    @property
    def directory_text(self) -> str | None:
        """Its directory's id as Kafka's tools write it; None where it has none."""
        return None if self.directory_id == NO_DIRECTORY else uuid_text(self.directory_id)

    @classmethod
    def of(cls, told: ReplicaState) -> QuorumMember:
        """As the leader told it."""
        return cls(
            told.replica_id,
            told.replica_directory_id or NO_DIRECTORY,
            told.log_end_offset,
            told.last_fetch_timestamp,
            told.last_caught_up_timestamp,
        )


SILENT_MS = 5_000  # a voter that lives fetches every second or so


class QuorumState(NamedTuple):
    """The metadata quorum, as its leader sees it; addresses of voters are told from DescribeQuorum 2 on."""

    leader_id: int
    epoch: int
    high_watermark: int
    voters: list[QuorumMember]
    observers: list[QuorumMember]
    addresses: dict[int, dict[str, Address]]  # by node, then by the listener's name

    @classmethod
    def of(cls, told: DescribeQuorumResponse, partition: DescribeQuorumResponsePartition) -> QuorumState:
        """As the leader told it."""
        return cls(
            partition.leader_id,
            partition.leader_epoch,
            partition.high_watermark,
            sorted(map(QuorumMember.of, partition.current_voters)),
            sorted(map(QuorumMember.of, partition.observers)),
            {
                node.node_id: {each.name: Address(each.host, each.port) for each in node.listeners}
                for node in told.nodes
            },
        )

    def lag(self, member: QuorumMember) -> int | None:
        """How many records the leader has and a member does not; None where either end is not told."""
        ends = [each.log_end for each in self.voters if each.id == self.leader_id]
        if not ends or ends[0] < 0 or member.log_end < 0:
            return None
        return max(0, ends[0] - member.log_end)

    def voter(self, node_id: int) -> QuorumMember | None:
        """The voter of that id."""
        return next((each for each in self.voters if each.id == node_id), None)

    def away(self) -> list[int]:
        """The voters of which the leader has not heard for a while, by its own clock."""
        leader = self.voter(self.leader_id)
        if leader is None or leader.last_fetch_ms < 0:
            return []  # DescribeQuorum does not tell the leader's clock
        return [each.id for each in self.voters if each.last_fetch_ms < leader.last_fetch_ms - SILENT_MS]

    def failures_borne(self, without: int | None = None) -> int:
        """How many more voters may fail before the quorum has no majority; also if one were `without` a vote."""
        voters = [each.id for each in self.voters if each.id != without]
        alive = len(voters) - len([each for each in self.away() if each != without])
        return max(0, alive - (len(voters) // 2 + 1))


class Health(NamedTuple):
    """A partition's health: well, under-replicated, under min.insync.replicas, or offline."""

    offline: bool
    under_replicated: bool
    under_min_isr: bool

    @property
    def well(self) -> bool:
        return not any(self)


def health_of(partition: Partition, min_isr: int | None) -> Health:
    """A partition's health; `min_isr` is its topic's min.insync.replicas, None where it is not known."""
    in_sync = len(partition.isr)
    return Health(
        offline=partition.leader == NO_LEADER,
        under_replicated=in_sync < len(partition.replicas),
        # As Kafka counts: a topic of one replica is not under a minimum that it can never reach.
        under_min_isr=min_isr is not None and in_sync < min(min_isr, len(partition.replicas)),
    )


def share_of(node_id: int, partitions: Iterable[Partition]) -> tuple[int, int]:
    """How many partitions a broker leads, and of how many it has a replica."""
    leads = replicas = 0
    for each in partitions:
        leads += each.leader == node_id
        replicas += node_id in each.replicas
    return leads, replicas


def uuid_text(value: bytes) -> str:
    """An id as Kafka's tools write it: base64 for URLs, without padding."""
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def parse_uuid(text: str) -> bytes:
    """An id from the text that Kafka's tools write."""
    try:
        value = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except ValueError:
        value = b""
    if len(value) != _ID_BYTES:
        raise ErrorCode.INVALID_REQUEST.error(
            f"{text!r} is not an id of 22 letters, as meta.properties has it"
        )
    return value
