"""DeleteRecords (key 21), versions 0-2: move the start of a log.

Nothing is erased at once: records below the new start can no longer be read, and whole
segments of them go with the next retention check. -1 stands for the high watermark.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.partition import Partition
from andiron.broker.request import Request
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Offset
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


def handle(broker: Broker, request: Request[DeleteRecordsRequest]) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(topic.name, [_delete(broker, topic.name, p) for p in topic.partitions])
            for topic in request.body.topics
        ]
    )


def _delete(broker: Broker, topic: str, wanted: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    try:
        partition = broker.partition_by_name(topic, wanted.partition_index)
        start = _advance(partition, wanted.offset)
    except ProtocolError as error:
        return DeleteRecordsPartitionResult(wanted.partition_index, -1, error.code.number)
    broker.touch(partition)
    return DeleteRecordsPartitionResult(wanted.partition_index, start, 0)


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
