"""ElectLeaders (key 43), versions 0-2: give partitions back to their preferred leader, or to any replica.

Null partitions mean all. Version 1 adds the election type (0 preferred, 1 unclean) and an error at the
top. Flexible since 2.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@struct
class TopicPartitions:
    topic: str = string()
    partitions: list[int] = array(i32())


@message(api_key=43, versions=(0, 2), flexible=2)
class ElectLeadersRequest:
    election_type: int = i8(since=1)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable=True)
    timeout_ms: int = i32(default=60_000)


@struct
class PartitionResult:
    partition_id: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@struct
class ReplicaElectionResult:
    topic: str = string()
    partition_result: list[PartitionResult] = array(PartitionResult)


@message(api_key=43, versions=(0, 2), flexible=2)
class ElectLeadersResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16(since=1)
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult)
