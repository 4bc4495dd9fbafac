"""OffsetFetch (key 9), versions 1-10: how far groups have read.

Up to version 7 a request is about one group, from 8 on about several, each with an answer of its own. Both
come down to the same question, asked once for each group.

That a coordinator is not available is not among the errors that clients know here; they are sent to look for it.

Read next: groups/offsets/fetches.py.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

API = ApiKey.OFFSET_FETCH
SERVED = ADVERTISED = (1, 10)

SEVERAL_SINCE = 8
ERROR_AT_TOP_SINCE = 2
NO_OFFSET = -1


def handle(broker: Broker, request: Request[OffsetFetchRequest]) -> Wait:
    body = request.body
    if request.version >= SEVERAL_SINCE:
        answers = Wait.all([_ask(broker, request, group) for group in body.groups])
        return answers.and_then(lambda groups: OffsetFetchResponse(groups=groups))
    topics = None if body.topics is None else [_newer(topic) for topic in body.topics]
    group = OffsetFetchRequestGroup(body.group_id, topics=topics)
    return _ask(broker, request, group).and_then(partial(_alone, request.version, group))


def _ask(broker: Broker, request: Request[OffsetFetchRequest], group: OffsetFetchRequestGroup) -> Wait:
    asked = OffsetFetchRequest(groups=[group], require_stable=request.body.require_stable)
    return broker.groups.run(group.group_id, request, asked).or_else(partial(_refusal, group))


def _refusal(group: OffsetFetchRequestGroup, error: ProtocolError) -> OffsetFetchResponseGroup:
    unknown_here = error.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    code = ErrorCode.NOT_COORDINATOR if unknown_here else error.code
    return OffsetFetchResponseGroup(group.group_id, error_code=code.number)


def _alone(
    version: int, asked: OffsetFetchRequestGroup, group: OffsetFetchResponseGroup
) -> OffsetFetchResponse:
    """The answer about one group, as older versions have it; the oldest has no place for an error but with
    each partition."""
    topics = group.topics
    if group.error_code and version < ERROR_AT_TOP_SINCE:
        topics = [
            OffsetFetchResponseTopics(
                topic.name,
                partitions=[
                    OffsetFetchResponsePartitions(index, NO_OFFSET, metadata="", error_code=group.error_code)
                    for index in topic.partition_indexes
                ],
            )
            for topic in asked.topics or []
        ]
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(topic.name, [_older(each) for each in topic.partitions])
            for topic in topics
        ],
        error_code=group.error_code if version >= ERROR_AT_TOP_SINCE else ErrorCode.NONE.number,
    )


def _newer(topic: OffsetFetchRequestTopic) -> OffsetFetchRequestTopics:
    return OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes)


def _older(partition: OffsetFetchResponsePartitions) -> OffsetFetchResponsePartition:
    return OffsetFetchResponsePartition(
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.metadata,
        partition.error_code,
    )
