import pytest

from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.sim.clients.signposts import GROUP, Signposts, passes
from andiron.wire.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataResponse,
    MetadataTopic,
)
from unit.sim.several import Puppets

ORDERS = TopicPartition("orders", 0)
KEY = GROUP, "g"


@pytest.fixture
def puppets(monkeypatch):
    return Puppets(monkeypatch, 3)


def metadata(leader, epoch, topic_id=bytes(16)):
    brokers = [MetadataBroker(number, f"node-{number}", 9092) for number in (1, 2, 3)]
    partition = MetadataPartition(partition_index=0, leader_id=leader, leader_epoch=epoch)
    topic = MetadataTopic(name="orders", topic_id=topic_id, partitions=[partition])
    return MetadataResponse(brokers=brokers, topics=[topic])


def test_leaders_are_where_the_metadata_says(puppets):
    signposts = Signposts(puppets.network, puppets.hosts)
    assert signposts.leader_of(ORDERS) is None
    signposts.learn(metadata(2, 5))
    assert signposts.leader_of(ORDERS) is puppets.host(2)
    assert signposts.epoch_of(ORDERS) == 5


def test_a_topic_that_is_made_again_counts_its_epochs_anew(puppets):
    signposts = Signposts(puppets.network, puppets.hosts)
    signposts.learn(metadata(2, 5))
    signposts.learn(metadata(1, 0, b"another of them."))
    assert (signposts.leader_of(ORDERS), signposts.epoch_of(ORDERS)) == (puppets.host(1), 0)


def test_what_is_older_is_not_believed(puppets):
    signposts = Signposts(puppets.network, puppets.hosts)
    signposts.learn(metadata(2, 5))
    signposts.learn(metadata(1, 4))
    assert signposts.leader_of(ORDERS) is puppets.host(2)
    signposts.learn(metadata(3, 6))
    assert signposts.leader_of(ORDERS) is puppets.host(3)


def test_a_partition_without_a_leader_leaves_doubts(puppets):
    signposts = Signposts(puppets.network, puppets.hosts)
    signposts.learn(metadata(-1, 6))
    assert signposts.are_stale
    assert signposts.leader_of(ORDERS) is None


def test_errors_that_mislead_leave_doubts_until_the_metadata_is_asked_for(puppets):
    signposts = Signposts(puppets.network, puppets.hosts)
    assert not signposts.misled(ErrorCode.REQUEST_TIMED_OUT)
    assert not signposts.are_stale
    assert signposts.misled(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert signposts.are_stale
    signposts.learn(metadata(2, 5))
    assert not signposts.are_stale


def test_coordinators_are_found_and_forgotten(puppets):
    signposts = Signposts(puppets.network, puppets.hosts)
    assert signposts.coordinator_of(KEY) is None
    assert signposts.find(KEY, "node-3", 9092) is puppets.host(3)
    assert signposts.find(KEY, "node-9", 9092) is None
    assert signposts.coordinator_of(KEY) is puppets.host(3)
    signposts.forget(KEY)
    assert signposts.coordinator_of(KEY) is None


def test_one_node_is_everything(puppets):
    signposts = Signposts(puppets.network, puppets.hosts[:1])
    signposts.doubt()
    assert not signposts.are_stale
    assert signposts.leader_of(ORDERS) is signposts.coordinator_of(KEY) is puppets.host(1)


def test_some_errors_pass():
    assert passes(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert passes(ErrorCode.BROKER_NOT_AVAILABLE)
    assert not passes(ErrorCode.NONE)
    assert not passes(ErrorCode.PRODUCER_FENCED)
