"""An image as records: the fewest from which replay makes the same image again.

The log of a cluster that has been up for years tells how it came to be as it is; a snapshot only tells how it
is. Both are read in the same way:

    log        record 0 ── record 1 ── ··· ── record n ──▶ image
    snapshot                                  records  ──▶ the same image

All records of a snapshot stand at one offset, that of the last record of the log that it stands for. None stands for
a log that ends inside a transaction (metadata_transaction.py): what waits for its end is in no image.

Where an image is there already, and followed by others, only what differs is replayed (`changes`): so a node that
skips a part of the log by a snapshot is told of everything that changed meanwhile, and of nothing else.

    old image ── changes(old, new) ──▶ the same as the new one, and a Delta

Read next: image.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from andiron.controller.features import METADATA_VERSION
from andiron.controller.image import TOPIC, BrokerImage, ControllerImage, Image, PartitionImage, TopicImage
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    ConfigRecord,
    ControllerEndpoint,
    ControllerFeature,
    FeatureLevelRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from andiron.controller.unserved_records import KINDS
from andiron.model.ids import NodeId, Offset

NOBODY = -1


def records_of(image: Image) -> Iterator[MetadataRecord]:
    """The records of an image; how the others are written follows from the first, metadata.version."""
    levels = sorted(image.features.items(), key=lambda item: item[0] != METADATA_VERSION)
    yield from (FeatureLevelRecord(name, level) for name, level in levels)
    yield from map(_controller, image.controllers.values())
    yield from map(_broker, image.brokers.values())
    for topic in image.topics.values():
        yield TopicRecord(topic.name, topic.id)
        for number, partition in topic.partitions.items():
            yield _partition(topic.id, number, partition)
    for (kind, resource), configs in image.configs.items():
        yield from (ConfigRecord(kind, resource, name, value) for name, value in configs.items())
    if image.next_producer_id:
        yield ProducerIdsRecord(NOBODY, NOBODY, image.next_producer_id)
    yield from image.unserved


def copy_of(image: Image) -> Image:
    """The image as it is now, for whoever reads it bit by bit while the image itself goes on."""
    copy = Image(noting=False)
    copy.topics = {
        name: TopicImage(name, topic.id, dict(topic.partitions)) for name, topic in image.topics.items()
    }
    copy.topics_by_id = {topic.id: topic for topic in copy.topics.values()}
    copy.brokers, copy.features = dict(image.brokers), dict(image.features)
    copy.controllers = dict(image.controllers)
    copy.configs = {key: dict(configs) for key, configs in image.configs.items()}
    copy.unserved = image.unserved.copy()
    copy.next_producer_id, copy.next_offset = image.next_producer_id, image.next_offset
    return copy


def changes(old: Image, new: Image) -> list[MetadataRecord]:
    """What has to be replayed by the old image to make it say what the new one does; the last one says nothing."""
    gone = {name: topic for name, topic in old.topics.items() if topic.id not in new.topics_by_id}
    records: list[MetadataRecord] = [RemoveTopicRecord(topic.id) for topic in gone.values()]
    records += [
        UnregisterBrokerRecord(b.id, b.epoch) for b in old.brokers.values() if b.id not in new.brokers
    ]
    records += [FeatureLevelRecord(name, 0) for name in old.features if name not in new.features]
    for (kind, resource), configs in old.configs.items():
        if not (kind == TOPIC and resource in gone):
            kept = new.configs_of(kind, resource)
            records += [ConfigRecord(kind, resource, name, None) for name in configs if name not in kept]
    records += old.unserved.removals(new.unserved)
    records += [record for record in records_of(new) if not _says(old, gone, record)]
    return [*records, NoOpRecord()]


def _says(image: Image, gone: Mapping[str, TopicImage], record: MetadataRecord) -> bool:
    """Whether an image, without the topics that are gone, says already what a record of a snapshot says."""
    match record:
        case FeatureLevelRecord():
            return image.features.get(record.name) == record.feature_level
        case RegisterBrokerRecord():
            return image.brokers.get(NodeId(record.broker_id)) == BrokerImage.of(record)
        case RegisterControllerRecord():
            return image.controllers.get(NodeId(record.controller_id)) == ControllerImage.of(record)
        case TopicRecord():
            return record.topic_id in image.topics_by_id
        case PartitionRecord():
            topic = image.topics_by_id.get(record.topic_id)
            known = None if topic is None else topic.partitions.get(record.partition_id)
            return known == PartitionImage.of(record)
        case ConfigRecord():
            is_gone = record.resource_type == TOPIC and record.resource_name in gone
            configs = image.configs_of(record.resource_type, record.resource_name)
            return not is_gone and configs.get(record.name) == record.value
        case ProducerIdsRecord():
            return image.next_producer_id == record.next_producer_id
    return isinstance(record, KINDS) and record in image.unserved


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
        cordoned_log_dirs=list(broker.cordoned) or None,
    )


def _controller(controller: ControllerImage) -> MetadataRecord:
    return RegisterControllerRecord(
        controller_id=controller.id,
        incarnation_id=controller.incarnation,
        end_points=[ControllerEndpoint(*each) for each in controller.endpoints],
        features=[ControllerFeature(*each) for each in controller.features],
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
