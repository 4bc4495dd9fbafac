"""Transactions are ended in partitions, by their coordinator or by an administrator."""

import pytest

from andiron.broker.handlers import write_txn_markers
from andiron.wire.messages.write_txn_markers import WriteTxnMarkersRequest
from worlds.coordinating import (
    DURABLY,
    GROUP,
    OFFSETS,
    TOPIC,
    TRANSACTIONS,
    TX,
    Producer,
    begun,
    committed,
    coordinating,
    end,
    every_version,
    in_transaction,
    marker_request,
    recover,
    shard_of,
    stable_end,
    transaction,
    txn_commit,
    write,
)
from worlds.node import error_of


def errors_of(answer):
    """What became of each marker, by partition."""
    return [
        {
            (topic.name, each.partition_index): error_of(each)
            for topic in marker.topics
            for each in topic.partitions
        }
        for marker in answer.markers
    ]


def write_markers(node, version, producer, *partitions, **how):
    [told] = errors_of(node.ask(marker_request(producer, *partitions, **how), version))
    return told


@pytest.mark.parametrize("outcome", [True, False])
@every_version(write_txn_markers)
def test_a_transaction_that_hangs_is_ended_here_whatever_its_coordinator_knows(coordinator, version, outcome):
    producer = in_transaction(coordinator)
    assert stable_end(coordinator) == 0

    assert write_markers(coordinator, version, producer, committed=outcome) == {(TOPIC, 0): "NONE"}

    assert stable_end(coordinator) == 2
    assert transaction(coordinator).transaction_state == "Ongoing"
    recover(coordinator)
    assert stable_end(coordinator) == 2


@every_version(write_txn_markers)
def test_a_partition_that_is_not_here_keeps_the_others_from_nothing(coordinator, version):
    producer = in_transaction(coordinator)

    told = write_markers(coordinator, version, producer, (TOPIC, 9), ("nope", 0), (TOPIC, 0))

    missing = "UNKNOWN_TOPIC_OR_PARTITION"
    assert told == {(TOPIC, 9): missing, ("nope", 0): missing, (TOPIC, 0): "NONE"}


@every_version(write_txn_markers)
def test_of_several_markers_each_has_its_result(coordinator, version):
    first, second = in_transaction(coordinator, tx="a"), in_transaction(coordinator, tx="b", partition=1)
    requests = [
        marker_request(second, (TOPIC, 1)), marker_request(Producer(-1, 0)), marker_request(first),
    ]  # fmt: skip

    answer = coordinator.ask(WriteTxnMarkersRequest([each.markers[0] for each in requests]), version)

    assert [marker.producer_id for marker in answer.markers] == [second.id, -1, first.id]
    assert errors_of(answer) == [
        {(TOPIC, 1): "NONE"}, {(TOPIC, 0): "INVALID_PRODUCER_ID_MAPPING"}, {(TOPIC, 0): "NONE"},
    ]  # fmt: skip


@every_version(write_txn_markers)
def test_offsets_that_were_part_of_it_count_from_then_on(coordinator, version):
    producer = begun(coordinator)
    txn_commit(coordinator, producer, 5)

    write_markers(coordinator, version, producer, (OFFSETS, shard_of(GROUP)))

    assert committed(coordinator, stable=True) == 5


@pytest.mark.parametrize(
    ("producer", "code"),
    [
        (Producer(-1, 0), "INVALID_PRODUCER_ID_MAPPING"),
        (Producer(-5, 0), "INVALID_PRODUCER_ID_MAPPING"),
        (Producer(7, -1), "INVALID_PRODUCER_EPOCH"),
        (Producer(7, -9), "INVALID_PRODUCER_EPOCH"),
        (Producer(-1, -1), "INVALID_PRODUCER_ID_MAPPING"),
    ],
)
@every_version(write_txn_markers)
def test_a_marker_of_nobody_does_no_harm(coordinator, version, producer, code):
    places = [(TOPIC, 0), (OFFSETS, 0), (TRANSACTIONS, 0)]

    assert write_markers(coordinator, version, producer, *places) == dict.fromkeys(places, code)

    assert [coordinator.log(*place).end for place in places] == [0, 0, 0]
    assert error_of(coordinator.produce(TOPIC, b"a")) == "NONE"


@every_version(write_txn_markers)
def test_a_marker_among_a_coordinators_own_records_is_no_record(coordinator, version):
    held = begun(coordinator)

    write_markers(coordinator, version, Producer(7, 0), (TRANSACTIONS, shard_of(TX)))
    recover(coordinator)

    assert begun(coordinator) == (held.id, held.epoch + 1)


@every_version(write_txn_markers)
def test_a_marker_of_an_older_epoch_is_refused(coordinator, version):
    producer = in_transaction(coordinator)
    write_markers(coordinator, version, Producer(producer.id, 5))

    assert write_markers(coordinator, version, producer) == {(TOPIC, 0): "INVALID_PRODUCER_EPOCH"}


def test_a_marker_with_an_epoch_of_its_own_is_written_once_and_ends_nothing_that_comes_after_it(coordinator):
    producer = end(coordinator, in_transaction(coordinator))
    again = marker_request(producer, version=2)
    assert errors_of(coordinator.ask(again)) == [{(TOPIC, 0): "NONE"}]
    assert coordinator.log(TOPIC).end == 2

    write(coordinator, producer)

    assert errors_of(coordinator.ask(again)) == [{(TOPIC, 0): "INVALID_PRODUCER_EPOCH"}]
    assert stable_end(coordinator) == 2


@every_version(write_txn_markers)
def test_the_answer_leaves_when_the_markers_are_on_the_disk(version):
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    write(node, producer, partition=1)
    node.flush_at_once = False
    ticket = node.send(marker_request(producer, (TOPIC, 0), (TOPIC, 1)), version)
    node.do_flush()
    assert node.answer(ticket) is None

    node.do_flushes()

    assert errors_of(node.answer(ticket)) == [{(TOPIC, 0): "NONE", (TOPIC, 1): "NONE"}]


@every_version(write_txn_markers)
def test_one_whose_disk_fails_meanwhile_says_so(version):
    node = coordinating(**DURABLY)
    producer = in_transaction(node)
    node.flush_at_once = False
    ticket = node.send(marker_request(producer), version)

    node.do_flushes(error="EIO")

    assert errors_of(node.answer(ticket)) == [{(TOPIC, 0): "KAFKA_STORAGE_ERROR"}]


@every_version(write_txn_markers)
def test_no_markers_are_no_results(coordinator, version):
    assert coordinator.ask(WriteTxnMarkersRequest([]), version).markers == []
