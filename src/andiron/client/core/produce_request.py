"""Batches to a Produce request, and its response to each batch's offset or error.

From version 13 on a request names topics by id and not by name; the answer does the same. A topic whose
id is not known (an old broker tells none) keeps the request below that version (KIP-516). From version 12 on a
batch takes its partition into a transaction by itself (KIP-890); ours have added it before, as older brokers need
it, and stay below that version, so that what comes late is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from andiron.client.core.metadata import Topic
from andiron.client.core.outbox import ClosedBatch
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TOPIC_ID
from andiron.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

VERSION_BEFORE_IDS = 12
VERSION_OF_TRANSACTIONS = 11


def produce_request(
    batches: Sequence[ClosedBatch],
    topics: Mapping[str, Topic],
    acks: int,
    timeout_ms: int,
    transactional_id: str | None = None,
) -> tuple[ProduceRequest, int | None]:
    """The request for at most one batch a partition, and the version it must not exceed, if any."""
    request = ProduceRequest(transactional_id, acks, timeout_ms)
    by_topic: dict[str, TopicProduceData] = {}
    for batch in batches:
        name, number = batch.partition
        topic = by_topic.get(name)
        if topic is None:
            topic = by_topic[name] = TopicProduceData(name, topics[name].id)
            request.topic_data.append(topic)
        topic.partition_data.append(PartitionProduceData(number, memoryview(batch.data)))
    if transactional_id is not None:
        return request, VERSION_OF_TRANSACTIONS
    without_id = any(topic.topic_id == NO_TOPIC_ID for topic in by_topic.values())
    return request, VERSION_BEFORE_IDS if without_id else None


def outcomes(
    response: ProduceResponse, request: ProduceRequest, batches: Sequence[ClosedBatch]
) -> list[tuple[ClosedBatch, int | ProtocolError]]:
    """For each batch the offset of its first record (-1: no longer known), or what went wrong."""
    ids = {topic.name: topic.topic_id for topic in request.topic_data}
    told: dict[tuple[str | bytes, int], PartitionProduceResponse] = {}
    for topic in response.responses:
        for each in topic.partition_responses:
            told[topic.name or topic.topic_id, each.index] = each
    found: list[tuple[ClosedBatch, int | ProtocolError]] = []
    for batch in batches:
        name, number = batch.partition
        answer = told.get((name, number)) or told.get((ids[name], number))
        found.append((batch, _outcome(batch, answer)))
    return found


def _outcome(batch: ClosedBatch, answer: PartitionProduceResponse | None) -> int | ProtocolError:
    if answer is None:
        return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"{batch.partition} is not in the broker's answer")
    code = ErrorCode.of(answer.error_code)
    if code is ErrorCode.NONE:
        return answer.base_offset
    if code is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
        return -1  # written before; which offset it got is no longer known
    detail = answer.error_message or code.meaning
    for each in answer.record_errors[:1]:
        detail += f" (record {each.batch_index} of the batch: {each.batch_index_error_message})"
    return code.error(f"{batch.partition}: {detail}")
