"""Where a reader stands in each partition, what it fetches next, and what it makes of the answer.

    start ······ position ─────── fetch ───────▶ ······ end (or no end: the log goes on)

A fetch names an offset and gets whole batches, of which the first may begin before it: records below the
position are passed over, and so are batches that a reader does not see (isolation.py). The position moves
by batches and not by records, since compaction leaves gaps, and batches of which nothing is left but the
header.

A partition is done when its position has reached its end, or when a broker that can give what lies before
the end has nothing more to give: what was there has been compacted away. It can give what is below the
watermark or, to a reader of committed records, below the first transaction that is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from andiron.client.core.isolation import READ_COMMITTED, READ_UNCOMMITTED, Isolation
from andiron.client.core.metadata import ClusterMetadata, Topic
from andiron.client.settings import ReaderSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.record import Record, records_of
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData

VERSION_BEFORE_IDS = 12
NO_SESSION = -1  # the fetch session epoch of a full fetch without a session (KIP-227)


class Position:
    """A reader's place in one partition."""

    __slots__ = ("end", "limit", "offset", "partition")

    def __init__(self, partition: TopicPartition, offset: int, end: int | None = None) -> None:
        self.partition = partition
        self.offset = offset
        self.end = end
        self.limit = -1  # where what can be read ended when the last answer was given

    @property
    def is_done(self) -> bool:
        return self.end is not None and self.offset >= self.end

    def records(self, batch: Batch) -> Iterator[Record]:
        """The records of a fetched batch that are to be read, moving the position as they are taken."""
        start, end = self.offset, self.end
        for record in records_of(batch):
            if end is not None and record.offset >= end:
                break
            if record.offset >= start:
                self.offset = record.offset + 1
                yield record
        self.pass_over(batch)

    def pass_over(self, batch: Batch) -> None:
        """Move behind a batch."""
        self.offset = max(self.offset, batch.next_offset)

    def nothing_left(self) -> None:
        """A fetch response without a batch: with an end below the limit, no record is left before it."""
        if self.end is not None and self.limit >= self.end:
            self.offset = self.end


class FetchedBatches(NamedTuple):
    """The batches of one partition in a Fetch response, or its error."""

    position: Position
    batches: list[Batch]
    isolation: Isolation


def fetch_request(
    positions: Iterable[Position],
    metadata: ClusterMetadata,
    settings: ReaderSettings,
    max_wait_ms: int,
    committed: bool = False,
) -> tuple[FetchRequest, int | None]:
    """The Fetch request to a broker for the partitions it leads, and the version it must not exceed, if any."""
    request = FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=settings.fetch_min_bytes,
        max_bytes=settings.fetch_max_bytes,
        isolation_level=READ_COMMITTED if committed else READ_UNCOMMITTED,
        session_epoch=NO_SESSION,
    )
    by_topic: dict[str, FetchTopic] = {}
    for position in positions:
        name, number = position.partition
        topic = by_topic.get(name)
        if topic is None:
            topic = by_topic[name] = FetchTopic(name, metadata.topic(name).id)
            request.topics.append(topic)
        known = metadata.partition(position.partition)
        topic.partitions.append(
            FetchPartition(
                number,
                current_leader_epoch=known.epoch,
                fetch_offset=position.offset,
                partition_max_bytes=settings.max_partition_fetch_bytes,
            )
        )
    without_id = any(topic.topic_id == NO_TOPIC_ID for topic in request.topics)
    return request, VERSION_BEFORE_IDS if without_id else None


def fetched_batches(
    response: FetchResponse,
    positions: Mapping[TopicPartition, Position],
    topics: Mapping[str, Topic],
    committed: bool = False,
) -> list[FetchedBatches | ProtocolError]:
    """The batches of a Fetch response by partition, or the partition's error."""
    if response.error_code:
        return [ErrorCode.of(response.error_code).error()]
    names = {topic.id: topic.name for topic in topics.values()}
    found: list[FetchedBatches | ProtocolError] = []
    for topic in response.responses:
        name = topic.topic or names.get(topic.topic_id, "")
        for told in topic.partitions:
            position = positions.get(TopicPartition(name, told.partition_index))
            if position is not None:
                found.append(_take(position, told, committed))
    return found


def check_intact(batch: Batch, partition: TopicPartition) -> None:
    """Refuse a batch whose checksum does not hold."""
    if not batch.is_intact():
        raise ErrorCode.CORRUPT_MESSAGE.error(
            f"{partition}: the batch at offset {batch.base_offset} fails its checksum"
        )


def _take(position: Position, told: PartitionData, committed: bool) -> FetchedBatches | ProtocolError:
    code = ErrorCode.of(told.error_code)
    if code is ErrorCode.OFFSET_OUT_OF_RANGE:
        return code.error(f"{position.partition} has no offset {position.offset}")
    if code is not ErrorCode.NONE:
        return code.error(f"{position.partition}: {code.meaning}")
    position.limit = told.last_stable_offset if committed else told.high_watermark
    data = told.records
    assert data is None or isinstance(data, bytes | bytearray | memoryview)
    isolation = Isolation(told.aborted_transactions if committed else None)
    return FetchedBatches(position, list(iterate(data)) if data else [], isolation)
