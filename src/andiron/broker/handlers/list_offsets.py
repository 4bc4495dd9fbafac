"""ListOffsets (key 2), versions 1-11: an offset by time, or by one of the names for places.

    -1 latest         the end of what the reader may see: watermark, or last stable offset
    -2 earliest       the start of the log
    -3 max timestamp  the record with the largest timestamp (version 7)
    -4 earliest local the same as earliest, there being no tiers (version 8)
    -5 latest tiered  none (version 9)
    -6 not yet tiered none (version 11)
    t >= 0            the first record at or after t

No such record is not an error: offset and timestamp are then -1. A name that the request's
version did not know yet is UNSUPPORTED_VERSION, and a partition named twice INVALID_REQUEST.
"""

from __future__ import annotations

from collections import Counter

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices
from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

API = ApiKey.LIST_OFFSETS
SERVED = ADVERTISED = (1, 11)
ENTRIES_MAX = 100_000

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, NOT_YET_TIERED = range(-1, -7, -1)
SINCE = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, NOT_YET_TIERED: 11}
READ_COMMITTED = 1

Place = tuple[int, int, int]  # timestamp, offset, leader epoch
NOWHERE: Place = (-1, -1, -1)


def handle(broker: Broker, request: Request[ListOffsetsRequest]) -> InSlices[ListOffsetsResponse]:
    response = ListOffsetsResponse()
    done = 0
    for topic in request.body.topics:
        response.topics.append(told := ListOffsetsTopicResponse(topic.name))
        times = Counter(wanted.partition_index for wanted in topic.partitions)
        once = {wanted.partition_index: wanted for wanted in topic.partitions}
        for index, wanted in once.items():
            told.partitions.append(_answer(broker, request, topic.name, wanted, times[index]))
            done += 1
            if not done % SIZES.listed_offsets:
                yield
        if not len(response.topics) % SIZES.listed_offsets:
            yield
    return response


def _answer(
    broker: Broker, request: Request[ListOffsetsRequest], topic: str, wanted: ListOffsetsPartition, times: int
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(wanted.partition_index)
    committed = request.body.isolation_level == READ_COMMITTED
    try:
        if times > 1:
            raise ErrorCode.INVALID_REQUEST.error("the partition is there twice")
        if wanted.timestamp < 0 and request.version < SINCE.get(wanted.timestamp, SERVED[1] + 1):
            raise ErrorCode.UNSUPPORTED_VERSION.error(f"no place is called {wanted.timestamp}")
        partition = broker.partition_by_name(topic, wanted.partition_index)
        partition.check_epoch(wanted.current_leader_epoch)
        place = _place(partition, request, wanted.timestamp, committed)
        answer.timestamp, answer.offset, answer.leader_epoch = place
    except ProtocolError as error:
        answer.error_code = error.code.number
        answer.timestamp = answer.offset = answer.leader_epoch = -1
    return answer


def _place(
    partition: Partition, request: Request[ListOffsetsRequest], timestamp: int, committed: bool
) -> Place:
    """Just after a change of leaders the new one may not know yet what had been committed, and must not tell of an
    earlier end than was told before (KIP-207), nor that there is nothing. What it finds before that it may tell."""
    leader = partition.leader()
    if request.body.replica_id >= 0:
        return _find(partition, timestamp, leader.end)
    place = _find(partition, timestamp, partition.readable_end(committed))
    depends = timestamp == LATEST or (place == NOWHERE and timestamp not in (LATEST_TIERED, NOT_YET_TIERED))
    if depends and not leader.knows_committed:
        code = ErrorCode.OFFSET_NOT_AVAILABLE if request.version >= 5 else ErrorCode.LEADER_NOT_AVAILABLE
        raise code.error(f"what is committed of {partition.name} is not known yet")
    return place


def _find(partition: Partition, timestamp: int, upto: Offset) -> Place:
    log = partition.log
    if timestamp == LATEST:
        return -1, upto, partition.epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return -1, log.start, partition.epoch_at_start()
    if timestamp in (LATEST_TIERED, NOT_YET_TIERED):
        return NOWHERE
    if timestamp == MAX_TIMESTAMP:
        found = log.offset_of_max_timestamp(upto)
    else:
        found = log.offset_for_time(Millis(timestamp), upto)
    return NOWHERE if found is None else (found.timestamp, found.offset, found.leader_epoch)
