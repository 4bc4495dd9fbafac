"""A cluster of one scripted broker, small enough to say in a line what is in it and what becomes of it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Self

from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.spark.source.options import SourceOptions, parse_options
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from andiron.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from andiron.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from andiron.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from unit.client.scripted import NODE_ID, ScriptedBroker

EARLIEST, LATEST = -2, -1
OUT_OF_RANGE = 1
QUICK = {
    "kafka.retry.backoff.ms": "1",
    "kafka.retry.backoff.max.ms": "1",
    "kafka.fetch.max.wait.ms": "1",
    "fetchOffset.retryIntervalMs": "0",
}


@dataclass
class Log:
    """One partition: its first offset, its batches, and where an open transaction begins, if one does."""

    start: int = 0
    end: int = 0
    open_from: int | None = None
    batches: list[bytes] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # of each offset from 0 on

    def stop(self, isolation: int) -> int:
        return self.end if isolation == 0 or self.open_from is None else self.open_from


class World:
    """The broker, its topics, and what groups have committed."""

    def __init__(self) -> None:
        self.broker = ScriptedBroker()
        self.logs: dict[TopicPartition, Log] = {}
        self.committed: dict[tuple[str, TopicPartition], int] = {}
        self.commit_error = 0
        self._ids = itertools.count(1)
        self.broker.on(ApiKey.LIST_OFFSETS, self.list_offsets)
        self.broker.on(ApiKey.FETCH, self.fetch)
        self.broker.on(ApiKey.DESCRIBE_LOG_DIRS, self.describe_log_dirs)
        self.broker.on(ApiKey.FIND_COORDINATOR, self.find_coordinator)
        self.broker.on(ApiKey.OFFSET_COMMIT, self.offset_commit)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.broker.close()

    # ── what a test does to it ───────────────────────────────────────────────────────

    def make(self, topic: str, partitions: int = 1, *counts: int, internal: bool = False) -> None:
        """A topic; `counts` are how many records its first partitions have."""
        self.broker.topic(topic, partitions, topic_id=next(self._ids).to_bytes(16))
        self.broker.topics[topic].is_internal = internal
        for number in range(partitions):
            self.logs[TopicPartition(topic, number)] = Log()
        for number, count in enumerate(counts):
            self.write(topic, number, count)

    def grow(self, topic: str, partitions: int) -> None:
        """More partitions, so many in all."""
        id = self.broker.topics[topic].topic_id
        self.broker.topic(topic, partitions, topic_id=id)
        for number in range(partitions):
            self.logs.setdefault(TopicPartition(topic, number), Log())

    def drop(self, topic: str) -> None:
        """Delete a topic."""
        del self.broker.topics[topic]
        self.logs = {each: log for each, log in self.logs.items() if each.topic != topic}

    def write(self, topic: str, partition: int, count: int, time: int = 1000) -> None:
        """A batch of records, each with its offset as its value."""
        log = self.logs[TopicPartition(topic, partition)]
        records = [Record(i, time, None, b"%d" % (log.end + i)) for i in range(count)]
        if count:
            log.batches.append(bytes(build(records, base_offset=log.end)))
        log.end += count
        log.times += [time] * count

    def delete_before(self, topic: str, partition: int, offset: int) -> None:
        """Take away the oldest records."""
        self.logs[TopicPartition(topic, partition)].start = offset

    def options(self, *, streaming: bool = True, **given: str) -> SourceOptions:
        """Options of a read here; of topic t, unless something else is said."""
        which = {} if {"subscribePattern", "assign"} & set(given) else {"subscribe": "t"}
        least = {"kafka.bootstrap.servers": self.broker.bootstrap, **which, **QUICK}
        return parse_options(least | given, streaming=streaming)

    # ── what it answers ──────────────────────────────────────────────────────────────

    def list_offsets(self, request: Any) -> ListOffsetsResponse:
        answer = ListOffsetsResponse()
        for topic in request.topics:
            rows = [self._offset(topic.name, each, request.isolation_level) for each in topic.partitions]
            answer.topics.append(ListOffsetsTopicResponse(topic.name, rows))
        return answer

    def _offset(self, topic: str, asked: Any, isolation: int) -> ListOffsetsPartitionResponse:
        log = self.logs[TopicPartition(topic, asked.partition_index)]
        if asked.timestamp == EARLIEST:
            offset = log.start
        elif asked.timestamp == LATEST:
            offset = log.stop(isolation)
        else:
            there = range(log.start, log.stop(isolation))
            offset = next((each for each in there if log.times[each] >= asked.timestamp), -1)
        return ListOffsetsPartitionResponse(asked.partition_index, offset=offset)

    def fetch(self, request: Any) -> FetchResponse:
        names = {each.topic_id: name for name, each in self.broker.topics.items()}
        answer = FetchResponse()
        for topic in request.topics:
            name = topic.topic or names[topic.topic_id]
            rows = [self._records(name, each) for each in topic.partitions]
            answer.responses.append(FetchableTopicResponse(topic.topic, topic.topic_id, rows))
        return answer

    def _records(self, topic: str, asked: Any) -> PartitionData:
        log = self.logs[TopicPartition(topic, asked.partition)]
        if not log.start <= asked.fetch_offset <= log.end:
            return PartitionData(asked.partition, OUT_OF_RANGE, -1)
        found = [data for data in log.batches if Batch(data).last_offset >= asked.fetch_offset]
        data = b"".join(found[:1])
        return PartitionData(asked.partition, 0, log.end, log.stop(1), log.start, records=data)

    def describe_log_dirs(self, request: Any) -> DescribeLogDirsResponse:
        topics = [
            DescribeLogDirsTopic(each.topic, [self._size(each.topic, number) for number in each.partitions])
            for each in request.topics
        ]
        return DescribeLogDirsResponse(results=[DescribeLogDirsResult(0, "/data", topics)])

    def _size(self, topic: str, number: int) -> DescribeLogDirsPartition:
        size = sum(map(len, self.logs[TopicPartition(topic, number)].batches))
        return DescribeLogDirsPartition(number, size, 0)

    def find_coordinator(self, request: Any) -> FindCoordinatorResponse:
        keys = request.coordinator_keys or [request.key]
        found = [Coordinator(each, NODE_ID, "127.0.0.1", self.broker.port) for each in keys]
        return FindCoordinatorResponse(coordinators=found)

    def offset_commit(self, request: Any) -> OffsetCommitResponse:
        answer = OffsetCommitResponse()
        for topic in request.topics:
            rows = []
            for each in topic.partitions:
                rows.append(OffsetCommitResponsePartition(each.partition_index, self.commit_error))
                if not self.commit_error:
                    partition = TopicPartition(topic.name, each.partition_index)
                    self.committed[request.group_id, partition] = each.committed_offset
            answer.topics.append(OffsetCommitResponseTopic(topic.name, partitions=rows))
        return answer
