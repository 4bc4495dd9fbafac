"""A cluster of three brokers that is one scripted broker: it remembers where replicas are and what is asked.

cluster = ScriptedCluster()
cluster.place("t", [1, 2], [2, 3])      a topic's partitions with their replicas, the first one leading
cluster.slow = True                      moves stay under way until told otherwise
"""

from __future__ import annotations

from typing import Any

from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.add_raft_voter import AddRaftVoterResponse
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from andiron.wire.messages.api_versions import ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey
from andiron.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from andiron.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    Listener,
    Node,
    ReplicaState,
)
from andiron.wire.messages.elect_leaders import ElectLeadersResponse, PartitionResult, ReplicaElectionResult
from andiron.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from andiron.wire.messages.metadata import MetadataBroker, MetadataPartition, MetadataResponse, MetadataTopic
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterResponse
from andiron.wire.messages.unregister_broker import UnregisterBrokerResponse
from andiron.wire.messages.update_features import UpdateFeaturesResponse
from unit.client.scripted import ScriptedBroker

DIRECTORY = bytes(range(16))
NOW_MS = 1_700_000_000_000


class ScriptedCluster(ScriptedBroker):
    """Brokers 1 to 3, all of them here; broker 3 can be fenced."""

    def __init__(self) -> None:
        super().__init__()
        self.brokers: dict[int, str | None] = {1: "a", 2: "b", 3: "c"}
        self.fenced: set[int] = set()
        self.slow = False
        self.refusal = ErrorCode.NONE
        self.under_way: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.voters, self.observers = [1, 2], [3]
        self.levels = {"metadata.version": 29, "group.version": 1, "kraft.version": 0}
        self.newest = {"metadata.version": 30, "group.version": 1, "kraft.version": 1}
        self.on(ApiKey.API_VERSIONS, self._versions)
        self.on(ApiKey.UPDATE_FEATURES, self._update_features)
        self.on(ApiKey.METADATA, self.metadata)
        self.on(ApiKey.DESCRIBE_CLUSTER, self._describe)
        self.on(ApiKey.DESCRIBE_QUORUM, self._quorum)
        self.on(ApiKey.ELECT_LEADERS, self._elect)
        self.on(ApiKey.ALTER_PARTITION_REASSIGNMENTS, self._reassign)
        self.on(ApiKey.LIST_PARTITION_REASSIGNMENTS, self._list)
        self.on(ApiKey.DESCRIBE_CONFIGS, self._get_configs)
        self.on(ApiKey.INCREMENTAL_ALTER_CONFIGS, self._set_configs)
        self.on(ApiKey.DESCRIBE_LOG_DIRS, self._log_dirs)
        self.on(ApiKey.ADD_RAFT_VOTER, self._add_voter)
        self.on(ApiKey.REMOVE_RAFT_VOTER, self._remove_voter)
        self.on(ApiKey.UNREGISTER_BROKER, lambda request: UnregisterBrokerResponse())

    def place(self, name: str, *replicas: list[int]) -> list[MetadataPartition]:
        """A topic, all of it in sync."""
        rows = [MetadataPartition(0, at, each[0], 0, each, list(each)) for at, each in enumerate(replicas)]
        self.topics[name] = MetadataTopic(0, name, b"i" * 16, partitions=rows)
        return rows

    def replicas(self, name: str) -> list[list[int]]:
        return [each.replica_nodes for each in self.topics[name].partitions]

    def metadata(self, request: Any) -> MetadataResponse:
        answer = super().metadata(request)
        alive = [each for each in self.brokers if each not in self.fenced]
        answer.brokers = [MetadataBroker(each, "127.0.0.1", self.port, self.brokers[each]) for each in alive]
        return answer

    def _versions(self, request: Any) -> ApiVersionsResponse:
        answer = self.api_versions(request)
        answer.supported_features = [SupportedFeatureKey(name, 0, most) for name, most in self.newest.items()]
        answer.finalized_features = [
            FinalizedFeatureKey(name, level, 0) for name, level in self.levels.items() if level
        ]
        return answer

    def _update_features(self, request: Any) -> UpdateFeaturesResponse:
        if self.refusal is ErrorCode.NONE and not request.validate_only:
            self.levels |= {each.feature: each.max_version_level for each in request.feature_updates}
        return UpdateFeaturesResponse(
            error_code=self.refusal.number,
            error_message="broker 2 does not know it" if self.refusal.number else None,
        )

    def _describe(self, request: Any) -> DescribeClusterResponse:
        rows = [
            DescribeClusterBroker(id, "127.0.0.1", 9000 + id, rack, id in self.fenced)
            for id, rack in self.brokers.items()
        ]
        return DescribeClusterResponse(cluster_id="c", controller_id=3, brokers=rows)

    def _quorum(self, request: Any) -> DescribeQuorumResponse:
        def rows(ids: list[int]) -> list[ReplicaState]:
            return [ReplicaState(id, DIRECTORY, 101 - id, NOW_MS - 500, NOW_MS - 130_000) for id in ids]

        partition = DescribeQuorumResponsePartition(
            0, 0, None, 1, 4, 99, rows(self.voters), rows(self.observers)
        )
        topic = DescribeQuorumResponseTopic("__cluster_metadata", [partition])
        return DescribeQuorumResponse(
            topics=[topic], nodes=[Node(1, [Listener("CONTROLLER", "127.0.0.1", 9001)])]
        )

    def _elect(self, request: Any) -> ElectLeadersResponse:
        asked = {
            (each.topic, number) for each in request.topic_partitions or () for number in each.partitions
        }
        results = []
        for topic in self.topics.values():
            rows = []
            for each in topic.partitions:
                if request.topic_partitions is not None and (topic.name, each.partition_index) not in asked:
                    continue
                code = self.refusal
                if code is ErrorCode.NONE and each.leader_id == each.replica_nodes[0]:
                    code = ErrorCode.ELECTION_NOT_NEEDED
                elif code is ErrorCode.NONE:
                    each.leader_id = each.replica_nodes[0]
                rows.append(PartitionResult(each.partition_index, code.number))
            results.append(ReplicaElectionResult(topic.name or "", rows))
        return ElectLeadersResponse(replica_election_results=results)

    def _reassign(self, request: Any) -> AlterPartitionReassignmentsResponse:
        answers = []
        for topic in request.topics:
            rows = []
            for each in topic.partitions:
                if self.refusal is ErrorCode.NONE:
                    self._begin(topic.name, each.partition_index, each.replicas)
                rows.append(ReassignablePartitionResponse(each.partition_index, self.refusal.number))
            answers.append(ReassignableTopicResponse(topic.name, rows))
        return AlterPartitionReassignmentsResponse(responses=answers)

    def _begin(self, topic: str, number: int, replicas: list[int] | None) -> None:
        if replicas is None:
            del self.under_way[topic, number]
        else:
            before = self.topics[topic].partitions[number].replica_nodes
            self.under_way[topic, number] = (before, replicas)

    def _list(self, request: Any) -> ListPartitionReassignmentsResponse:
        answers = []
        for (topic, number), (before, after) in self.under_way.items():
            adding = [each for each in after if each not in before]
            removing = [each for each in before if each not in after]
            row = OngoingPartitionReassignment(number, [*after, *removing], adding, removing)
            answers.append(OngoingTopicReassignment(topic, [row]))
        if not self.slow:
            self.finish()
        return ListPartitionReassignmentsResponse(topics=answers)

    def finish(self) -> None:
        """All that is under way is in place."""
        for (topic, number), (_, after) in self.under_way.items():
            partition = self.topics[topic].partitions[number]
            partition.replica_nodes, partition.isr_nodes = after, list(after)
            if partition.leader_id not in after:
                partition.leader_id = after[0]
        self.under_way.clear()

    def _get_configs(self, request: Any) -> DescribeConfigsResponse:
        (asked,) = request.resources
        given = self.configs.get((asked.resource_type, asked.resource_name), {})
        rows = [DescribeConfigsResourceResult("min.insync.replicas", "2", config_source=5)]
        rows += [DescribeConfigsResourceResult(name, value, config_source=1) for name, value in given.items()]
        result = DescribeConfigsResult(0, None, asked.resource_type, asked.resource_name, rows)
        return DescribeConfigsResponse(results=[result])

    def _set_configs(self, request: Any) -> IncrementalAlterConfigsResponse:
        (asked,) = request.resources
        given = self.configs.setdefault((asked.resource_type, asked.resource_name), {})
        for each in asked.configs:
            if each.config_operation == 0:
                given[each.name] = each.value
            else:
                del given[each.name]
        return IncrementalAlterConfigsResponse(responses=[AlterConfigsResourceResponse(0)])

    def _log_dirs(self, request: Any) -> DescribeLogDirsResponse:
        topics = [
            DescribeLogDirsTopic(topic.topic, [DescribeLogDirsPartition(at, 1000) for at in topic.partitions])
            for topic in request.topics
        ]
        return DescribeLogDirsResponse(results=[DescribeLogDirsResult(0, "/data", topics)])

    def _add_voter(self, request: Any) -> AddRaftVoterResponse:
        self.voters.append(request.voter_id)
        return AddRaftVoterResponse()

    def _remove_voter(self, request: Any) -> RemoveRaftVoterResponse:
        self.voters.remove(request.voter_id)
        return RemoveRaftVoterResponse()
