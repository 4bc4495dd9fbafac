"""The requests of the quorum: each names the cluster, the one log there is, and who speaks in which epoch."""

import pytest

from andiron.broker.metadata.raft_requests import (
    METADATA,
    TOPIC_ID,
    ReplicaKey,
    begin_request,
    end_request,
    fetch_request,
    vote_request,
)
from andiron.broker.settings.listeners import Listener
from andiron.quorum.events import AskVote, LogEnd
from andiron.replication.follower import Position
from andiron.wire.apis import APIS
from andiron.wire.codec import decode_message, encode_message

CLUSTER = "a-cluster"
DIRECTORY = bytes(range(16))


def sent(request):
    """A request as the other side reads it."""
    api = APIS[type(request).__api_key__]
    version = api.versions[1]
    return decode_message(api.request, version, encode_message(request, version))


def test_the_metadata_topic_is_the_one_that_kafka_knows():
    assert (METADATA.topic, METADATA.partition) == ("__cluster_metadata", 0)
    assert TOPIC_ID.hex() == "0" * 31 + "1"


@pytest.mark.parametrize("pre_vote", [True, False])
def test_a_vote_is_asked_for_with_the_end_of_the_log(pre_vote):
    request = sent(vote_request(CLUSTER, 1, AskVote(2, 7, pre_vote, LogEnd(6, 42)), DIRECTORY))

    [topic] = request.topics
    [asked] = topic.partitions
    assert (request.cluster_id, request.voter_id, topic.topic_name) == (CLUSTER, 2, METADATA.topic)
    assert (asked.replica_id, asked.replica_epoch, asked.pre_vote) == (1, 7, pre_vote)
    assert asked.voter_directory_id == DIRECTORY
    assert (asked.last_offset_epoch, asked.last_offset) == (6, 42)


def test_a_leader_says_in_which_epoch_it_leads():
    request = sent(begin_request(CLUSTER, 2, 1, 7, [Listener("CONTROLLER", "here", 9093)]))

    [said] = request.topics[0].partitions
    [reached] = request.leader_endpoints
    assert (reached.name, reached.host, reached.port) == ("CONTROLLER", "here", 9093)
    assert (request.cluster_id, request.voter_id) == (CLUSTER, 2)
    assert (said.leader_id, said.leader_epoch) == (1, 7)


def test_a_leader_that_goes_says_who_should_follow_the_best_first():
    request = sent(end_request(CLUSTER, 1, 7, [3, 2]))

    [said] = request.topics[0].partitions
    assert (said.leader_id, said.leader_epoch) == (1, 7)
    assert [each.candidate_id for each in said.preferred_candidates] == [3, 2]


def test_a_follower_fetches_by_the_topics_id_and_tells_what_it_knows():
    request = sent(fetch_request(CLUSTER, ReplicaKey(3, b"d" * 16), 7, Position(42, 6, 10), 40, 500))

    [topic] = request.topics
    [asked] = topic.partitions
    assert (request.cluster_id, request.replica_state.replica_id, request.max_wait_ms) == (CLUSTER, 3, 500)
    assert topic.topic_id == TOPIC_ID
    assert (asked.current_leader_epoch, asked.fetch_offset, asked.last_fetched_epoch) == (7, 42, 6)
    assert (asked.log_start_offset, asked.high_watermark) == (10, 40)
    assert asked.replica_directory_id == b"d" * 16


def test_a_fetch_of_the_metadata_is_no_session():
    assert (
        fetch_request(CLUSTER, ReplicaKey(3, b"d" * 16), 7, Position(42, 6, 10), 40, 500).session_epoch == -1
    )
