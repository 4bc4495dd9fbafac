"""OffsetForLeaderEpoch (key 23), versions 2-4: the end offset of a leader epoch in this log (KIP-101, KIP-279).

A consumer that has read up to some offset under some epoch asks this after a change of
leader, to learn whether what it read is still history (KIP-320).
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.model.errors import ProtocolError
from andiron.model.ids import LeaderEpoch
from andiron.wire.apis import ApiKey
from andiron.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

API = ApiKey.OFFSET_FOR_LEADER_EPOCH
SERVED = ADVERTISED = (2, 4)


def handle(broker: Broker, request: Request[OffsetForLeaderEpochRequest]) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(topic.topic, [_find(broker, topic.topic, p) for p in topic.partitions])
            for topic in request.body.topics
        ]
    )


def _find(broker: Broker, topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = broker.partition_by_name(topic, wanted.partition)
        partition.check_epoch(wanted.current_leader_epoch)
        partition.leader()
    except ProtocolError as error:
        return EpochEndOffset(error.code.number, wanted.partition)
    epoch, end = partition.end_of_epoch(LeaderEpoch(wanted.leader_epoch))
    return EpochEndOffset(0, wanted.partition, epoch, end)
