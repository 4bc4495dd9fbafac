"""The start of a log moves, and stays moved."""

from random import Random

import pytest

from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from worlds.node import error_of

TO_THE_WATERMARK = -1


def delete(node, offset, topic="t", partition=0, version=2):
    wanted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])
    return node.ask(DeleteRecordsRequest([wanted], 1_000), version).topics[0].partitions[0]


@pytest.fixture
def filled(node):
    """Ten batches of one record, in segments of two or three."""
    node.create("t", internal_segment_bytes=200)
    for number in range(10):
        node.produce("t", b"%d" % number)
    return node


@pytest.mark.parametrize("version", range(3))
def test_records_below_the_offset_are_gone(filled, version):
    result = delete(filled, 4, version=version)

    assert (error_of(result), result.low_watermark) == ("NONE", 4)
    assert filled.values("t") == [b"%d" % number for number in range(4, 10)]


def test_minus_one_deletes_all_that_is_committed(filled):
    assert delete(filled, TO_THE_WATERMARK).low_watermark == 10
    assert filled.values("t") == []
    assert filled.produce("t", b"next").base_offset == 10


def test_an_offset_below_the_start_changes_nothing(filled):
    delete(filled, 4)

    result = delete(filled, 2)

    assert (error_of(result), result.low_watermark) == ("NONE", 4)


@pytest.mark.parametrize("offset", [11, -2, 1 << 40])
def test_an_offset_beyond_the_watermark_is_out_of_range(filled, offset):
    result = delete(filled, offset)

    assert (error_of(result), result.low_watermark) == ("OFFSET_OUT_OF_RANGE", -1)
    assert filled.log("t").start == 0


def test_what_is_not_committed_cannot_be_deleted(node):
    node.create("t", flush_messages=1)
    node.flush_at_once = False
    node.send(node.produce_request("t", [b"a"]), version=9)

    assert error_of(delete(node, 1)) == "OFFSET_OUT_OF_RANGE"
    assert delete(node, TO_THE_WATERMARK).low_watermark == 0


@pytest.mark.parametrize(
    ("policy", "code"),
    [("compact", "POLICY_VIOLATION"), ("compact,delete", "NONE"), ("delete", "NONE"), ("", "NONE")],
)
def test_a_topic_that_is_only_compacted_keeps_its_records(node, policy, code):
    node.create("t", cleanup_policy=policy)

    assert error_of(delete(node, 0)) == code


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 9)])
def test_a_partition_that_is_not_there(filled, topic, partition):
    assert error_of(delete(filled, 1, topic, partition)) == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize("clean", [True, False])
def test_what_is_deleted_stays_deleted_though_the_node_is_killed_at_once(filled, clean):
    delete(filled, 4)

    filled.restart(clean)

    assert filled.log("t").start == 4


def test_what_is_deleted_stays_deleted_over_a_power_loss(node):
    node.create("t", flush_messages=1)
    for number in range(10):
        node.produce("t", b"%d" % number)
    delete(node, 4)

    node.disk.crash(Random(1))
    node.restart(clean=False)

    assert node.values("t") == [b"%d" % number for number in range(4, 10)]


def test_a_client_is_not_told_that_records_are_deleted_where_that_cannot_be_written_down(filled):
    filled.disk.fill_up()

    result = delete(filled, 4)

    assert (error_of(result), result.low_watermark) == ("KAFKA_STORAGE_ERROR", -1)
    filled.disk.free_up()
    assert error_of(delete(filled, 4)) == "NONE"


def test_whole_segments_go_with_the_next_look_at_retention(filled):
    before = len(filled.log("t").segments)
    delete(filled, 8)
    assert len(filled.log("t").segments) == before

    filled.advance(5 * 60_000)

    assert len(filled.log("t").segments) < before
    assert filled.values("t") == [b"8", b"9"]
