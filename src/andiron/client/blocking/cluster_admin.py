"""Administration of the cluster: brokers, quorum (KIP-853), features (KIP-584), reassignments (KIP-455), elections.

    any broker ──▶ the controller         brokers pass on what only the controller can decide

Questions are answered for the cluster as a whole or not at all. What is changed is changed partition by
partition: some may be refused while others are done, so those methods return what was refused, and raise only
where nothing was done.

Read next: ../core/cluster_descriptions.py for what is told, ../core/reassignment_plan.py for where replicas go.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from andiron.client.blocking.client import Client
from andiron.client.connection import SOFTWARE
from andiron.client.core.addresses import Address
from andiron.client.core.answer_errors import by_topic, check_error, error_in
from andiron.client.core.cluster_descriptions import ClusterState, Feature, QuorumState
from andiron.client.core.metadata import Topic
from andiron.client.core.reassignments import Reassignment
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from andiron.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
)
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from andiron.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

METADATA_TOPIC = "__cluster_metadata"

Refusals: TypeAlias = dict[TopicPartition, ProtocolError]


class Election(enum.IntEnum):
    """ElectLeaders' types of election (KIP-460), with Kafka's numbers."""

    PREFERRED = 0  # the first of the replicas, if it is in sync
    UNCLEAN = 1  # whichever replica is alive, for partitions that have no leader: what it lacks is lost


class ClusterAdmin:
    """Describes and changes the cluster, one request at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._timeout_ms = client.settings.request_timeout_ms

    # ── descriptions ─────────────────────────────────────────────────────────────────

    def describe_cluster(self) -> ClusterState:
        """DescribeCluster: id, controller and brokers, also fenced ones where the broker tells them."""

        def check(answer: DescribeClusterResponse) -> None:
            check_error(answer.error_code, answer.error_message, "the cluster")

        request = DescribeClusterRequest(include_fenced_brokers=True)
        return ClusterState.of(self._client.call_any(request, DescribeClusterResponse, check))

    def describe_quorum(self) -> QuorumState:
        """DescribeQuorum: the leader of the metadata log, and the log end offsets of voters and observers."""
        asked = DescribeQuorumRequestTopic(METADATA_TOPIC, [DescribeQuorumRequestPartition(0)])

        def check(answer: DescribeQuorumResponse) -> None:
            check_error(answer.error_code, answer.error_message, "the quorum")
            told = _metadata_partition(answer)
            if error := error_in(told.error_code, told.error_message, "the quorum"):
                raise error

        request = DescribeQuorumRequest([asked])
        answer = self._client.call_any(request, DescribeQuorumResponse, check)
        return QuorumState.of(answer, _metadata_partition(answer))

    def features(self) -> list[Feature]:
        """The finalized levels of the cluster's features, and the newest that a broker supports (KIP-584)."""
        return Feature.all_of(self._client.call_any(ApiVersionsRequest(*SOFTWARE), ApiVersionsResponse))

    def topics(self) -> list[Topic]:
        """All topics, with the leader, the replicas and those in sync of each partition."""
        return self._client.topics()

    # ── leader elections ─────────────────────────────────────────────────────────────

    def elect_leaders(
        self, election: Election, partitions: Iterable[TopicPartition] | None = None
    ) -> tuple[list[TopicPartition], Refusals]:
        """ElectLeaders for these partitions, or for all that need it: (those with a new leader, refusals).

        A partition that has the leader it should have is in neither.
        """
        asked = None
        if partitions is not None:
            asked = [
                TopicPartitions(name, [each.partition for each in some])
                for name, some in by_topic(partitions)
            ]

        def check(answer: ElectLeadersResponse) -> None:
            check_error(answer.error_code, None, "the election")

        request = ElectLeadersRequest(election, asked, self._timeout_ms)
        answer = self._client.call_any(request, ElectLeadersResponse, check)
        elected: list[TopicPartition] = []
        refused: Refusals = {}
        for topic in answer.replica_election_results:
            for each in topic.partition_result:
                partition = TopicPartition(topic.topic, each.partition_id)
                error = error_in(each.error_code, each.error_message, partition)
                if error is None:
                    elected.append(partition)
                elif error.code is not ErrorCode.ELECTION_NOT_NEEDED:
                    refused[partition] = error
        return sorted(elected), refused

    # ── reassignments ────────────────────────────────────────────────────────────────

    def reassign(self, replicas: Mapping[TopicPartition, Sequence[int] | None]) -> Refusals:
        """AlterPartitionReassignments: give partitions these replicas; None cancels. Returns what was refused.

        It has only begun when this returns: `reassignments` tells what is under way.
        """
        topics = [
            ReassignableTopic(name, [_reassignable(each, replicas[each]) for each in some])
            for name, some in by_topic(replicas)
        ]

        def check(answer: AlterPartitionReassignmentsResponse) -> None:
            check_error(answer.error_code, answer.error_message, "the reassignment")

        request = AlterPartitionReassignmentsRequest(self._timeout_ms, topics=topics)
        answer = self._client.call_any(request, AlterPartitionReassignmentsResponse, check)
        refused: Refusals = {}
        for topic in answer.responses:
            for each in topic.partitions:
                partition = TopicPartition(topic.name, each.partition_index)
                error = error_in(each.error_code, each.error_message, partition)
                if error is not None:
                    refused[partition] = error
        return refused

    def cancel_reassignments(self, partitions: Iterable[TopicPartition]) -> Refusals:
        """Cancel reassignments; a partition without one is not refused."""
        refused = self.reassign(dict.fromkeys(partitions))
        return {
            partition: error
            for partition, error in refused.items()
            if error.code is not ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        }

    def reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, Reassignment]:
        """ListPartitionReassignments: those under way, of these partitions or of all."""
        asked = None
        if partitions is not None:
            asked = [
                ListPartitionReassignmentsTopics(name, [each.partition for each in some])
                for name, some in by_topic(partitions)
            ]

        def check(answer: ListPartitionReassignmentsResponse) -> None:
            check_error(answer.error_code, answer.error_message, "the reassignments")

        request = ListPartitionReassignmentsRequest(self._timeout_ms, asked)
        answer = self._client.call_any(request, ListPartitionReassignmentsResponse, check)
        return {
            TopicPartition(topic.name, each.partition_index): Reassignment.of(each)
            for topic in answer.topics
            for each in topic.partitions
        }

    # ── voters, features and registrations ───────────────────────────────────────────

    def add_voter(self, node_id: int, directory_id: bytes, addresses: Mapping[str, Address]) -> None:
        """AddRaftVoter (KIP-853): make a controller that is an observer a voter; addresses by listener name."""
        rows = [Listener(name, address.host, address.port) for name, address in addresses.items()]

        def check(answer: AddRaftVoterResponse) -> None:
            check_error(answer.error_code, answer.error_message, f"voter {node_id}")

        request = AddRaftVoterRequest(self._cluster_id(), self._timeout_ms, node_id, directory_id, rows)
        self._client.call_any(request, AddRaftVoterResponse, check)

    def remove_voter(self, node_id: int, directory_id: bytes) -> None:
        """RemoveRaftVoter (KIP-853); the directory id tells a voter from one that came back with an empty disk."""

        def check(answer: RemoveRaftVoterResponse) -> None:
            check_error(answer.error_code, answer.error_message, f"voter {node_id}")

        request = RemoveRaftVoterRequest(self._cluster_id(), node_id, directory_id)
        self._client.call_any(request, RemoveRaftVoterResponse, check)

    def upgrade_features(self, levels: Mapping[str, int], *, validate_only: bool = False) -> None:
        """UpdateFeatures (KIP-584): raise features to these levels, all or none. Some cannot be lowered again."""

        def check(answer: UpdateFeaturesResponse) -> None:
            check_error(answer.error_code, answer.error_message, "the features")
            for told in answer.results:  # before version 2
                check_error(told.error_code, told.error_message, told.feature)

        updates = [FeatureUpdateKey(name, level) for name, level in levels.items()]
        request = UpdateFeaturesRequest(self._timeout_ms, updates, validate_only)
        self._client.call_any(request, UpdateFeaturesResponse, check)

    def unregister_broker(self, node_id: int) -> None:
        """UnregisterBroker: remove the registration of a broker that will not come back."""

        def check(answer: UnregisterBrokerResponse) -> None:
            check_error(answer.error_code, answer.error_message, f"broker {node_id}")

        self._client.call_any(UnregisterBrokerRequest(node_id), UnregisterBrokerResponse, check)

    def _cluster_id(self) -> str:
        return self.describe_cluster().id


def _metadata_partition(answer: DescribeQuorumResponse) -> DescribeQuorumResponsePartition:
    for topic in answer.topics:
        for partition in topic.partitions:
            return partition
    raise ErrorCode.UNKNOWN_SERVER_ERROR.error("nothing was said of the quorum")


def _reassignable(partition: TopicPartition, replicas: Sequence[int] | None) -> ReassignablePartition:
    return ReassignablePartition(partition.partition, None if replicas is None else list(replicas))
