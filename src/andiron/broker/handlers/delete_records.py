"""DeleteRecords (key 21), versions 0-2: move the start of a log.

Nothing is erased at once: records below the new start can no longer be read, and whole
segments of them go with the next retention check. -1 stands for the high watermark.

The answer waits until all live replicas have moved their starts too, as their next fetches say. Differs: each has
written down where its log starts by then, so no crash brings back what was said to be deleted; Kafka does so
once a minute.
"""

from __future__ import annotations

import logging

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.model.line import Line
from andiron.wire.apis import ApiKey
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

API = ApiKey.DELETE_RECORDS
SERVED = ADVERTISED = (0, 2)

TO_THE_WATERMARK = -1

log = logging.getLogger(__name__)

Pending = tuple[Partition, Offset, DeleteRecordsPartitionResult]


def handle(broker: Broker, request: Request[DeleteRecordsRequest]) -> DeleteRecordsResponse | Wait:
    pending: list[Pending] = []
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name, [_delete(broker, topic.name, p, pending) for p in topic.partitions]
            )
            for topic in request.body.topics
        ]
    )
    _keep_starts(broker, pending)
    if _settled(broker, pending):
        return response
    return Wait(
        watch=tuple(dict.fromkeys(partition for partition, _, _ in pending)),
        until=lambda: _settled(broker, pending),
        deadline=Millis(request.now + max(0, request.body.timeout_ms)),
        then=lambda: response,
        otherwise=lambda: _too_late(response, pending),
    )


def _delete(
    broker: Broker, topic: str, wanted: DeleteRecordsPartition, pending: list[Pending]
) -> DeleteRecordsPartitionResult:
    try:
        partition = broker.partition_by_name(topic, wanted.partition_index)
        start = _advance(partition, wanted.offset)
    except ProtocolError as error:
        return DeleteRecordsPartitionResult(wanted.partition_index, -1, error.code.number)
    broker.step.moved(partition)
    result = DeleteRecordsPartitionResult(wanted.partition_index, start, 0)
    pending.append((partition, start, result))
    return result


def _keep_starts(broker: Broker, pending: list[Pending]) -> None:
    try:
        broker.checkpoints.save_starts()
    except OSError as error:
        log.error(Line(
            "Log start offsets cannot be written: DeleteRecords is refused; check the disk, and delete again",
            error=error,
        ))  # fmt: skip
        for _, _, result in pending:
            result.low_watermark, result.error_code = -1, ErrorCode.KAFKA_STORAGE_ERROR.number
        pending.clear()


def _settled(broker: Broker, pending: list[Pending]) -> bool:
    """Whether every live replica has given up what was to be deleted: whoever leads next will not bring it back."""
    for one in pending[:]:
        partition, start, result = one
        try:
            low = partition.leader().low_watermark(partition.log.start, broker.image.is_live)
        except ProtocolError as error:
            result.low_watermark, result.error_code = -1, error.code.number
            pending.remove(one)
            continue
        if low >= start:
            result.low_watermark = low
            pending.remove(one)
    return not pending


def _too_late(response: DeleteRecordsResponse, pending: list[Pending]) -> DeleteRecordsResponse:
    for _, _, result in pending:
        result.low_watermark, result.error_code = -1, ErrorCode.REQUEST_TIMED_OUT.number
    return response


def _advance(partition: Partition, offset: int) -> Offset:
    watermark = partition.leader().watermark
    if partition.log.settings.cleanup_policy == ("compact",):
        raise ErrorCode.POLICY_VIOLATION.error(f"{partition.name} is compacted and keeps its records")
    if offset == TO_THE_WATERMARK:
        offset = watermark
    if offset < 0 or offset > watermark:
        raise ErrorCode.OFFSET_OUT_OF_RANGE.error(f"{offset} is beyond the watermark {watermark}")
    partition.log.advance_start(Offset(offset))
    return partition.log.start
