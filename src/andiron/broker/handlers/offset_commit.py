"""OffsetCommit (key 8), versions 2-10: a group remembers how far it has read.

The answer leaves when the offsets are committed in the group's partition.

Read next: groups/commits.py.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

API = ApiKey.OFFSET_COMMIT
SERVED = ADVERTISED = (2, 10)


def handle(broker: Broker, request: Request[OffsetCommitRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(partial(_refusal, request.body))


def _refusal(body: OffsetCommitRequest, error: ProtocolError) -> OffsetCommitResponse:
    code = error.code.number
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [OffsetCommitResponsePartition(each.partition_index, code) for each in topic.partitions],
            )
            for topic in body.topics
        ]
    )
