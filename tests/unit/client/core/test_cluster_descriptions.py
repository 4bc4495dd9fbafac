"""What is told of a cluster, as values."""

from __future__ import annotations

import pytest

from andiron.client.core.addresses import Address
from andiron.client.core.cluster_descriptions import (
    NO_DIRECTORY,
    BrokerState,
    ClusterState,
    Health,
    QuorumMember,
    QuorumState,
    health_of,
    parse_uuid,
    share_of,
    uuid_text,
)
from andiron.client.core.metadata import Partition
from andiron.model.errors import Refused
from andiron.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    Listener,
    Node,
    ReplicaState,
)

DIRECTORY = bytes(range(16))


def partition(leader: int = 1, replicas: str = "123", isr: str = "123", number: int = 0) -> Partition:
    return Partition(number, leader, 0, list(map(int, replicas)), list(map(int, isr)), [])


def quorum(*ends: int, leader: int = 1, observers: int = 0) -> QuorumState:
    rows = [ReplicaState(number, DIRECTORY, end, 5, 4) for number, end in enumerate(ends, 1)]
    voters, rest = rows[: len(rows) - observers], rows[len(rows) - observers :]
    told = DescribeQuorumResponsePartition(0, 0, None, leader, 7, 90, voters, rest)
    nodes = [Node(1, [Listener("CONTROLLER", "one", 9093)])]
    return QuorumState.of(DescribeQuorumResponse(nodes=nodes), told)


def test_brokers_come_in_order_and_only_live_ones_take_replicas() -> None:
    told = [DescribeClusterBroker(2, "b", 9092, "east", True), DescribeClusterBroker(1, "a", 9092)]
    cluster = ClusterState.of(DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=told))

    assert cluster == ClusterState(
        "c",
        1,
        [BrokerState(1, Address("a", 9092), None, False), BrokerState(2, Address("b", 9092), "east", True)],
    )
    assert cluster.racks() == {1: None}


def test_a_members_lag_is_counted_from_the_leaders_end() -> None:
    told = quorum(100, 98, 40, 99, observers=1)

    assert [told.lag(each) for each in [*told.voters, *told.observers]] == [0, 2, 60, 1]
    assert (told.leader_id, told.epoch, told.high_watermark) == (1, 7, 90)
    assert told.addresses == {1: {"CONTROLLER": Address("one", 9093)}}


def test_a_lag_that_nobody_can_know_is_none() -> None:
    assert quorum(100, 98, leader=9).lag(quorum(100, 98).voters[1]) is None
    assert quorum(100, -1).lag(quorum(100, -1).voters[1]) is None


@pytest.mark.parametrize(("voters", "borne"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
def test_a_majority_of_voters_must_stay(voters: int, borne: int) -> None:
    assert quorum(*[1] * voters).failures_borne() == borne


def test_a_voter_that_is_away_has_failed_already() -> None:
    state = quorum(5, 5, 5)
    silent = state.voters[2]._replace(last_fetch_ms=100_000)
    told = state._replace(
        voters=[each._replace(last_fetch_ms=200_000) for each in state.voters[:2]] + [silent]
    )

    assert told.away() == [silent.id]
    assert told.failures_borne() == 0
    assert told.failures_borne(without=silent.id) == 0
    assert told._replace(leader_id=-1).away() == []


def test_voters_are_found_by_their_ids() -> None:
    told = quorum(5, 6)

    assert told.voter(2) == QuorumMember(2, DIRECTORY, 6, 5, 4)
    assert told.voter(3) is None


def test_a_member_without_a_directory_has_no_text_for_it() -> None:
    member = QuorumMember(1, DIRECTORY, 0, -1, -1)

    assert member.directory_text == "AAECAwQFBgcICQoLDA0ODw"
    assert member._replace(directory_id=NO_DIRECTORY).directory_text is None


def test_ids_are_read_as_they_are_written() -> None:
    assert parse_uuid(uuid_text(DIRECTORY)) == DIRECTORY


@pytest.mark.parametrize("text", ["", "short", "ä" * 22, "A" * 44])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="22 letters"):
        parse_uuid(text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (partition(), Health(False, False, False)),
        (partition(isr="12"), Health(False, True, False)),
        (partition(isr="1"), Health(False, True, True)),
        (partition(leader=-1, isr="1"), Health(True, True, True)),
        (partition(replicas="1", isr="1"), Health(False, False, False)),
    ],
)
def test_a_partitions_health(given: Partition, expected: Health) -> None:
    assert health_of(given, min_isr=2) == expected
    assert expected.well == (expected == (False, False, False))


def test_a_minimum_that_is_not_known_is_not_missed() -> None:
    assert not health_of(partition(isr="1"), None).under_min_isr


def test_a_brokers_share_is_what_it_leads_and_what_it_holds() -> None:
    partitions = [partition(), partition(leader=2, replicas="23"), partition(replicas="12")]

    assert [share_of(broker, partitions) for broker in (1, 2, 3, 4)] == [(2, 2), (1, 3), (0, 2), (0, 0)]
