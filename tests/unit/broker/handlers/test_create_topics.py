"""Topics come into being: answered when they can be used, with all that was made."""

import pytest

from andiron.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from worlds.node import SmallNode, error_of


def create(node, *topics, version=7, validate_only=False):
    return node.ask(CreateTopicsRequest(list(topics), 1_000, validate_only), version).topics


def topic(name="t", partitions=1, replicas=1, **configs):
    wanted = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
    return CreatableTopic(name, partitions, replicas, configs=wanted)


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_is_made_and_can_be_used_at_once(node, version):
    [result] = create(node, topic(partitions=3), version=version)

    assert (result.name, error_of(result)) == ("t", "NONE")
    assert all(node.produce("t", b"a", partition=number).error_code == 0 for number in range(3))
    if version >= 5:
        assert (result.num_partitions, result.replication_factor) == (3, 1)
        assert {config.name: config.value for config in result.configs}["cleanup.policy"] == "delete"
    if version >= 7:
        assert result.topic_id == node.node.broker.image.topics["t"].id


def test_the_answer_waits_until_the_metadata_is_on_the_disk(node):
    node.flush_at_once = False
    ticket = node.send(CreateTopicsRequest([topic()], 1_000))
    assert node.answer(ticket) is None
    assert node.produce("t", b"a").error_code != 0

    node.do_flushes()

    assert error_of(node.answer(ticket).topics[0]) == "NONE"
    assert node.produce("t", b"a").error_code == 0


def test_its_configs_hold_from_the_first_record_on(node):
    [result] = create(node, topic(max_message_bytes="100"))

    shown = {config.name: (config.value, config.config_source) for config in result.configs}
    assert shown["max.message.bytes"] == ("100", 1)
    assert error_of(node.produce("t", bytes(200))) == "MESSAGE_TOO_LARGE"


def test_the_brokers_defaults_hold_where_nothing_is_said():
    node = SmallNode(num_partitions="4", log_retention_ms="12345")

    [result] = create(node, topic(partitions=-1, replicas=-1))

    assert (result.num_partitions, result.replication_factor) == (4, 1)
    assert node.log("t").settings.retention_ms == 12_345


def test_validate_only_says_what_would_be_and_makes_nothing(node):
    [result] = create(node, topic(partitions=2), validate_only=True)

    assert (error_of(result), result.num_partitions) == ("NONE", 2)
    assert "t" not in node.node.broker.image.topics
    assert len(node.node.broker.replica_manager) == 0


def test_replicas_chosen_by_hand(node):
    chosen = [CreatableReplicaAssignment(number, [1]) for number in (1, 0)]

    [result] = create(node, CreatableTopic("t", -1, -1, chosen))

    assert (error_of(result), result.num_partitions) == ("NONE", 2)


REFUSED = {
    "a name with a space": (topic("a b"), "INVALID_TOPIC_EXCEPTION"),
    "no partitions": (topic(partitions=0), "INVALID_PARTITIONS"),
    "fewer than none": (topic(partitions=-2), "INVALID_PARTITIONS"),
    "no replicas": (topic(replicas=0), "INVALID_REPLICATION_FACTOR"),
    "more replicas than brokers": (topic(replicas=2), "INVALID_REPLICATION_FACTOR"),
    "an unknown setting": (topic(no_such="1"), "INVALID_CONFIG"),
    "a bad value": (topic(retention_ms="soon"), "INVALID_CONFIG"),
    "no value": (topic(retention_ms=None), "INVALID_CONFIG"),
    "a broker that is not there": (
        CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, [9])]), "INVALID_REPLICA_ASSIGNMENT",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "code"), REFUSED.values(), ids=REFUSED)
def test_topics_that_cannot_be_created_are_refused(node, wanted, code):
    [result] = create(node, wanted)

    assert error_of(result) == code
    assert result.error_message
    assert len(node.node.broker.replica_manager) == 0


def test_topics_of_one_request_fail_each_for_itself(node):
    results = create(node, topic("good"), topic("no good"), topic("fine"))

    assert [error_of(result) for result in results] == ["NONE", "INVALID_TOPIC_EXCEPTION", "NONE"]


def test_more_partitions_than_a_request_may_make_are_refused_before_they_are_thought_of(node):
    """Though another topic's nonsense would bring the sum down."""
    [huge, nonsense] = create(node, topic("huge", (1 << 31) - 1), topic("nonsense", -(1 << 31)))

    assert (error_of(huge), error_of(nonsense)) == ("POLICY_VIOLATION", "POLICY_VIOLATION")


def test_a_topic_that_is_there_already(node):
    node.create("t")

    assert error_of(create(node, topic())[0]) == "TOPIC_ALREADY_EXISTS"


def test_two_requests_under_way_do_not_both_make_the_topic(node):
    node.flush_at_once = False
    tickets = [node.send(CreateTopicsRequest([topic()], 1_000)) for _ in range(2)]

    node.do_flushes()

    codes = [error_of(node.answer(ticket).topics[0]) for ticket in tickets]
    assert codes == ["NONE", "TOPIC_ALREADY_EXISTS"]


def test_a_refusal_waits_for_what_it_rests_on(node):
    """That the topic exists may be told only when nobody can take it back."""
    node.flush_at_once = False
    node.send(CreateTopicsRequest([topic()], 1_000))
    refused = node.send(CreateTopicsRequest([topic()], 1_000))

    assert node.answer(refused) is None


def test_a_metadata_log_that_cannot_be_written_is_told_and_is_no_end(node):
    node.disk.fill_up()
    [refused] = create(node, topic())
    assert error_of(refused) == "KAFKA_STORAGE_ERROR"

    node.disk.free_up()

    assert error_of(create(node, topic())[0]) == "NONE"


def test_an_fsync_that_takes_too_long_is_a_timeout(node):
    node.flush_at_once = False
    ticket = node.send(CreateTopicsRequest([topic()], 1_000))

    node.advance(1_000)

    assert error_of(node.answer(ticket).topics[0]) == "REQUEST_TIMED_OUT"
