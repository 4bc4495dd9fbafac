"""Where a reader stands: which records of a batch it takes, and where it goes on."""

from __future__ import annotations

import pytest

from andiron.client.core.metadata import ClusterMetadata
from andiron.client.core.positions import (
    VERSION_BEFORE_IDS,
    FetchedBatches,
    Position,
    check_intact,
    fetch_request,
    fetched_batches,
)
from andiron.client.settings import ReaderSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import BatchBuilder, build
from andiron.records.record import Record
from andiron.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from andiron.wire.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataResponse,
    MetadataTopic,
)

P0 = TopicPartition("t", 0)
ID = b"i" * 16


def batch(base: int, count: int) -> Batch:
    records = [Record(0, 1000, None, b"%d" % number) for number in range(count)]
    return Batch(bytes(build(records, base_offset=base)))


def offsets(position: Position, given: Batch) -> list[int]:
    return [record.offset for record in position.records(given)]


def metadata(topic_id: bytes = ID) -> ClusterMetadata:
    known = ClusterMetadata()
    topic = MetadataTopic(0, "t", topic_id, partitions=[MetadataPartition(0, 0, 1, 3, [1], [1])])
    known.update(MetadataResponse(brokers=[MetadataBroker(1, "h", 1)], topics=[topic]), ["t"])
    return known


def test_records_below_the_position_are_passed_over() -> None:
    position = Position(P0, 7)

    assert offsets(position, batch(5, 5)) == [7, 8, 9]
    assert position.offset == 10


def test_records_from_the_end_on_are_left() -> None:
    position = Position(P0, 5, end=8)

    assert offsets(position, batch(5, 5)) == [5, 6, 7]
    assert position.is_done


def test_a_position_moves_as_records_are_taken() -> None:
    position = Position(P0, 5)
    records = position.records(batch(5, 5))
    next(records)
    next(records)

    assert position.offset == 7


def test_a_batch_that_is_not_seen_is_passed_over() -> None:
    position = Position(P0, 5)
    position.pass_over(batch(5, 2))

    assert position.offset == 7


def test_gaps_that_compaction_left_are_stepped_over() -> None:
    builder = BatchBuilder(base_offset=5)
    builder.append(1000, b"k", b"v", offset=6)
    position = Position(P0, 5)

    assert offsets(position, Batch(bytes(builder.build(last_offset=9)))) == [6]
    assert position.offset == 10


def test_an_empty_answer_below_the_watermark_is_the_end() -> None:
    position = Position(P0, 5, end=8)
    position.limit = 8
    position.nothing_left()

    assert position.is_done


def test_an_empty_answer_is_not_the_end_where_more_may_come() -> None:
    ahead, endless = Position(P0, 5, end=8), Position(P0, 5)
    ahead.limit = endless.limit = 7
    ahead.nothing_left()
    endless.nothing_left()

    assert (ahead.offset, endless.offset) == (5, 5)
    assert not endless.is_done


def test_a_fetch_names_offset_and_leader_epoch() -> None:
    request, at_most = fetch_request([Position(P0, 7)], metadata(), ReaderSettings(), 250)

    (topic,) = request.topics
    (partition,) = topic.partitions
    assert (topic.topic, topic.topic_id) == ("t", ID)
    assert (partition.partition, partition.fetch_offset, partition.current_leader_epoch) == (0, 7, 3)
    assert (request.max_wait_ms, at_most) == (250, None)


def test_a_topic_without_an_id_keeps_the_version_low() -> None:
    _, at_most = fetch_request([Position(P0, 7)], metadata(NO_TOPIC_ID), ReaderSettings(), 250)

    assert at_most == VERSION_BEFORE_IDS


@pytest.mark.parametrize("committed", [True, False])
def test_a_fetch_says_what_is_to_be_seen(committed: bool) -> None:
    request, _ = fetch_request([Position(P0, 7)], metadata(), ReaderSettings(), 250, committed)

    assert request.isolation_level == committed


def take(
    told: PartitionData, *, by_id: bool = True, committed: bool = False
) -> FetchedBatches | ProtocolError:
    topic = FetchableTopicResponse("" if by_id else "t", ID if by_id else NO_TOPIC_ID, [told])
    positions = {P0: Position(P0, 5)}
    (found,) = fetched_batches(FetchResponse(responses=[topic]), positions, metadata().topics, committed)
    return found


@pytest.mark.parametrize("by_id", [True, False])
def test_what_came_is_given_to_its_position(by_id: bool) -> None:
    data = bytes(batch(5, 2).raw) + bytes(batch(7, 1).raw)
    found = take(PartitionData(0, 0, 20, records=data), by_id=by_id)

    assert isinstance(found, FetchedBatches)
    assert [each.base_offset for each in found.batches] == [5, 7]
    assert found.position.limit == 20


def test_committed_records_end_where_a_transaction_is_open() -> None:
    told = PartitionData(0, 0, 20, 12, aborted_transactions=[AbortedTransaction(-1, 5)], records=None)

    for committed, limit in ((False, 20), (True, 12)):
        found = take(told, committed=committed)
        assert isinstance(found, FetchedBatches)
        assert found.position.limit == limit


def test_no_records_are_no_batches() -> None:
    found = take(PartitionData(0, 0, 20, records=None))

    assert isinstance(found, FetchedBatches)
    assert found.batches == []


@pytest.mark.parametrize("code", [ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.NOT_LEADER_OR_FOLLOWER])
def test_an_error_names_the_partition(code: ErrorCode) -> None:
    found = take(PartitionData(0, code.number, -1))

    assert isinstance(found, ProtocolError)
    assert found.code is code
    assert "t-0" in found.detail


def test_an_error_of_the_whole_answer_is_one() -> None:
    (found,) = fetched_batches(FetchResponse(error_code=70), {}, {})

    assert isinstance(found, ProtocolError)


def test_a_damaged_batch_is_refused() -> None:
    data = bytearray(batch(5, 2).raw)
    data[-1] ^= 1

    with pytest.raises(ProtocolError, match="t-0: the batch at offset 5 fails its checksum"):
        check_intact(Batch(data), P0)
