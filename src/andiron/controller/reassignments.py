"""Replicas are moved: AlterPartitionReassignments and ListPartitionReassignments (KIP-455).

A move takes as long as the new replicas need to catch up; meanwhile old and new ones stand side by side:

    before      replicas 1 2 3
    asked       replicas 4 2 3
    under way   replicas 4 2 3 1     adding 4     removing 1
    done        replicas 4 2 3                                  as soon as 4 2 3 are all in sync

The leader says who is in sync (alter_partition.py), and the change that brings in the last of them is also the one that
takes the old ones out. Another target may be asked for at any time: it counts from the replicas that were
there before the first. Null instead of replicas takes a move back. Neither may take away the last replica that
is in sync, for what is committed would go with it.

Read next: partition_changes.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from andiron.controller.image import Image, PartitionImage, TopicImage
from andiron.controller.partition_changes import PartitionChanges, with_replicas
from andiron.controller.partitions import check_brokers, first_directory
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def alter_reassignments(
    request: AlterPartitionReassignmentsRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Begin moves, or take them back, each partition for itself."""
    allowed = request.allow_replication_factor_change
    response = AlterPartitionReassignmentsResponse(allow_replication_factor_change=allowed)
    changes = PartitionChanges(image, settings)
    for asked in request.topics:
        result = ReassignableTopicResponse(asked.name)
        response.responses.append(result)
        for part in asked.partitions:
            outcome = ReassignablePartitionResponse(part.partition_index)
            result.partitions.append(outcome)
            try:
                _reassign(image.topics.get(asked.name), part, image, changes, allowed)
            except ProtocolError as error:
                outcome.error_code, outcome.error_message = error.code.number, error.detail
    return Decision(response, changes.records)


def _reassign(
    topic: TopicImage | None,
    asked: ReassignablePartition,
    image: Image,
    changes: PartitionChanges,
    may_change_count: bool,
) -> None:
    if topic is None or asked.partition_index not in topic.partitions:
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error("there is no such partition")
    before = changes.state(topic, asked.partition_index)
    if asked.replicas is None:
        wanted = _taken_back(before)
    else:
        wanted = _towards(before, asked.replicas, image, may_change_count)
    holders = before.isr or before.elr or before.last_known_elr
    if not any(replica in wanted.replicas for replica in holders):
        raise ErrorCode.INVALID_REPLICA_ASSIGNMENT.error(
            f"of replicas {list(wanted.replicas)} none has all that is committed; {list(holders)} have"
        )
    changes.change(topic, asked.partition_index, wanted)


def _taken_back(before: PartitionImage) -> PartitionImage:
    if not before.reassigning:
        raise ErrorCode.NO_REASSIGNMENT_IN_PROGRESS.error()
    return with_replicas(before, _original(before))._replace(adding=(), removing=())


def _towards(
    before: PartitionImage, target: list[int], image: Image, may_change_count: bool
) -> PartitionImage:
    check_brokers(target, image)
    original = _original(before)
    if not may_change_count and len(target) != len(original):
        raise ErrorCode.INVALID_REPLICATION_FACTOR.error(
            f"the partition has {len(original)} replicas and was to have {len(target)}"
        )
    adding = tuple(NodeId(replica) for replica in target if replica not in original)
    removing = tuple(replica for replica in original if replica not in target)
    after = with_replicas(before, (*target, *removing))._replace(adding=adding, removing=removing)
    directories = (
        before.directory_of(replica) if replica in before.replicas else first_directory(image, replica)
        for replica in after.replicas
    )
    return after._replace(directories=tuple(directories))


def _original(partition: PartitionImage) -> list[NodeId]:
    """The replicas that were there before the move."""
    return [replica for replica in partition.replicas if replica not in partition.adding]


# ── what is under way ────────────────────────────────────────────────────────────────


def list_reassignments(request: ListPartitionReassignmentsRequest, image: Image) -> Decision[MetadataRecord]:
    """The moves under way, of all partitions or of those named."""
    response = ListPartitionReassignmentsResponse()
    for topic, numbers in _asked(request, image):
        moves = [
            OngoingPartitionReassignment(number, list(part.replicas), list(part.adding), list(part.removing))
            for number in numbers
            if (part := topic.partitions.get(number)) is not None and part.reassigning
        ]
        if moves:
            response.topics.append(OngoingTopicReassignment(topic.name, moves))
    return Decision(response)


def _asked(
    request: ListPartitionReassignmentsRequest, image: Image
) -> Iterator[tuple[TopicImage, list[int]]]:
    if request.topics is None:
        yield from ((topic, list(topic.partitions)) for topic in image.topics.values())
        return
    for asked in request.topics:
        if asked.name in image.topics:
            yield image.topics[asked.name], asked.partition_indexes
