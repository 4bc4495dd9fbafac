"""With its error a client is told who leads instead, and where that is."""

import pytest

from andiron.broker.metadata.raft_requests import TOPIC_ID
from andiron.broker.replicas.leader_hints import Endpoint, Hint, LeaderHints
from worlds.cluster_client import create, small_cluster


@pytest.fixture
def cluster():
    made = small_cluster()
    create(made, "t", [(2, 3, 1), (3, 1, 2)])
    return made


def hints(cluster, number=1):
    return LeaderHints(cluster.broker(number), "PLAINTEXT")


def test_a_partition_is_known_by_its_topics_name_or_id(cluster):
    told, id = hints(cluster), cluster.image.topics["t"].id

    assert told.leader_of("t", bytes(16), 0) == Hint(2, 0)
    assert told.leader_of("", id, 1) == Hint(3, 0)


def test_each_leader_that_was_named_is_located_once(cluster):
    told = hints(cluster)
    for index in (0, 1, 0, 1):
        told.leader_of("t", bytes(16), index)

    assert told.endpoints() == [Endpoint(2, "node-2", 9092), Endpoint(3, "node-3", 9092)]


@pytest.mark.parametrize("topic, index", [("nope", 0), ("t", 7)])
def test_of_what_is_not_known_nothing_is_said(cluster, topic, index):
    told = hints(cluster)

    assert told.leader_of(topic, bytes(16), index) is None
    assert told.endpoints() == []


def test_that_nobody_leads_is_said_without_an_address(cluster):
    create(cluster, "u", (2,), min_insync_replicas=1)
    cluster.kill(2)
    cluster.until(lambda: cluster.leader_of("u") == -1)
    told = hints(cluster, 3)

    assert told.leader_of("u", bytes(16), 0) == Hint(-1, 1)
    assert told.endpoints() == []


def test_the_metadata_is_led_by_the_controller_at_its_own_listener(cluster):
    told, controller = hints(cluster), cluster.controller

    hint = told.leader_of("", TOPIC_ID, 0)

    assert hint == Hint(controller, cluster.broker(controller).raft.quorum.epoch)
    assert told.endpoints() == [Endpoint(controller, f"node-{controller}", 9093)]
