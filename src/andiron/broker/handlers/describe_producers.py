"""DescribeProducers (key 61), version 0: who has written to a partition, and whose transactions are open there.

A transaction that is open here and of which its coordinator knows nothing is one that hangs; this is how it is found.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.controller.topics import name_fault
from andiron.log.producers import ProducerState as KnownProducer
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

API = ApiKey.DESCRIBE_PRODUCERS
SERVED = ADVERTISED = (0, 0)


def handle(broker: Broker, request: Request[DescribeProducersRequest]) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(topic.name, [_partition(broker, topic.name, i) for i in topic.partition_indexes])
            for topic in request.body.topics
        ]
    )


def _partition(broker: Broker, topic: str, index: int) -> PartitionResponse:
    try:
        if (fault := name_fault(topic)) is not None:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(fault)
        partition = broker.partition_by_name(topic, index)
        partition.leader()
    except ProtocolError as error:
        return PartitionResponse(index, error.code.number, error.detail)
    return PartitionResponse(index, active_producers=[_state(each) for each in partition.log.producers])


def _state(producer: KnownProducer) -> ProducerState:
    last = producer.batches[-1].last_sequence if producer.batches else -1
    return ProducerState(
        producer.id,
        producer.epoch,
        last,
        producer.last_timestamp,
        producer.coordinator_epoch,
        producer.transaction_start,
    )
