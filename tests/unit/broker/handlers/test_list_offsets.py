"""Offsets by place and by time, in each version that knows the place."""

import pytest

from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from worlds.node import START, error_of

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, NOT_YET_TIERED = -1, -2, -3, -4, -5, -6
NOWHERE = (-1, -1)


def asking(*wanted, topic="t", isolation=0, epoch=-1):
    """Partition and time of each."""
    partitions = [ListOffsetsPartition(partition, epoch, time) for partition, time in wanted]
    return ListOffsetsRequest(-1, isolation, [ListOffsetsTopic(topic, partitions)])


def look(node, time, version=11, **how):
    return node.ask(asking((0, time), **how), version).topics[0].partitions[0]


def place(node, time, version=11, **how):
    found = look(node, time, version, **how)
    assert error_of(found) == "NONE"
    return found.timestamp, found.offset


@pytest.fixture
def filled(node):
    """Three batches, the latest time in the middle one: 10 20 | 50 40 | 30 45."""
    node.create("t")
    for times in ((10, 20), (50, 40), (30, 45)):
        node.produce("t", records=build([Record(0, START + time, None, b"x") for time in times]))
    return node


@pytest.mark.parametrize("version", range(1, 12))
def test_both_ends_of_the_log_in_every_version(filled, version):
    assert place(filled, LATEST, version) == (-1, 6)
    assert place(filled, EARLIEST, version) == (-1, 0)


@pytest.mark.parametrize(
    ("time", "found"),
    [(0, (START + 10, 0)), (START + 10, (START + 10, 0)), (START + 11, (START + 20, 1)),
     (START + 21, (START + 50, 2)), (START + 50, (START + 50, 2)), (START + 51, NOWHERE)],
)  # fmt: skip
def test_a_time_finds_the_first_record_that_is_as_late(filled, time, found):
    assert place(filled, time) == found


def test_the_largest_timestamp_finds_its_first_record(filled):
    assert place(filled, MAX_TIMESTAMP) == (START + 50, 2)


def test_tiered_offsets_are_none(filled):
    assert place(filled, EARLIEST_LOCAL) == (-1, 0)
    assert place(filled, LATEST_TIERED) == NOWHERE
    assert place(filled, NOT_YET_TIERED) == NOWHERE


@pytest.mark.parametrize(
    ("time", "since"), [(MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9), (NOT_YET_TIERED, 11)]
)
def test_a_place_is_refused_in_versions_that_do_not_know_it(filled, time, since):
    codes = [error_of(look(filled, time, version)) for version in range(1, 12)]

    assert codes == ["UNSUPPORTED_VERSION"] * (since - 1) + ["NONE"] * (12 - since)


def test_a_place_that_nobody_knows(filled):
    assert error_of(look(filled, -7)) == "UNSUPPORTED_VERSION"


def test_an_empty_log_ends_where_it_starts_and_has_no_times(node):
    node.create("t")

    assert place(node, LATEST) == (-1, 0)
    assert place(node, EARLIEST) == (-1, 0)
    assert place(node, 0) == NOWHERE
    assert place(node, MAX_TIMESTAMP) == NOWHERE


def test_the_leader_epoch_of_each_place(node):
    node.create("t")
    node.produce("t", b"a")
    node.restart(clean=False)
    node.produce("t", b"b")

    assert [look(node, time).leader_epoch for time in (EARLIEST, LATEST, 0)] == [0, 2, 0]


def test_an_empty_log_starts_with_the_present_epoch(node):
    node.create("t")
    node.restart(clean=False)

    assert look(node, EARLIEST).leader_epoch == node.partition("t").epoch == 2


def test_what_was_deleted_is_not_found(filled):
    partitions = [DeleteRecordsPartition(0, 3)]
    filled.ask(DeleteRecordsRequest([DeleteRecordsTopic("t", partitions)], 1_000))

    assert place(filled, EARLIEST) == (-1, 3)
    assert place(filled, 0) == (START + 40, 3)


@pytest.mark.parametrize("isolation", [0, 1])
def test_what_is_not_committed_is_not_found(node, isolation):
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    node.send(node.produce_request("t", [b"a"]), version=9)

    assert place(node, LATEST, isolation=isolation) == (-1, 0)
    assert place(node, 0, isolation=isolation) == NOWHERE
    assert place(node, MAX_TIMESTAMP, isolation=isolation) == NOWHERE


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 1), ("t", -1)])
def test_a_partition_that_is_not_there(filled, topic, partition):
    [found] = filled.ask(asking((partition, LATEST), topic=topic)).topics[0].partitions

    assert (error_of(found), found.offset, found.timestamp) == ("UNKNOWN_TOPIC_OR_PARTITION", -1, -1)


def test_a_leader_epoch_is_checked(node):
    node.create("t")
    node.restart(clean=False)

    codes = [error_of(look(node, LATEST, epoch=epoch)) for epoch in (1, 2, 3)]

    assert codes == ["FENCED_LEADER_EPOCH", "NONE", "UNKNOWN_LEADER_EPOCH"]


def test_a_partition_named_twice_is_answered_once_with_an_error(filled):
    partitions = filled.ask(asking((0, LATEST), (0, EARLIEST))).topics[0].partitions

    assert [error_of(found) for found in partitions] == ["INVALID_REQUEST"]


def test_times_are_found_across_segments(node):
    node.create("t", internal_segment_bytes=200)
    for number in range(20):
        node.produce("t", records=build([Record(0, START + number * 10, None, bytes(50))]))
    assert len(node.log("t").segments) > 5

    assert [place(node, START + number * 10 - 5)[1] for number in range(20)] == list(range(20))
