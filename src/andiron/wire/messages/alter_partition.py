"""AlterPartition (key 56), versions 2-3: a partition's leader asks the controller for another ISR.

The leader names the partition's epoch that it knows, so that a change made meanwhile is not undone; the
answer says how the partition stands. Version 2 names topics by id, 3 gives each member of the ISR with the
epoch of its broker, so that one which has restarted since is not let in (KIP-903). Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, i64, message, struct, uuid


@struct
class BrokerState:
    broker_id: int = i32()
    broker_epoch: int = i64(default=-1)


@struct
class AlterPartitionRequestPartition:
    partition_index: int = i32()
    leader_epoch: int = i32()
    new_isr: list[int] = array(i32(), until=2)
    new_isr_with_epochs: list[BrokerState] = array(BrokerState, since=3)
    leader_recovery_state: int = i8()  # 1 after an unclean election, until the leader has recovered
    partition_epoch: int = i32()


@struct
class AlterPartitionRequestTopic:
    topic_id: bytes = uuid()
    partitions: list[AlterPartitionRequestPartition] = array(AlterPartitionRequestPartition)


@message(api_key=56, versions=(2, 3), flexible=0)
class AlterPartitionRequest:
    broker_id: int = i32()
    broker_epoch: int = i64(default=-1)
    topics: list[AlterPartitionRequestTopic] = array(AlterPartitionRequestTopic)


@struct
class AlterPartitionResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()
    leader_id: int = i32()
    leader_epoch: int = i32()
    isr: list[int] = array(i32())
    leader_recovery_state: int = i8()
    partition_epoch: int = i32()


@struct
class AlterPartitionResponseTopic:
    topic_id: bytes = uuid()
    partitions: list[AlterPartitionResponsePartition] = array(AlterPartitionResponsePartition)


@message(api_key=56, versions=(2, 3), flexible=0)
class AlterPartitionResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    topics: list[AlterPartitionResponseTopic] = array(AlterPartitionResponseTopic)
