"""What is asked about a cluster, and how answers and refusals come back. Against Kafka: tests/cli/test_cluster.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin, Election
from andiron.client.core.addresses import Address
from andiron.client.core.reassignments import Reassignment
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.add_raft_voter import AddRaftVoterResponse
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from andiron.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    ReplicaState,
)
from andiron.wire.messages.elect_leaders import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterResponse
from andiron.wire.messages.unregister_broker import UnregisterBrokerResponse
from unit.client.scripted import ScriptedBroker

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
DIRECTORY = bytes(range(16))


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        brokers = [DescribeClusterBroker(1, "a", 9092), DescribeClusterBroker(2, "b", 9092, "r", True)]
        told = DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=brokers)
        scripted.on(ApiKey.DESCRIBE_CLUSTER, lambda request: told)
        yield scripted


@pytest.fixture
def admin(broker: ScriptedBroker) -> Iterator[ClusterAdmin]:
    with Client(broker.bootstrap, ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)) as client:
        yield ClusterAdmin(client)


def quorum(error: int = 0) -> DescribeQuorumResponse:
    voters = [ReplicaState(1, DIRECTORY, 10, 5, 5)]
    partition = DescribeQuorumResponsePartition(0, error, None, 1, 3, 9, voters)
    return DescribeQuorumResponse(topics=[DescribeQuorumResponseTopic("__cluster_metadata", [partition])])


def test_fenced_brokers_are_asked_for(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    told = admin.describe_cluster()

    assert [(each.id, each.rack, each.fenced) for each in told.brokers] == [(1, None, False), (2, "r", True)]
    assert broker.requests("DescribeCluster")[0].include_fenced_brokers


def test_a_broker_that_does_not_tell_of_fenced_ones_is_asked_all_the_same(
    broker: ScriptedBroker, admin: ClusterAdmin
) -> None:
    broker.versions[ApiKey.DESCRIBE_CLUSTER] = (0, 1)

    assert [each.fenced for each in admin.describe_cluster().brokers] == [False, False]


def test_the_quorum_is_asked_again_while_it_has_no_leader(
    broker: ScriptedBroker, admin: ClusterAdmin
) -> None:
    leaderless = ErrorCode.NOT_LEADER_OR_FOLLOWER.number
    broker.on(ApiKey.DESCRIBE_QUORUM, lambda request: quorum(leaderless), lambda request: quorum())

    told = admin.describe_quorum()

    assert (told.leader_id, told.epoch, told.high_watermark) == (1, 3, 9)
    assert len(broker.requests("DescribeQuorum")) == 2


def test_an_answer_without_the_quorum_is_an_error(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    broker.on(ApiKey.DESCRIBE_QUORUM, lambda request: DescribeQuorumResponse())

    with pytest.raises(ProtocolError, match="nothing was said"):
        admin.describe_quorum()


def test_an_election_tells_who_has_a_new_leader_and_who_was_refused(
    broker: ScriptedBroker, admin: ClusterAdmin
) -> None:
    rows = [
        PartitionResult(0),
        PartitionResult(1, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE.number, "it is away"),
        PartitionResult(2, ErrorCode.ELECTION_NOT_NEEDED.number),
    ]
    answer = ElectLeadersResponse(replica_election_results=[ReplicaElectionResult("t", rows)])
    broker.on(ApiKey.ELECT_LEADERS, lambda request: answer)

    elected, refused = admin.elect_leaders(Election.UNCLEAN, [P0, P1])

    assert elected == [P0]
    assert [(each, str(error.detail)) for each, error in refused.items()] == [(P1, "t-1: it is away")]
    (request,) = broker.requests("ElectLeaders")
    assert request.election_type == 1
    assert [(each.topic, each.partitions) for each in request.topic_partitions] == [("t", [0, 1])]


def test_without_partitions_all_are_meant(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    broker.on(ApiKey.ELECT_LEADERS, lambda request: ElectLeadersResponse())
    admin.elect_leaders(Election.PREFERRED)

    assert broker.requests("ElectLeaders")[0].topic_partitions is None


def refusals(*errors: ErrorCode) -> Any:
    rows = [ReassignablePartitionResponse(at, error.number) for at, error in enumerate(errors)]
    answer = AlterPartitionReassignmentsResponse(responses=[ReassignableTopicResponse("t", rows)])
    return lambda request: answer


def test_what_is_refused_of_a_reassignment_is_returned(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    broker.on(ApiKey.ALTER_PARTITION_REASSIGNMENTS, refusals(ErrorCode.NONE, code))

    refused = admin.reassign({P0: [1, 2], P1: (9,)})

    assert {each: error.code for each, error in refused.items()} == {P1: code}
    (topic,) = broker.requests("AlterPartitionReassignments")[0].topics
    assert [(each.partition_index, each.replicas) for each in topic.partitions] == [(0, [1, 2]), (1, [9])]


def test_calling_off_what_is_not_under_way_is_no_refusal(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    broker.on(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS, refusals(ErrorCode.NONE, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    )

    assert admin.cancel_reassignments([P0, P1]) == {}
    (topic,) = broker.requests("AlterPartitionReassignments")[0].topics
    assert [each.replicas for each in topic.partitions] == [None, None]


def test_what_is_under_way_is_listed(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    row = OngoingPartitionReassignment(1, [1, 2, 3], [3], [1])
    answer = ListPartitionReassignmentsResponse(topics=[OngoingTopicReassignment("t", [row])])
    broker.on(ApiKey.LIST_PARTITION_REASSIGNMENTS, lambda request: answer)

    assert admin.reassignments() == {P1: Reassignment([1, 2, 3], [3], [1])}
    admin.reassignments([P0])
    asked = [request.topics for request in broker.requests("ListPartitionReassignments")]
    assert asked[0] is None
    assert [(each.name, each.partition_indexes) for each in asked[1]] == [("t", [0])]


def test_voters_are_added_and_removed_in_the_cluster_they_belong_to(
    broker: ScriptedBroker, admin: ClusterAdmin
) -> None:
    broker.on(ApiKey.ADD_RAFT_VOTER, lambda request: AddRaftVoterResponse())
    broker.on(ApiKey.REMOVE_RAFT_VOTER, lambda request: RemoveRaftVoterResponse())

    admin.add_voter(4, DIRECTORY, {"CONTROLLER": Address("four", 9093)})
    admin.remove_voter(4, DIRECTORY)

    (added,), (removed,) = broker.requests("AddRaftVoter"), broker.requests("RemoveRaftVoter")
    assert (added.cluster_id, added.voter_id, added.voter_directory_id) == ("c", 4, DIRECTORY)
    assert [(each.name, each.host, each.port) for each in added.listeners] == [("CONTROLLER", "four", 9093)]
    assert (removed.cluster_id, removed.voter_id, removed.voter_directory_id) == ("c", 4, DIRECTORY)


def test_refusals_begin_with_what_was_asked_for(broker: ScriptedBroker, admin: ClusterAdmin) -> None:
    code = ErrorCode.BROKER_ID_NOT_REGISTERED
    broker.on(ApiKey.UNREGISTER_BROKER, lambda request: UnregisterBrokerResponse(0, code.number))

    with pytest.raises(ProtocolError, match="broker 9: ") as caught:
        admin.unregister_broker(9)
    assert caught.value.code is code
