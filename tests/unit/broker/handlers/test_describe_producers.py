"""Who has written to a partition, and whose transactions are open there."""

import pytest

from andiron.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from worlds.coordinating import OFFSETS, TOPIC, end, in_transaction, recover, shard_of, txn_commit, write
from worlds.node import error_of


def describe(node, topic=TOPIC, *partitions):
    wanted = TopicRequest(topic, list(partitions or [0]))
    return node.ask(DescribeProducersRequest([wanted])).topics[0].partitions


def producers(node, topic=TOPIC, partition=0):
    [found] = describe(node, topic, partition)
    assert error_of(found) == "NONE"
    return found.active_producers


def test_an_open_transaction_shows_where_it_begins(coordinator):
    coordinator.produce(TOPIC, b"before")
    producer = in_transaction(coordinator, b"a", b"b")

    [found] = producers(coordinator)

    assert (found.producer_id, found.producer_epoch, found.last_sequence) == (*producer, 1)
    assert (found.current_txn_start_offset, found.last_timestamp) == (1, coordinator.now)
    assert found.coordinator_epoch == -1


def test_one_that_was_ended_shows_who_ended_it(coordinator):
    producer = in_transaction(coordinator)
    after = end(coordinator, producer)

    [found] = producers(coordinator)

    assert (found.producer_id, found.producer_epoch) == after
    assert (found.coordinator_epoch, found.current_txn_start_offset, found.last_sequence) == (0, -1, -1)


def test_idempotent_producers_are_there_as_well_and_others_are_not(coordinator):
    coordinator.produce(TOPIC, b"a")
    coordinator.produce(TOPIC, b"a", producer_id=77, producer_epoch=3, base_sequence=5)

    [found] = producers(coordinator)

    assert (found.producer_id, found.producer_epoch, found.last_sequence) == (77, 3, 5)


def test_offsets_committed_in_a_transaction_are_writes_like_others(coordinator):
    producer = in_transaction(coordinator)
    txn_commit(coordinator, producer)

    [found] = producers(coordinator, OFFSETS, shard_of("g"))

    assert (found.producer_id, found.current_txn_start_offset) == (producer.id, 0)


def test_it_is_the_same_after_a_crash(coordinator):
    write(coordinator, in_transaction(coordinator), sequence=1)
    before = producers(coordinator)

    recover(coordinator)

    assert producers(coordinator) == before


@pytest.mark.parametrize(
    ("topic", "partition", "code"),
    [
        (TOPIC, 9, "UNKNOWN_TOPIC_OR_PARTITION"),
        (TOPIC, -1, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("nope", 0, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("", 0, "INVALID_TOPIC_EXCEPTION"),
        ("no such name!", 0, "INVALID_TOPIC_EXCEPTION"),
    ],
)
def test_a_partition_that_is_not_there(coordinator, topic, partition, code):
    [found] = describe(coordinator, topic, partition)

    assert (error_of(found), found.partition_index, found.active_producers) == (code, partition, [])
    assert found.error_message


def test_a_partition_whose_disk_has_failed(coordinator):
    coordinator.partition(TOPIC, 1).fail("the disk is on fire")

    assert [error_of(each) for each in describe(coordinator, TOPIC, 0, 1)] == ["NONE", "KAFKA_STORAGE_ERROR"]
