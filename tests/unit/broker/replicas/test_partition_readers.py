"""What consumers, followers and the quorum's nodes read of a partition; whole requests: handlers/test_fetch*.py."""

from unittest.mock import patch

import pytest

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_requests import TOPIC_ID
from andiron.broker.replicas.fetch_sessions import CachedPartition
from andiron.broker.replicas.leader_hints import LeaderHints
from andiron.broker.replicas.log_read_result import LogReadResult
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.partition_readers import (
    ConsumerReader,
    FollowerReader,
    MetadataConsumerReader,
    MetadataFollowerReader,
    Replica,
    replica_of,
)
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from worlds.cluster_client import create, produce, small_cluster
from worlds.fetching import asking, told, wait_for
from worlds.node import error_of

ME = Replica(1, -1)


@pytest.fixture
def broker(node):
    node.create("t")
    node.produce("t", b"a")
    return node.node.broker


def result(offset=0, topic="t", topic_id=bytes(16), **more):
    return LogReadResult(CachedPartition(topic, topic_id, FetchPartition(0, fetch_offset=offset, **more)))


def test_who_follows_is_named_in_either_of_two_places():
    assert replica_of(FetchRequest(replica_id=2)) == Replica(2, -1)
    assert replica_of(FetchRequest(replica_state=ReplicaState(3, 7))) == Replica(3, 7)
    assert replica_of(FetchRequest(replica_state=ReplicaState(-1, -1))) is None


def test_a_consumer_reads_to_the_high_watermark_or_the_last_stable_offset_and_a_follower_to_the_end(broker):
    partition, found = (
        broker.partition_by_name("t", 0),
        LogReadResult(result().asked, watermark=7, last_stable=5),
    )

    assert ConsumerReader(broker, FetchRequest(), 12).end(partition, found) == 7
    assert ConsumerReader(broker, FetchRequest(isolation_level=1), 12).end(partition, found) == 5
    assert FollowerReader(broker, ME, 1).end(partition, found) == partition.log.end == 1


def test_who_holds_no_replica_does_not_follow(broker):
    with pytest.raises(ProtocolError) as caught:
        FollowerReader(broker, Replica(9, 1), 1).judge(broker.partition_by_name("t", 0), result())

    assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("follows", [False, True])
def test_whoever_reads_the_metadata_log_is_told_who_leads_it(broker, follows):
    hints = LeaderHints(broker, "CONTROLLER")
    reader = (
        MetadataFollowerReader(broker, ME, 1, hints)
        if follows
        else MetadataConsumerReader(broker, FetchRequest(), 12, hints)
    )
    asked = result(topic="", topic_id=TOPIC_ID).asked

    assert reader.find(asked) is broker.raft.partition
    assert reader.hint(asked).leader_id == 1


def test_a_partition_is_looked_up_once_a_request_though_it_waits(node, broker):
    with patch.object(Broker, "partition", autospec=True, side_effect=Broker.partition) as looked_up:
        ticket = wait_for(node, asking({0: 1}, wait_ms=60_000))
        node.produce("t", b"b")

    assert told(node.answer(ticket)) == {0: [b"b"]}
    assert looked_up.call_count == 1


def test_a_followers_position_is_judged_once_and_not_again_when_it_is_read_from():
    cluster = small_cluster((1, 2, 3), voters=(3,), without_broker=(3,))
    cluster.cut |= {(1, 2), (2, 1)}
    create(cluster, "t", (1, 2))
    produce(cluster, "t", b"a", to=1, acks=1)
    partition, life = cluster.partition(1, "t"), cluster.broker(2).lifecycle.epoch
    wanted = FetchPartition(0, partition.epoch, 1, partition.epoch, 0, 1 << 20, high_watermark=(1 << 63) - 1)
    request = FetchRequest(
        replica_state=ReplicaState(2, life), topics=[FetchTopic("", partition.topic_id, [wanted])]
    )

    with (
        patch.object(Partition, "divergence", autospec=True, side_effect=Partition.divergence) as judged,
        patch.object(Broker, "partition", autospec=True, side_effect=Broker.partition) as looked_up,
    ):
        answer = cluster.answer(1, request, 18)

    assert error_of(answer.responses[0].partitions[0]) == "NONE"
    assert judged.call_count == looked_up.call_count == 1
    assert partition.leader().progress()[2].offset == 1
