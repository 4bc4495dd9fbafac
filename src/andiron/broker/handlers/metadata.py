"""Metadata (key 3), versions 0-13: brokers, topics, and who leads which partition.

A topic that is asked for by name and does not exist is created where both the client and
auto.create.topics.enable allow it; the answer waits until it is there, so that the
client's first try succeeds.

librdkafka's request for all topics ends in three bytes too many (PROTOCOL quirk); what
follows a message is nobody's business.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.metadata.topic_creation import until_created
from andiron.broker.node.operations import ON_THE_CLUSTER, ON_TOPICS
from andiron.broker.node.patience import TOPIC_CREATION_MS
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.controller.image import Image, PartitionImage, TopicImage
from andiron.controller.partitions import PARTITIONS_MAX
from andiron.controller.topics import is_internal, name_fault
from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TOPIC_ID, NodeId
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.metadata import (
    NOT_ASKED,
    MetadataBroker,
    MetadataPartition,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataTopic,
)

API = ApiKey.METADATA
SERVED = ADVERTISED = (0, 13)
ENTRIES_MAX = 50_000

BY_ID_SINCE = 12  # version 10 has a place for ids already, and may not use it


def handle(
    broker: Broker, request: Request[MetadataRequest]
) -> MetadataResponse | Wait | InSlices[MetadataResponse]:
    if request.version < BY_ID_SINCE and not all(map(_is_by_name, request.body.topics or [])):
        return _refusal(request.body)
    missing = _to_create(broker, request)
    if not missing or len(missing) > PARTITIONS_MAX:
        return _response(broker, request)
    wanted = [CreatableTopic(name, num_partitions=-1, replication_factor=-1) for name in missing]
    created = broker.decide(CreateTopicsRequest(wanted, TOPIC_CREATION_MS), request.now, TOPIC_CREATION_MS)
    # Whether it worked is seen by what is there then: topics that are not are told as unknown.
    return created.and_then(
        lambda answer: until_created(broker, answer, lambda: _response(broker, request))
    ).or_else(lambda _: _response(broker, request))


def _to_create(broker: Broker, request: Request[MetadataRequest]) -> list[str]:
    body = request.body
    if not (body.allow_auto_topic_creation and broker.settings.broker.auto_create_topics_enable):
        return []
    names = [topic.name for topic in body.topics or [] if topic.name and topic.topic_id == NO_TOPIC_ID]
    topics = broker.image.topics
    return [name for name in dict.fromkeys(names) if name not in topics and name_fault(name) is None]


def _response(broker: Broker, request: Request[MetadataRequest]) -> InSlices[MetadataResponse]:
    image = broker.image
    return MetadataResponse(
        brokers=[
            MetadataBroker(node.id, *node.endpoint(request.listener), node.rack)
            for node in broker.metadata.known_brokers.told(image, request.now)
        ],
        cluster_id=broker.cluster_id,
        controller_id=_to_ask(broker),
        topics=(yield from _topics(image, request)),
        cluster_authorized_operations=(
            ON_THE_CLUSTER if request.body.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


def _to_ask(broker: Broker) -> int:
    """Whom clients take for the controller: the one who answers. It is awake, which the controller may not be, and
    passes on what is its to do. Kafka names some broker that it takes to be alive."""
    me = NodeId(broker.settings.node_id)
    return me if broker.image.is_live(me) else broker.controller_told


def _is_by_name(topic: MetadataRequestTopic) -> bool:
    return topic.name is not None and topic.topic_id == NO_TOPIC_ID


def _refusal(body: MetadataRequest) -> MetadataResponse:
    code = ErrorCode.INVALID_REQUEST.number
    return MetadataResponse(
        topics=[MetadataTopic(code, topic.name or "", topic.topic_id) for topic in body.topics or []]
    )


def _topics(image: Image, request: Request[MetadataRequest]) -> InSlices[list[MetadataTopic]]:
    asked = request.body.topics
    operations = ON_TOPICS if request.body.include_topic_authorized_operations else NOT_ASKED
    if asked is None or (request.version == 0 and not asked):
        ways = [_describe(image, topic, operations) for topic in image.topics.values()]
    else:
        once = {(topic.name, topic.topic_id): topic for topic in asked}
        ways = [_find(image, topic, operations) for topic in once.values()]
    found: list[MetadataTopic] = []
    since = 0
    for way in ways:
        found.append((yield from way))
        since += 1 + len(found[-1].partitions)
        if since >= SIZES.described_topics:
            since = 0
            yield
    return found


def _find(image: Image, asked: MetadataRequestTopic, operations: int) -> InSlices[MetadataTopic]:
    if asked.topic_id != NO_TOPIC_ID:
        topic = image.topics_by_id.get(asked.topic_id)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic = image.topics.get(asked.name or "")
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic is None and name_fault(asked.name or "") is not None:
            unknown = ErrorCode.INVALID_TOPIC_EXCEPTION
    if topic is None:
        return MetadataTopic(unknown.number, asked.name, asked.topic_id)
    return (yield from _describe(image, topic, operations))


def _describe(image: Image, topic: TopicImage, operations: int) -> InSlices[MetadataTopic]:
    partitions = sorted(topic.partitions.items())
    return MetadataTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=is_internal(topic.name),
        partitions=(yield from each(partitions, partial(_partition, image), SIZES.described_topics)),
        topic_authorized_operations=operations,
    )


def _partition(image: Image, numbered: tuple[int, PartitionImage]) -> MetadataPartition:
    index, partition = numbered
    return MetadataPartition(
        error_code=0 if partition.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE.number,
        partition_index=index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        offline_replicas=image.offline_replicas(partition),
    )
