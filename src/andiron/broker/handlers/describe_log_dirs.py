"""DescribeLogDirs (key 35), versions 1-5: what lies in each log directory, and how large it is.

A replica that moves to another directory is shown there too, as a future one, with how many records it lacks.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.log.partition_log import PartitionLog
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
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
    held: dict[str, dict[str, DescribeLogDirsTopic]] = {}

    def show(path: str, name: TopicPartition, log: PartitionLog, lag: int, *, is_future: bool) -> None:
        if wanted is None or name in wanted:
            topic = held.setdefault(path, {}).setdefault(name.topic, DescribeLogDirsTopic(name.topic))
            topic.partitions.append(DescribeLogDirsPartition(name.partition, log.size, lag, is_future))

    for each in broker.replica_manager:
        show(broker.directories.directory_of(each.name), each.name, each.log, each.fetch_lag, is_future=False)
    for move in broker.housekeeping.moves:
        show(move.path, move.partition.name, move.copy, move.lag, is_future=True)
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                error_code=0 if total >= 0 else ErrorCode.KAFKA_STORAGE_ERROR.number,
                log_dir=path,
                topics=list(held.get(path, {}).values()),
                total_bytes=total,
                usable_bytes=free,
            )
            for path, (total, free) in broker.directories.usages().items()
        ]
    )
