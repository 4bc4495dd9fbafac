"""DescribeTopicPartitions (key 75), version 0: topics a page at a time.

Partitions are given in the order of topic name and number, at most
`response_partition_limit` of them; `next_cursor` says where the next page begins.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.operations import ON_TOPICS
from andiron.broker.node.request import Request
from andiron.controller.image import Image, TopicImage
from andiron.controller.topics import is_internal, name_fault
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

API = ApiKey.DESCRIBE_TOPIC_PARTITIONS
SERVED = ADVERTISED = (0, 0)

PARTITIONS_MAX = 2000


def handle(
    broker: Broker, request: Request[DescribeTopicPartitionsRequest]
) -> DescribeTopicPartitionsResponse:
    body, image = request.body, broker.image
    if body.cursor and not _fits(body.cursor, body):
        code = ErrorCode.INVALID_REQUEST.number
        return DescribeTopicPartitionsResponse(
            topics=[DescribeTopicPartitionsResponseTopic(code, topic.name) for topic in body.topics]
        )
    names = sorted({topic.name for topic in body.topics} or image.topics)
    first, at = (body.cursor.topic_name, body.cursor.partition_index) if body.cursor else ("", 0)
    left = max(1, min(body.response_partition_limit, PARTITIONS_MAX))
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if name < first:
            continue
        begin = at if name == first else 0
        if left == 0:
            response.next_cursor = Cursor(name, begin)
            break
        topic = image.topics.get(name)
        if topic is None:
            response.topics.append(_unknown(name))
            continue
        response.topics.append(_describe(image, topic, begin, left))
        there = len(response.topics[-1].partitions)
        left -= there
        if begin + there < len(topic.partitions):
            response.next_cursor = Cursor(name, begin + there)
            break
    return response


def _fits(cursor: Cursor, body: DescribeTopicPartitionsRequest) -> bool:
    """Whether a page can begin there: at a partition of a topic that is asked for."""
    asked = not body.topics or cursor.topic_name in [topic.name for topic in body.topics]
    return asked and cursor.partition_index >= 0


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    valid = name_fault(name) is None
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if valid else ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(code.number, name, topic_authorized_operations=ON_TOPICS)


def _describe(image: Image, topic: TopicImage, begin: int, most: int) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=is_internal(topic.name),
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=0 if part.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE.number,
                partition_index=index,
                leader_id=part.leader,
                leader_epoch=part.leader_epoch,
                replica_nodes=list(part.replicas),
                isr_nodes=list(part.isr),
                eligible_leader_replicas=list(part.elr),
                last_known_elr=list(part.last_known_elr),
                offline_replicas=image.offline_replicas(part),
            )
            for index, part in sorted(topic.partitions.items())[begin : begin + most]
        ],
        topic_authorized_operations=ON_TOPICS,
    )
