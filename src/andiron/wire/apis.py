"""The table of APIs: key -> name, versions, and the classes of request and response.

The versions are those that Kafka 4.3 knows and that we can therefore read and write; which of
them a broker serves is for the broker to say. A row's classes are imported when first asked for,
so that a node pays for the APIs that it serves: all modules together take about 20 ms, and 55 on
the first start of a fresh clone, which has no bytecode yet.

Read next: messages/produce.py, then header.py.
"""

from __future__ import annotations

from importlib import import_module

from andiron.wire.schema import NEVER, Message


class ApiKey:
    """The numbers of the APIs, by name."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82


class Api:
    """One row: `versions` are the first and the last, both included."""

    __slots__ = ("_request", "_response", "flexible_since", "key", "name", "versions")

    def __init__(self, key: int, name: str, versions: tuple[int, int], flexible_since: int) -> None:
        self.key = key
        self.name = name
        self.versions = versions
        self.flexible_since = flexible_since
        self._request: type[Message] | None = None
        self._response: type[Message] | None = None

    def __repr__(self) -> str:
        return f"Api({self.key}, {self.name!r}, {self.versions})"

    @property
    def request(self) -> type[Message]:
        """The class of its request."""
        if self._request is None:
            self._request = self._load("Request")
        return self._request

    @property
    def response(self) -> type[Message]:
        """The class of its response."""
        if self._response is None:
            self._response = self._load("Response")
        return self._response

    @property
    def module(self) -> str:
        """Where its messages are declared: `wire.messages.list_offsets` for ListOffsets."""
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in self.name)
        return f"andiron.wire.messages.{snake[1:]}"

    def _load(self, suffix: str) -> type[Message]:
        loaded: type[Message] = getattr(import_module(self.module), self.name + suffix)
        return loaded


_TABLE = (
    Api(ApiKey.PRODUCE, "Produce", (3, 13), 9),
    Api(ApiKey.FETCH, "Fetch", (4, 18), 12),
    Api(ApiKey.LIST_OFFSETS, "ListOffsets", (1, 11), 6),
    Api(ApiKey.METADATA, "Metadata", (0, 13), 9),
    Api(ApiKey.OFFSET_COMMIT, "OffsetCommit", (2, 10), 8),
    Api(ApiKey.OFFSET_FETCH, "OffsetFetch", (1, 10), 6),
    Api(ApiKey.FIND_COORDINATOR, "FindCoordinator", (0, 6), 3),
    Api(ApiKey.JOIN_GROUP, "JoinGroup", (0, 9), 6),
    Api(ApiKey.HEARTBEAT, "Heartbeat", (0, 4), 4),
    Api(ApiKey.LEAVE_GROUP, "LeaveGroup", (0, 5), 4),
    Api(ApiKey.SYNC_GROUP, "SyncGroup", (0, 5), 4),
    Api(ApiKey.DESCRIBE_GROUPS, "DescribeGroups", (0, 6), 5),
    Api(ApiKey.LIST_GROUPS, "ListGroups", (0, 5), 3),
    Api(ApiKey.SASL_HANDSHAKE, "SaslHandshake", (0, 1), NEVER),
    Api(ApiKey.API_VERSIONS, "ApiVersions", (0, 4), 3),
    Api(ApiKey.CREATE_TOPICS, "CreateTopics", (2, 7), 5),
    Api(ApiKey.DELETE_TOPICS, "DeleteTopics", (1, 6), 4),
    Api(ApiKey.DELETE_RECORDS, "DeleteRecords", (0, 2), 2),
    Api(ApiKey.INIT_PRODUCER_ID, "InitProducerId", (0, 6), 2),
    Api(ApiKey.OFFSET_FOR_LEADER_EPOCH, "OffsetForLeaderEpoch", (2, 4), 4),
    Api(ApiKey.ADD_PARTITIONS_TO_TXN, "AddPartitionsToTxn", (0, 5), 3),
    Api(ApiKey.ADD_OFFSETS_TO_TXN, "AddOffsetsToTxn", (0, 4), 3),
    Api(ApiKey.END_TXN, "EndTxn", (0, 5), 3),
    Api(ApiKey.WRITE_TXN_MARKERS, "WriteTxnMarkers", (1, 2), 1),
    Api(ApiKey.TXN_OFFSET_COMMIT, "TxnOffsetCommit", (0, 5), 3),
    Api(ApiKey.DESCRIBE_ACLS, "DescribeAcls", (1, 3), 2),
    Api(ApiKey.CREATE_ACLS, "CreateAcls", (1, 3), 2),
    Api(ApiKey.DELETE_ACLS, "DeleteAcls", (1, 3), 2),
    Api(ApiKey.DESCRIBE_CONFIGS, "DescribeConfigs", (1, 4), 4),
    Api(ApiKey.ALTER_CONFIGS, "AlterConfigs", (0, 2), 2),
    Api(ApiKey.ALTER_REPLICA_LOG_DIRS, "AlterReplicaLogDirs", (1, 2), 2),
    Api(ApiKey.DESCRIBE_LOG_DIRS, "DescribeLogDirs", (1, 5), 2),
    Api(ApiKey.SASL_AUTHENTICATE, "SaslAuthenticate", (0, 2), 2),
    Api(ApiKey.CREATE_PARTITIONS, "CreatePartitions", (0, 3), 2),
    Api(ApiKey.DELETE_GROUPS, "DeleteGroups", (0, 2), 2),
    Api(ApiKey.ELECT_LEADERS, "ElectLeaders", (0, 2), 2),
    Api(ApiKey.INCREMENTAL_ALTER_CONFIGS, "IncrementalAlterConfigs", (0, 1), 1),
    Api(ApiKey.ALTER_PARTITION_REASSIGNMENTS, "AlterPartitionReassignments", (0, 1), 0),
    Api(ApiKey.LIST_PARTITION_REASSIGNMENTS, "ListPartitionReassignments", (0, 0), 0),
    Api(ApiKey.OFFSET_DELETE, "OffsetDelete", (0, 0), NEVER),
    Api(ApiKey.DESCRIBE_CLIENT_QUOTAS, "DescribeClientQuotas", (0, 1), 1),
    Api(ApiKey.ALTER_CLIENT_QUOTAS, "AlterClientQuotas", (0, 1), 1),
    Api(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, "DescribeUserScramCredentials", (0, 0), 0),
    Api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "AlterUserScramCredentials", (0, 0), 0),
    Api(ApiKey.VOTE, "Vote", (0, 2), 0),
    Api(ApiKey.BEGIN_QUORUM_EPOCH, "BeginQuorumEpoch", (0, 1), 1),
    Api(ApiKey.END_QUORUM_EPOCH, "EndQuorumEpoch", (0, 1), 1),
    Api(ApiKey.DESCRIBE_QUORUM, "DescribeQuorum", (0, 2), 0),
    Api(ApiKey.ALTER_PARTITION, "AlterPartition", (2, 3), 0),
    Api(ApiKey.UPDATE_FEATURES, "UpdateFeatures", (0, 2), 0),
    Api(ApiKey.ENVELOPE, "Envelope", (0, 0), 0),
    Api(ApiKey.FETCH_SNAPSHOT, "FetchSnapshot", (0, 1), 0),
    Api(ApiKey.DESCRIBE_CLUSTER, "DescribeCluster", (0, 2), 0),
    Api(ApiKey.DESCRIBE_PRODUCERS, "DescribeProducers", (0, 0), 0),
    Api(ApiKey.BROKER_REGISTRATION, "BrokerRegistration", (0, 4), 0),
    Api(ApiKey.BROKER_HEARTBEAT, "BrokerHeartbeat", (0, 2), 0),
    Api(ApiKey.UNREGISTER_BROKER, "UnregisterBroker", (0, 0), 0),
    Api(ApiKey.DESCRIBE_TRANSACTIONS, "DescribeTransactions", (0, 0), 0),
    Api(ApiKey.LIST_TRANSACTIONS, "ListTransactions", (0, 2), 0),
    Api(ApiKey.ALLOCATE_PRODUCER_IDS, "AllocateProducerIds", (0, 0), 0),
    Api(ApiKey.CONSUMER_GROUP_HEARTBEAT, "ConsumerGroupHeartbeat", (0, 1), 0),
    Api(ApiKey.CONSUMER_GROUP_DESCRIBE, "ConsumerGroupDescribe", (0, 1), 0),
    Api(ApiKey.CONTROLLER_REGISTRATION, "ControllerRegistration", (0, 0), 0),
    Api(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, "GetTelemetrySubscriptions", (0, 0), 0),
    Api(ApiKey.PUSH_TELEMETRY, "PushTelemetry", (0, 0), 0),
    Api(ApiKey.ASSIGN_REPLICAS_TO_DIRS, "AssignReplicasToDirs", (0, 0), 0),
    Api(ApiKey.LIST_CONFIG_RESOURCES, "ListConfigResources", (0, 1), 0),
    Api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, "DescribeTopicPartitions", (0, 0), 0),
    Api(ApiKey.ADD_RAFT_VOTER, "AddRaftVoter", (0, 1), 0),
    Api(ApiKey.REMOVE_RAFT_VOTER, "RemoveRaftVoter", (0, 0), 0),
    Api(ApiKey.UPDATE_RAFT_VOTER, "UpdateRaftVoter", (0, 0), 0),
)

APIS: dict[int, Api] = {api.key: api for api in _TABLE}
