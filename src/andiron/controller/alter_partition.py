"""AlterPartition: a partition's leader says who is in sync.

Only the leader knows; the controller writes it down, unless things have moved on since the leader looked. The
request names both epochs that the leader knows, and is compared with what is known here:

    leader or partition epoch later than here    NOT_CONTROLLER: the leader knows more, so this is an old controller
    leader epoch earlier                         FENCED_LEADER_EPOCH: another leads by now
    partition epoch earlier                      INVALID_UPDATE_VERSION: changed meanwhile; read it, then ask again

Nobody gets in who is fenced, stopping, or registered under another broker epoch than the leader knows it by
(INELIGIBLE_REPLICA, KIP-903).
When a reassignment is done by this, the old replicas go in the same record, and if the leader is among them it
is told NEW_LEADER_ELECTED.

Read next: partition_changes.py; reassignments.py.
"""

from __future__ import annotations

from andiron.controller.broker_registrations import check_broker_epoch
from andiron.controller.image import Image, PartitionImage, TopicImage
from andiron.controller.partition_changes import PartitionChanges
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    AlterPartitionResponseTopic,
    BrokerState,
)

RECOVERED, RECOVERING = 0, 1
_ANY_EPOCH = -1


def alter_partition(
    request: AlterPartitionRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Write down who is in sync, each partition for itself."""
    try:
        check_broker_epoch(image, request.broker_id, request.broker_epoch)
    except ProtocolError as error:
        raise ErrorCode.STALE_BROKER_EPOCH.error(error.detail) from error
    changes = PartitionChanges(image, settings)
    response = AlterPartitionResponse()
    for asked in request.topics:
        topic = image.topics_by_id.get(asked.topic_id)
        result = AlterPartitionResponseTopic(asked.topic_id)
        response.topics.append(result)
        for part in asked.partitions:
            try:
                if topic is None:
                    raise ErrorCode.UNKNOWN_TOPIC_ID.error(f"no topic has the id {asked.topic_id.hex()}")
                after = _altered(topic, part, request.broker_id, image, changes)
                result.partitions.append(_shown(part.partition_index, after))
            except ProtocolError as error:
                result.partitions.append(
                    AlterPartitionResponsePartition(part.partition_index, error.code.number)
                )
    return Decision(response, changes.records)


def _altered(
    topic: TopicImage,
    asked: AlterPartitionRequestPartition,
    leader: int,
    image: Image,
    changes: PartitionChanges,
) -> PartitionImage:
    number = asked.partition_index
    if number not in topic.partitions:
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"{topic.name} has no partition {number}")
    partition = changes.state(topic, number)
    members = asked.new_isr_with_epochs or [BrokerState(id) for id in asked.new_isr]
    _check_epochs(asked, partition, leader)
    _check_members(asked, partition, members)
    for member in members:
        _check_eligible(member, image)
    wanted = partition._replace(
        isr=tuple(NodeId(member.broker_id) for member in members),
        recovering=asked.leader_recovery_state == RECOVERING,
    )
    after = changes.change(topic, number, wanted)
    if after.leader != leader:
        raise ErrorCode.NEW_LEADER_ELECTED.error(f"{topic.name}-{number} is led by {after.leader} now")
    return after


def _check_epochs(asked: AlterPartitionRequestPartition, partition: PartitionImage, leader: int) -> None:
    if asked.leader_epoch > partition.leader_epoch or asked.partition_epoch > partition.partition_epoch:
        raise ErrorCode.NOT_CONTROLLER.error("the leader knows of a later epoch than this controller")
    if asked.leader_epoch < partition.leader_epoch:
        raise ErrorCode.FENCED_LEADER_EPOCH.error(f"the leader epoch is {partition.leader_epoch}")
    if leader != partition.leader:
        raise ErrorCode.INVALID_REQUEST.error(f"broker {partition.leader} leads, not {leader}")
    if asked.partition_epoch < partition.partition_epoch:
        raise ErrorCode.INVALID_UPDATE_VERSION.error(f"the partition epoch is {partition.partition_epoch}")


def _check_members(
    asked: AlterPartitionRequestPartition, partition: PartitionImage, members: list[BrokerState]
) -> None:
    code, ids = ErrorCode.INVALID_REQUEST, [member.broker_id for member in members]
    if len(dict.fromkeys(ids)) < len(ids) or not all(id in partition.replicas for id in ids):
        raise code.error(f"{ids} cannot be in sync; the replicas are {list(partition.replicas)}")
    if partition.leader not in ids:
        raise code.error(f"the leader is always in sync, and is not in {ids}")
    if asked.leader_recovery_state == RECOVERING and len(ids) > 1:
        raise code.error("nobody can be in sync with a leader that is still recovering")
    if asked.leader_recovery_state == RECOVERING and not partition.recovering:
        raise code.error("a leader that has recovered does not recover again")


def _check_eligible(member: BrokerState, image: Image) -> None:
    broker = image.brokers.get(NodeId(member.broker_id))
    if broker is None or not broker.live:
        raise ErrorCode.INELIGIBLE_REPLICA.error(f"broker {member.broker_id} is not live")
    if member.broker_epoch not in (_ANY_EPOCH, broker.epoch):
        raise ErrorCode.INELIGIBLE_REPLICA.error(
            f"broker {broker.id} is at epoch {broker.epoch}, not {member.broker_epoch}"
        )


def _shown(number: int, partition: PartitionImage) -> AlterPartitionResponsePartition:
    return AlterPartitionResponsePartition(
        number,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=[*map(int, partition.isr)],
        leader_recovery_state=RECOVERING if partition.recovering else RECOVERED,
        partition_epoch=partition.partition_epoch,
    )
