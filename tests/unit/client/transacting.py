"""A scripted broker that coordinates one transactional id, with what a test wants to go wrong.

It has just as many rules as a producer can see: who holds the id, what was added to the transaction, how it
ended. `errors` are codes to answer a request with, the next request first; `told` is what was asked, in order.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from andiron.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from andiron.wire.messages.end_txn import EndTxnResponse
from andiron.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from andiron.wire.messages.init_producer_id import InitProducerIdResponse
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from unit.client.scripted import NODE_ID, ScriptedBroker

PRODUCER_ID = 77
FENCED = ErrorCode.PRODUCER_FENCED.number


class Transacting:
    """The coordinator of a transactional id, and of every group."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self.epoch = -1
        self.partitions: set[TopicPartition] = set()
        self.groups: set[str] = set()
        self.offsets: dict[TopicPartition, tuple[int, str | None]] = {}
        self.outcomes: list[bool] = []
        self.errors: dict[int, list[int]] = defaultdict(list)
        self.told: list[str] = []
        self._port = broker.port
        for key, answer in (
            (ApiKey.FIND_COORDINATOR, self._find),
            (ApiKey.INIT_PRODUCER_ID, self._initiate),
            (ApiKey.ADD_PARTITIONS_TO_TXN, self._add_partitions),
            (ApiKey.ADD_OFFSETS_TO_TXN, self._add_offsets),
            (ApiKey.TXN_OFFSET_COMMIT, self._commit_offsets),
            (ApiKey.END_TXN, self._end),
        ):
            broker.on(key, answer)

    def _error(self, key: int, epoch: int) -> int:
        self.told.append(APIS[key].name)
        if self.errors[key]:
            return self.errors[key].pop(0)
        return FENCED if epoch not in (-1, self.epoch) else 0

    def _find(self, request: Any) -> FindCoordinatorResponse:
        rows = [Coordinator(key, NODE_ID, "127.0.0.1", self._port) for key in request.coordinator_keys]
        return FindCoordinatorResponse(coordinators=rows)

    def _initiate(self, request: Any) -> InitProducerIdResponse:
        error = self._error(ApiKey.INIT_PRODUCER_ID, request.producer_epoch)
        if error:
            return InitProducerIdResponse(error_code=error)
        ongoing = (PRODUCER_ID, self.epoch) if request.keep_prepared_txn and self.partitions else (-1, -1)
        self.epoch += 1
        return InitProducerIdResponse(0, 0, PRODUCER_ID, self.epoch, *ongoing)

    def _add_partitions(self, request: Any) -> AddPartitionsToTxnResponse:
        error = self._error(ApiKey.ADD_PARTITIONS_TO_TXN, request.v3_and_below_producer_epoch)
        answers = []
        for topic in request.v3_and_below_topics:
            rows = [AddPartitionsToTxnPartitionResult(number, error) for number in topic.partitions]
            answers.append(AddPartitionsToTxnTopicResult(topic.name, rows))
            if not error:
                self.partitions |= {TopicPartition(topic.name, number) for number in topic.partitions}
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=answers)

    def _add_offsets(self, request: Any) -> AddOffsetsToTxnResponse:
        error = self._error(ApiKey.ADD_OFFSETS_TO_TXN, request.producer_epoch)
        if not error:
            self.groups.add(request.group_id)
        return AddOffsetsToTxnResponse(0, error)

    def _commit_offsets(self, request: Any) -> TxnOffsetCommitResponse:
        error = self._error(ApiKey.TXN_OFFSET_COMMIT, request.producer_epoch)
        answers = []
        for topic in request.topics:
            rows = [
                TxnOffsetCommitResponsePartition(each.partition_index, error) for each in topic.partitions
            ]
            answers.append(TxnOffsetCommitResponseTopic(topic.name, rows))
            for each in topic.partitions if not error else ():
                partition = TopicPartition(topic.name, each.partition_index)
                self.offsets[partition] = (each.committed_offset, each.committed_metadata)
        return TxnOffsetCommitResponse(0, answers)

    def _end(self, request: Any) -> EndTxnResponse:
        error = self._error(ApiKey.END_TXN, request.producer_epoch)
        if not error:
            self.outcomes.append(request.committed)
            self.partitions.clear()
            self.groups.clear()
        return EndTxnResponse(0, error)
