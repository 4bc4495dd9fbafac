"""AssignReplicasToDirs: a broker says in which of its directories a replica lies (KIP-858).

With one directory there is nothing to say. With several the broker chooses, and only when the controller has
written down what it chose is it known what is lost when one of them fails.

    the directory works      written down
    it has failed            written down, and the replica leaves the ISR

Read next: broker_heartbeats.py, where a broker tells of directories that fail.
"""

from __future__ import annotations

from andiron.controller.broker_registrations import check_broker_epoch
from andiron.controller.image import LOST, BrokerImage, Image, TopicImage
from andiron.controller.partition_changes import PartitionChanges
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.machine import Decision
from andiron.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    AssignReplicasToDirsResponseDirectory,
    AssignReplicasToDirsResponsePartition,
    AssignReplicasToDirsResponseTopic,
)


def assign_replicas(
    request: AssignReplicasToDirsRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Write down where replicas lie, each for itself."""
    broker = check_broker_epoch(image, request.broker_id, request.broker_epoch)
    changes = PartitionChanges(image, settings)
    response = AssignReplicasToDirsResponse()
    for directory in request.directories:
        shown = AssignReplicasToDirsResponseDirectory(directory.id)
        response.directories.append(shown)
        for asked in directory.topics:
            result = AssignReplicasToDirsResponseTopic(asked.topic_id)
            shown.topics.append(result)
            topic = image.topics_by_id.get(asked.topic_id)
            for part in asked.partitions:
                outcome = AssignReplicasToDirsResponsePartition(part.partition_index)
                result.partitions.append(outcome)
                try:
                    _assign(broker, directory.id, topic, part.partition_index, changes)
                except ProtocolError as error:
                    outcome.error_code = error.code.number
    return Decision(response, changes.records)


def _assign(
    broker: BrokerImage, directory: bytes, topic: TopicImage | None, number: int, changes: PartitionChanges
) -> None:
    if topic is None:
        raise ErrorCode.UNKNOWN_TOPIC_ID.error("no topic has this id")
    if number not in topic.partitions:
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"{topic.name} has no partition {number}")
    before = changes.state(topic, number)
    if broker.id not in before.replicas:
        raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"broker {broker.id} has no replica of it")
    directories = tuple(
        directory if replica == broker.id else before.directory_of(replica) for replica in before.replicas
    )
    isr = before.isr
    if directory == LOST or not broker.holds(directory):
        isr = tuple(replica for replica in isr if replica != broker.id)
    changes.change(topic, number, before._replace(directories=directories, isr=isr))
