"""AssignReplicasToDirs (key 73), version 0: a broker says which replica lies in which of its directories.

Thus the controller knows what is lost when one directory of several fails (KIP-858). Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, struct, uuid


@struct
class AssignReplicasToDirsRequestPartition:
    partition_index: int = i32()


@struct
class AssignReplicasToDirsRequestTopic:
    topic_id: bytes = uuid()
    partitions: list[AssignReplicasToDirsRequestPartition] = array(AssignReplicasToDirsRequestPartition)


@struct
class AssignReplicasToDirsRequestDirectory:
    id: bytes = uuid()
    topics: list[AssignReplicasToDirsRequestTopic] = array(AssignReplicasToDirsRequestTopic)


@message(api_key=73, versions=(0, 0), flexible=0)
class AssignReplicasToDirsRequest:
    broker_id: int = i32()
    broker_epoch: int = i64(default=-1)
    directories: list[AssignReplicasToDirsRequestDirectory] = array(AssignReplicasToDirsRequestDirectory)


@struct
class AssignReplicasToDirsResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()


@struct
class AssignReplicasToDirsResponseTopic:
    topic_id: bytes = uuid()
    partitions: list[AssignReplicasToDirsResponsePartition] = array(AssignReplicasToDirsResponsePartition)


@struct
class AssignReplicasToDirsResponseDirectory:
    id: bytes = uuid()
    topics: list[AssignReplicasToDirsResponseTopic] = array(AssignReplicasToDirsResponseTopic)


@message(api_key=73, versions=(0, 0), flexible=0)
class AssignReplicasToDirsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    directories: list[AssignReplicasToDirsResponseDirectory] = array(AssignReplicasToDirsResponseDirectory)
