"""OffsetCommit (key 8), versions 2-10: a group's offsets are committed.

The answer leaves when the offsets are committed in the group's partition. A refusal goes to every partition
that is there; one that is not hears that, whatever else is wrong.

Read next: groups/offsets/commits.py.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.groups.offsets.commits import IDS_SINCE
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

API = ApiKey.OFFSET_COMMIT
SERVED = ADVERTISED = (2, 10)


def handle(broker: Broker, request: Request[OffsetCommitRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(partial(_refusal, broker, request))


def _refusal(
    broker: Broker, request: Request[OffsetCommitRequest], error: ProtocolError
) -> OffsetCommitResponse:
    by_id = request.version >= IDS_SINCE
    return OffsetCommitResponse(
        topics=[_refused(broker, topic, error.code, by_id=by_id) for topic in request.body.topics]
    )


def _refused(
    broker: Broker, topic: OffsetCommitRequestTopic, code: ErrorCode, *, by_id: bool
) -> OffsetCommitResponseTopic:
    image = broker.image
    known = image.topics_by_id.get(topic.topic_id) if by_id else image.topics.get(topic.name)
    there = {} if known is None else known.partitions
    unknown_id = by_id and known is None
    missing = ErrorCode.UNKNOWN_TOPIC_ID if unknown_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    indexes = [each.partition_index for each in topic.partitions]
    return OffsetCommitResponseTopic(
        topic.name,
        topic.topic_id,
        [OffsetCommitResponsePartition(i, (code if i in there else missing).number) for i in indexes],
    )
