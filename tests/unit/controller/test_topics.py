"""Topics are created and deleted, each by itself, with Kafka's errors."""

from __future__ import annotations

import pytest

from andiron.controller.topics import is_internal, name_fault
from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TOPIC_ID
from andiron.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from controller.cluster import AT_FIRST, Cluster, directory


def creation(*topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(list(topics), validate_only=validate_only)


def by_hand(name: str, assignments: dict[int, list[int]]) -> CreatableTopic:
    given = [CreatableReplicaAssignment(number, replicas) for number, replicas in assignments.items()]
    return CreatableTopic(name, -1, -1, given)


def code_of(result) -> ErrorCode:
    return ErrorCode.of(result.error_code)


# ── names ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "x" * 249, "...", "__consumer_offsets"])
def test_a_name_of_letters_digits_and_three_signs_is_fine(name):
    assert name_fault(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "é", "a\n"])
def test_other_names_are_not(name):
    assert name_fault(name) is not None


def test_the_clusters_own_topics_are_internal():
    assert is_internal("__consumer_offsets")
    assert not is_internal("__mine")


# ── creating ─────────────────────────────────────────────────────────────────────────


def test_a_topic_comes_with_its_partitions_led_by_live_brokers():
    cluster = Cluster()

    result = cluster.create("t", partitions=3)

    assert code_of(result) is ErrorCode.NONE
    assert (result.num_partitions, result.replication_factor) == (3, 1)
    topic = cluster.image.topics["t"]
    assert topic.id == result.topic_id != NO_TOPIC_ID
    partition = topic.partitions[2]
    assert (partition.replicas, partition.isr, partition.leader) == ((1,), (1,), 1)
    assert (partition.leader_epoch, partition.partition_epoch) == (0, 0)
    assert partition.directories == (directory(1),)


def test_what_is_not_said_is_the_brokers_default():
    cluster = Cluster(3, num_partitions="4", default_replication_factor="2")

    result = cluster.create("t", partitions=-1, replicas=-1)

    assert (result.num_partitions, result.replication_factor) == (4, 2)


def test_the_answer_shows_all_settings_of_the_topic():
    cluster = Cluster(log_retention_ms="77")

    result = cluster.create("t", cleanup_policy="compact")

    shown = {config.name: (config.value, config.config_source) for config in result.configs}
    assert shown["cleanup.policy"] == ("compact", 1)
    assert shown["retention.ms"] == ("77", 4)
    assert shown["segment.bytes"] == ("1073741824", 5)
    assert cluster.image.configs == {**AT_FIRST, (2, "t"): {"cleanup.policy": "compact"}}


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (CreatableTopic("a b", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("old", 1, 1), ErrorCode.TOPIC_ALREADY_EXISTS),
        (CreatableTopic("o.d", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("__cluster_metadata", 1, 1), ErrorCode.INVALID_REQUEST),
        (CreatableTopic("t", 0, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic("t", -2, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("t", 1, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("t", 1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("t", 10_001, 1), ErrorCode.POLICY_VIOLATION),
        (CreatableTopic("t", 1, 1, [], [CreatableTopicConfig("nope", "1")]), ErrorCode.INVALID_CONFIG),
        (
            CreatableTopic("t", 1, 1, [], [CreatableTopicConfig("retention.ms", "x")]),
            ErrorCode.INVALID_CONFIG,
        ),
        (
            CreatableTopic("t", 1, 1, [], [CreatableTopicConfig("retention.ms", None)]),
            ErrorCode.INVALID_CONFIG,
        ),
        (
            CreatableTopic(
                "t", 1, 1, [], [CreatableTopicConfig("min.compaction.lag.ms", "9223372036854775807")]
            ),
            ErrorCode.INVALID_CONFIG,
        ),
        (by_hand("t", {0: [1], 2: [1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (by_hand("t", {0: [1, 1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (by_hand("t", {0: [7]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (by_hand("t", {0: []}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (by_hand("t", {0: [1], 1: [1, 2]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (by_hand("t", {0: [3]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (CreatableTopic("t", 1, -1, [CreatableReplicaAssignment(0, [1])]), ErrorCode.INVALID_REQUEST),
        (CreatableTopic("t", -1, 1, [CreatableReplicaAssignment(0, [1])]), ErrorCode.INVALID_REQUEST),
        (
            CreatableTopic(
                "t", -1, -1, [CreatableReplicaAssignment(0, [1]), CreatableReplicaAssignment(0, [1])]
            ),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ),
    ],
)
def test_a_topic_that_cannot_be_gets_its_error_and_leaves_no_trace(topic, code):
    cluster = Cluster(3, fenced=(3,), log_cleaner_max_compaction_lag_ms="1000")
    cluster.create("old")
    cluster.create("o_d")
    before = len(cluster.log)

    result = cluster.run(creation(topic)).topics[0]

    assert code_of(result) is code
    assert result.error_message
    assert len(cluster.log) == before


def test_each_topic_of_a_request_is_decided_for_itself():
    cluster = Cluster()

    response = cluster.run(
        creation(CreatableTopic("a", 1, 1), CreatableTopic("b", 0, 1), CreatableTopic("c", 1, 1))
    )

    assert [code_of(result) for result in response.topics] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_PARTITIONS,
        ErrorCode.NONE,
    ]
    assert list(cluster.image.topics) == ["a", "c"]


def test_topics_of_a_request_see_each_other():
    cluster = Cluster()

    response = cluster.run(creation(CreatableTopic("a.b", 1, 1), CreatableTopic("a_b", 1, 1)))

    assert [code_of(result) for result in response.topics] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]


def test_a_topic_that_is_there_twice_is_not_created():
    cluster = Cluster()

    response = cluster.run(creation(CreatableTopic("a", 1, 1), CreatableTopic("a", 2, 1)))

    assert [code_of(result) for result in response.topics] == [ErrorCode.INVALID_REQUEST]
    assert cluster.image.topics == {}


def test_a_trial_answers_and_changes_nothing():
    cluster = Cluster()

    result = cluster.run(creation(CreatableTopic("t", 3, 1), validate_only=True)).topics[0]

    assert (code_of(result), result.num_partitions) == (ErrorCode.NONE, 3)
    assert cluster.image.topics == {}


def test_replicas_by_hand_stand_where_they_were_put():
    cluster = Cluster(3, fenced=(2,))

    result = cluster.run(creation(by_hand("t", {1: [3, 1], 0: [2, 3]}))).topics[0]

    assert (result.num_partitions, result.replication_factor) == (2, 2)
    first = cluster.partition("t", 0)
    assert (first.replicas, first.isr, first.leader) == ((2, 3), (3,), 3)
    assert cluster.partition("t", 1).replicas == (3, 1)


def test_ten_thousand_partitions_fit_into_a_request():
    cluster = Cluster()

    assert code_of(cluster.create("t", partitions=10_000)) is ErrorCode.NONE
    assert len(cluster.image.topics["t"].partitions) == 10_000


def test_the_limit_is_for_all_topics_of_the_request_together():
    cluster = Cluster()

    response = cluster.run(creation(CreatableTopic("a", 9_000, 1), CreatableTopic("b", 1_001, 1)))

    assert [code_of(result) for result in response.topics] == [ErrorCode.POLICY_VIOLATION] * 2


def test_ids_are_different_from_topic_to_topic_and_from_seed_to_seed():
    cluster, other = Cluster(seed=1), Cluster(seed=2)

    ids = {cluster.create("a").topic_id, cluster.create("b").topic_id, other.create("a").topic_id}

    assert len(ids) == 3


# ── deleting ─────────────────────────────────────────────────────────────────────────


def test_a_topic_is_deleted_by_name_or_by_id():
    cluster = Cluster()
    id_of = {name: cluster.create(name).topic_id for name in "abc"}

    old = cluster.run(DeleteTopicsRequest(topic_names=["a"])).responses
    new = cluster.run(
        DeleteTopicsRequest([DeleteTopicState("b"), DeleteTopicState(None, id_of["c"])])
    ).responses

    assert [(result.name, result.topic_id, result.error_code) for result in [*old, *new]] == [
        (name, id_of[name], 0) for name in "abc"
    ]
    assert cluster.image.topics == {}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (DeleteTopicState("nonesuch"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (DeleteTopicState(None, b"x" * 16), ErrorCode.UNKNOWN_TOPIC_ID),
        (DeleteTopicState(None, NO_TOPIC_ID), ErrorCode.INVALID_REQUEST),
        (DeleteTopicState("t", b"x" * 16), ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_topic_that_is_not_there_cannot_be_deleted(asked, code):
    cluster = Cluster()
    cluster.create("t")

    result = cluster.run(DeleteTopicsRequest([asked])).responses[0]

    assert (code_of(result), result.name, result.topic_id) == (code, asked.name, asked.topic_id)
    assert list(cluster.image.topics) == ["t"]


def test_a_topic_that_is_there_twice_is_not_deleted_twice():
    cluster = Cluster()
    topic_id = cluster.create("t").topic_id

    twice = cluster.run(DeleteTopicsRequest(topic_names=["t", "t"])).responses
    assert [code_of(result) for result in twice] == [ErrorCode.INVALID_REQUEST]

    both = cluster.run(
        DeleteTopicsRequest([DeleteTopicState("t"), DeleteTopicState(None, topic_id)])
    ).responses
    assert [code_of(result) for result in both] == [ErrorCode.NONE, ErrorCode.INVALID_REQUEST]
    assert cluster.image.topics == {}


def test_topics_stay_where_deletion_is_not_enabled():
    cluster = Cluster(delete_topic_enable="false")
    cluster.create("t")

    result = cluster.run(DeleteTopicsRequest(topic_names=["t"])).responses[0]

    assert code_of(result) is ErrorCode.TOPIC_DELETION_DISABLED
    assert list(cluster.image.topics) == ["t"]


def test_a_topic_created_anew_has_another_id_and_no_settings_of_the_old_one():
    cluster = Cluster()
    first = cluster.create("t", retention_ms="5").topic_id
    cluster.run(DeleteTopicsRequest(topic_names=["t"]))

    assert cluster.create("t").topic_id != first
    assert cluster.image.configs == AT_FIRST
