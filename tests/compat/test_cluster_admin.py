"""Admin clients see three brokers and drive them as they do Kafka's: with ANDIRON_TEST_PEER=kafka they are Kafka's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import TopicPartition as Place
from kafka.admin import KafkaAdminClient
from kafka.admin import NewTopic as TopicToMake

from compat.conftest import PEER
from peers import clients
from peers.clients.base import Refused
from peers.clients.java import Java
from peers.kafka_cluster import KafkaCluster
from peers.node_cluster import NodeCluster
from peers.waiting import eventually

pytestmark = pytest.mark.slow
PATIENCE_S = 60
NO_REASSIGNMENT_IN_PROGRESS, ELECTION_NOT_NEEDED, INVALID_REPLICA_ASSIGNMENT = 85, 84, 39
Cluster = KafkaCluster | NodeCluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers for all tests of this file; each test has topics of its own."""
    folder = tmp_path_factory.mktemp("cluster")
    with KafkaCluster(folder) if PEER == "kafka" else NodeCluster(folder) as cluster:
        yield cluster


@pytest.fixture
def confluent(cluster: Cluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap})


@pytest.fixture
def python(cluster: Cluster) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap.split(",")) as admin:
        yield admin


@pytest.fixture
def java(cluster: Cluster) -> Callable[..., Any]:
    """Ask Kafka's own Admin client about the cluster."""
    client = clients.connect("java", cluster.bootstrap)
    assert isinstance(client, Java)
    return lambda what, **fields: client.call("cluster", what=what, **fields)


def standing(confluent: AdminClient, topic: str, number: int = 0) -> tuple[int, list[int], list[int]]:
    """Its leader, its replicas in their order, and those in sync; none of them while it is not known yet."""
    found = confluent.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions.get(number)
    return (-1, [], []) if found is None else (found.leader, found.replicas, sorted(found.isrs))


# ── what they see ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["confluent", "kafka_python", pytest.param("java", marks=pytest.mark.java)])
def test_each_sees_all_brokers(cluster: Cluster, name: str) -> None:
    client = clients.connect(name, cluster.bootstrap)

    assert client.describe_cluster().brokers == {1, 2, 3}


@pytest.mark.java
def test_all_see_one_quorum(python: KafkaAdminClient, java: Callable[..., Any]) -> None:
    told = python.describe_metadata_quorum()["topics"][0]["partitions"][0]
    quorum = java("quorum")

    assert quorum["voters"] == [1, 2, 3] == sorted(each["replica_id"] for each in told["current_voters"])
    assert quorum["leader"] == told["leader_id"]
    assert quorum["watermark"] > 0


@pytest.mark.java
def test_features_are_told(java: Callable[..., Any]) -> None:
    features = java("features")

    assert features["metadata.version"] > 0
    assert {"eligible.leader.replicas.version", "group.version", "transaction.version"} <= features.keys()


# ── what they do ─────────────────────────────────────────────────────────────────────


def test_confluent_lays_replicas_where_it_wants_and_elects_who_is_preferred(confluent: AdminClient) -> None:
    topic = NewTopic("by-confluent", 2, replica_assignment=[[3, 1, 2], [2, 3, 1]])
    confluent.create_topics([topic])["by-confluent"].result(PATIENCE_S)
    eventually(lambda: standing(confluent, "by-confluent") == (3, [3, 1, 2], [1, 2, 3]))

    asked = TopicPartition("by-confluent", 0)
    told = confluent.elect_leaders(ElectionType.PREFERRED, [asked]).result(PATIENCE_S)
    assert told[asked].code() == ELECTION_NOT_NEEDED


@pytest.mark.parametrize("places", [[[1, 9]], [[1, 1]]])
def test_confluent_hears_of_places_that_cannot_be(confluent: AdminClient, places: list[list[int]]) -> None:
    asked = NewTopic("nowhere", 1, replica_assignment=places)
    with pytest.raises(KafkaException) as refused:
        confluent.create_topics([asked])["nowhere"].result(PATIENCE_S)

    assert refused.value.args[0].code() == INVALID_REPLICA_ASSIGNMENT


def test_kafka_python_moves_a_replica_and_has_the_next_lead(
    python: KafkaAdminClient, confluent: AdminClient
) -> None:
    python.create_topics([TopicToMake("by-python", num_partitions=1, replication_factor=3)])
    eventually(lambda: len(standing(confluent, "by-python")[2]) == 3)
    leader, replicas, _ = standing(confluent, "by-python")
    turned = [*replicas[1:], leader]

    python.alter_partition_reassignments({Place("by-python", 0): turned})
    eventually(lambda: not python.list_partition_reassignments())
    eventually(lambda: standing(confluent, "by-python")[1] == turned)
    python.elect_leaders(0, {"by-python": [0]})

    eventually(lambda: standing(confluent, "by-python") == (turned[0], turned, [1, 2, 3]))


@pytest.mark.java
def test_java_moves_replicas_and_hears_what_cannot_be(
    java: Callable[..., Any], confluent: AdminClient
) -> None:
    java("create", topic="by-java", replicas=[[1, 2]])
    eventually(lambda: standing(confluent, "by-java") == (1, [1, 2], [1, 2]))
    place = {"topic": "by-java", "partition": 0}

    java("reassign", replicas=[3, 2], **place)
    eventually(lambda: java("under_way") == {})
    eventually(lambda: standing(confluent, "by-java")[1:] == ([3, 2], [2, 3]))
    eventually(lambda: standing(confluent, "by-java")[0] in (2, 3))

    for code, ask in {
        NO_REASSIGNMENT_IN_PROGRESS: lambda: java("reassign", replicas=None, **place),
        INVALID_REPLICA_ASSIGNMENT: lambda: java("reassign", replicas=[3, 9], **place),
        ELECTION_NOT_NEEDED: lambda: java("elect", unclean=True, **place),
    }.items():
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.code == code
