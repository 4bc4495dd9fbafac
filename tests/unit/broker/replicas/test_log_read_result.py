"""What a fetch finds of a partition, and whether it still holds."""

from __future__ import annotations

from andiron.broker.replicas.fetch_sessions import CachedPartition
from andiron.broker.replicas.log_read_result import LogReadResult, standing
from andiron.model.errors import ErrorCode
from andiron.wire.messages.fetch import FetchPartition
from worlds.node import SmallNode

ASKED = CachedPartition("t", bytes(16), FetchPartition(3))


def test_an_error_is_urgent_unless_it_may_pass():
    assert LogReadResult(ASKED, ErrorCode.FENCED_LEADER_EPOCH).is_urgent
    assert not LogReadResult(ASKED, ErrorCode.OFFSET_NOT_AVAILABLE).is_urgent
    assert not LogReadResult(ASKED).is_urgent
    assert LogReadResult(ASKED, moved=True).is_urgent


def test_it_is_told_in_the_words_of_the_protocol():
    told = LogReadResult(ASKED, watermark=5, last_stable=4, start=1, records=b"abc").told()

    assert (told.partition_index, told.error_code, told.records) == (3, 0, b"abc")
    assert (told.high_watermark, told.last_stable_offset, told.log_start_offset) == (5, 4, 1)


def test_a_partition_that_was_written_to_has_moved():
    node = SmallNode()
    node.create("t")
    partition = node.node.broker.partition_by_name("t", 0)
    found = LogReadResult(ASKED, partition=partition, seen=standing(partition))
    assert not found.has_moved

    node.produce("t", b"a")

    assert found.has_moved
    assert not LogReadResult(ASKED, ErrorCode.NOT_LEADER_OR_FOLLOWER).has_moved


def test_a_position_is_judged_for_as_long_as_the_leader_epoch_lasts():
    node = SmallNode()
    node.create("t")
    partition = node.node.broker.partition_by_name("t", 0)
    found = LogReadResult(ASKED, partition=partition, seen=standing(partition))
    assert found.is_judged

    partition.epoch += 1

    assert not found.is_judged
    assert not LogReadResult(ASKED).is_judged
