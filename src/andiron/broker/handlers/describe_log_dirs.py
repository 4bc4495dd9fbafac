"""DescribeLogDirs (key 35), versions 1-5: what lies in each log directory, and how large it is."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.partition import Partition
from andiron.broker.request import Request
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

API = ApiKey.DESCRIBE_LOG_DIRS
SERVED = ADVERTISED = (1, 5)


def handle(broker: Broker, request: Request[DescribeLogDirsRequest]) -> DescribeLogDirsResponse:
    asked = request.body.topics
    wanted = None if asked is None else {(t.topic, index) for t in asked for index in t.partitions}
    held: dict[str, list[Partition]] = {}
    for partition in broker.partitions:
        if wanted is None or partition.name in wanted:
            held.setdefault(broker.directories.directory_of(partition.name), []).append(partition)
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                error_code=0 if total >= 0 else ErrorCode.KAFKA_STORAGE_ERROR.number,
                log_dir=path,
                topics=_topics(held.get(path, [])),
                total_bytes=total,
                usable_bytes=free,
            )
            for path, (total, free) in broker.directories.usages().items()
        ]
    )


def _topics(partitions: list[Partition]) -> list[DescribeLogDirsTopic]:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for partition in partitions:
        topic, index = partition.name
        described = topics.setdefault(topic, DescribeLogDirsTopic(topic))
        described.partitions.append(DescribeLogDirsPartition(index, partition.log.size))
    return list(topics.values())
