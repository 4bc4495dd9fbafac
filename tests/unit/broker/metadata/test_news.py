"""The log of the active controller tells what becomes of the cluster: each thing once, and no history."""

import logging

import pytest

from andiron.broker.metadata.news import News
from andiron.controller.image import BROKER, Delta, Image, PartitionImage, TopicImage
from worlds.cluster_client import create, delete, small_cluster

ID = b"i" * 16


@pytest.fixture
def cluster(caplog):
    caplog.set_level(logging.INFO, "andiron.broker.metadata.news")
    cluster = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    caplog.clear()
    return cluster


def told(caplog):
    return [f"{each.levelname} {each.message}" for each in caplog.records if each.name.endswith(".news")]


def test_topics_come_and_go(cluster, caplog):
    create(cluster, "orders", retention_ms=5)
    delete(cluster, "orders")

    assert told(caplog) == [
        "INFO Topic orders is created partitions=1",
        'INFO Config of "topic orders" is changed settings=[retention.ms]',
        "INFO Topic orders is deleted",
    ]


def test_a_broker_that_dies_is_fenced_and_comes_back(cluster, caplog):
    cluster.kill(3)
    cluster.until(lambda: cluster.image.brokers[3].fenced)
    cluster.start(3)
    cluster.until(lambda: not cluster.image.brokers[3].fenced)

    fenced, unfenced = told(caplog)
    assert fenced.startswith("WARNING Broker 3 is fenced broker_epoch=")
    assert unfenced.startswith("INFO Broker 3 is unfenced broker_epoch=")


def test_a_start_tells_no_history(cluster, caplog):
    create(cluster, "orders")
    caplog.clear()
    cluster.kill(4)
    cluster.start(4)
    cluster.until(lambda: cluster.controller == 4 and cluster.all_ready())

    assert not [each for each in told(caplog) if "orders" in each]


def test_an_unclean_election_is_an_error_and_told_once(caplog):
    image, delta, news = Image(), Delta(partitions={(ID, 0): None}), News()
    leader = PartitionImage((1, 2), (2,), 2, 7, 9, recovering=True)
    image.topics_by_id[ID] = TopicImage("orders", ID, {0: leader})

    for _ in range(2):
        news.tell(delta, image, aloud=True)

    assert told(caplog) == [
        "ERROR Partition orders-0 has a leader by unclean election: committed records may be lost "
        "leader=2 leader_epoch=7"
    ]


def test_a_config_is_told_without_its_values(caplog):
    caplog.set_level(logging.INFO)
    image = Image()
    image.configs[BROKER, ""] = {"ssl.key.password": "secret"}

    News().tell(Delta(configs={(BROKER, ""): None}), image, aloud=True)

    assert told(caplog) == ['INFO Config of "broker default" is changed settings=[ssl.key.password]']
