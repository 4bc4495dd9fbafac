"""An image as records: the fewest from which replay makes the same image again.

The log of a cluster that has been up for years tells how it came to be as it is; a snapshot only tells how it
is. Both are read in the same way:

    log        record 0 ── record 1 ── ··· ── record n ──▶ image
    snapshot                                  records  ──▶ the same image

All records of a snapshot stand at one offset, that of the last record of the log that it stands for.

Read next: image.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from andiron.controller.features import METADATA_VERSION
from andiron.controller.image import BrokerImage, Image, PartitionImage
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from andiron.model.ids import Offset

NOBODY = -1


def records_of(image: Image) -> Iterator[MetadataRecord]:
    """The records of an image; how the others are written follows from the first, metadata.version."""
    levels = sorted(image.features.items(), key=lambda item: item[0] != METADATA_VERSION)
    yield from (FeatureLevelRecord(name, level) for name, level in levels)
    yield from map(_broker, image.brokers.values())
    for topic in image.topics.values():
        yield TopicRecord(topic.name, topic.id)
        for number, partition in topic.partitions.items():
            yield _partition(topic.id, number, partition)
    for (kind, resource), configs in image.configs.items():
        yield from (ConfigRecord(kind, resource, name, value) for name, value in configs.items())
    if image.next_producer_id:
        yield ProducerIdsRecord(NOBODY, NOBODY, image.next_producer_id)


def offset_of(image: Image) -> Offset:
    """Where all records of its snapshot stand."""
    return Offset(image.next_offset - 1)


def _broker(broker: BrokerImage) -> MetadataRecord:
    endpoints = zip(broker.endpoints.items(), broker.protocols, strict=True)
    return RegisterBrokerRecord(
        broker_id=broker.id,
        incarnation_id=broker.incarnation,
        broker_epoch=broker.epoch,
        end_points=[BrokerEndpoint(name, *address, protocol) for (name, address), protocol in endpoints],
        features=[BrokerFeature(name, least, most) for name, (least, most) in broker.features.items()],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.stopping,
        log_dirs=list(broker.log_dirs),
    )


def _partition(topic_id: bytes, number: int, partition: PartitionImage) -> MetadataRecord:
    return PartitionRecord(
        partition_id=number,
        topic_id=topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing),
        adding_replicas=list(partition.adding),
        leader=partition.leader,
        leader_recovery_state=int(partition.recovering),
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories),
        eligible_leader_replicas=list(partition.elr) or None,
        last_known_elr=list(partition.last_known_elr) or None,
    )
