"""Partitions that a scripted broker writes to and reads from, with what a test wants to go wrong.

There is one producer at a time, and each of its epochs has sequences of its own: what comes too early is
refused, what comes twice is not written again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from andiron.records.batch import Batch, stamp
from andiron.records.builder import build
from andiron.records.record import Record, records_of
from andiron.wire.apis import ApiKey
from andiron.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from andiron.wire.messages.init_producer_id import InitProducerIdResponse
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from andiron.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from unit.client.scripted import ScriptedBroker

PRODUCER_ID = 77
OUT_OF_ORDER = 45
EARLIEST = -2


class Logs:
    """The partitions of one topic; `errors` are codes to answer with, the next request first."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self.batches: dict[int, list[bytes]] = defaultdict(list)
        self.ends: dict[int, int] = defaultdict(int)
        self.sequences: dict[tuple[int, int], int] = defaultdict(int)  # by partition and epoch: the next one
        self.stable: dict[int, int] = {}  # by partition: where a transaction is open
        self.batches_an_answer: int | None = None
        self.produce_errors: list[int] = []
        self.fetch_errors: list[int] = []
        broker.on(ApiKey.INIT_PRODUCER_ID, lambda request: InitProducerIdResponse(producer_id=PRODUCER_ID))
        broker.on(ApiKey.PRODUCE, self.produce)
        broker.on(ApiKey.FETCH, self.fetch)
        broker.on(ApiKey.LIST_OFFSETS, self.list_offsets)

    def write(self, partition: int, *values: bytes) -> None:
        """A batch of these values."""
        batch = build([Record(0, 1000, None, value) for value in values], base_offset=self.ends[partition])
        self.batches[partition].append(bytes(batch))
        self.ends[partition] += len(values)

    def values(self, partition: int) -> list[bytes | None]:
        """What a partition holds."""
        return [record.value for data in self.batches[partition] for record in records_of(Batch(data))]

    def produce(self, request: Any) -> ProduceResponse:
        response = ProduceResponse()
        for topic in request.topic_data:
            answers = [self._append(each.index, bytes(each.records)) for each in topic.partition_data]
            response.responses.append(TopicProduceResponse(topic.name, topic.topic_id, answers))
        return response

    def fetch(self, request: Any) -> FetchResponse:
        response = FetchResponse()
        for topic in request.topics:
            answers = [self._read(each.partition, each.fetch_offset) for each in topic.partitions]
            response.responses.append(FetchableTopicResponse(topic.topic, topic.topic_id, answers))
        return response

    def list_offsets(self, request: Any) -> ListOffsetsResponse:
        topics = []
        ends = {**self.ends, **(self.stable if request.isolation_level else {})}
        for topic in request.topics:
            rows = [
                ListOffsetsPartitionResponse(
                    each.partition_index,
                    offset=0 if each.timestamp == EARLIEST else ends.get(each.partition_index, 0),
                )
                for each in topic.partitions
            ]
            topics.append(ListOffsetsTopicResponse(topic.name, rows))
        return ListOffsetsResponse(topics=topics)

    def _append(self, partition: int, data: bytes) -> PartitionProduceResponse:
        if self.produce_errors and (code := self.produce_errors.pop(0)):
            return PartitionProduceResponse(partition, code, -1)
        base, batch = self.ends[partition], Batch(data)
        if batch.producer_id >= 0:
            expected = self.sequences[partition, batch.producer_epoch]
            if batch.base_sequence != expected:
                written = batch.last_sequence < expected
                return PartitionProduceResponse(
                    partition, 0 if written else OUT_OF_ORDER, batch.base_sequence
                )
            self.sequences[partition, batch.producer_epoch] += batch.count
        stored = bytearray(data)
        stamp(stored, 0, base, 0)
        self.batches[partition].append(bytes(stored))
        self.ends[partition] = base + batch.count
        return PartitionProduceResponse(partition, 0, base)

    def _read(self, partition: int, offset: int) -> PartitionData:
        if self.fetch_errors and (code := self.fetch_errors.pop(0)):
            return PartitionData(partition, code, -1)
        found = [data for data in self.batches[partition] if Batch(data).last_offset >= offset]
        records = b"".join(found[: self.batches_an_answer])
        return PartitionData(partition, 0, self.ends[partition], self.ends[partition], records=records)
