"""AlterReplicaLogDirs (key 34), versions 1-2: move replicas between the log directories of this broker.

Answered when the moves have begun; DescribeLogDirs shows how far they are. A replica that is not here yet is put
where it was asked for once it comes, and answered REPLICA_NOT_AVAILABLE: kafka-reassign-partitions counts on both.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

API = ApiKey.ALTER_REPLICA_LOG_DIRS
SERVED = ADVERTISED = (1, 2)


def handle(broker: Broker, request: Request[AlterReplicaLogDirsRequest]) -> AlterReplicaLogDirsResponse:
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    for directory in request.body.dirs:
        for topic in directory.topics:
            result = results.setdefault(topic.name, AlterReplicaLogDirTopicResult(topic.name))
            for index in topic.partitions:
                code = _move(broker, TopicPartition(topic.name, index), directory.path, request.now)
                result.partitions.append(AlterReplicaLogDirPartitionResult(index, code.number))
    return AlterReplicaLogDirsResponse(results=list(results.values()))


def _move(broker: Broker, name: TopicPartition, path: str, now: Millis) -> ErrorCode:
    if not broker.directories.has(path):
        return ErrorCode.LOG_DIR_NOT_FOUND
    try:
        partition = broker.replica_manager.get(name)
        if partition is not None and partition.failure is not None:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if partition is not None:
            broker.housekeeping.moves.begin(partition, path, now)
            return ErrorCode.NONE
    except ProtocolError as error:
        return error.code
    if not broker.image.has_partition(*name):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.directories.prefer(name, path)
    return ErrorCode.REPLICA_NOT_AVAILABLE
