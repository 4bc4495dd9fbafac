"""Partitions: the first state of new ones, and more of them for a topic.

The replicas of a new partition that are live are in sync, since nothing has been written yet; the first of
them leads. Those that are not join the others when they have caught up.

Read next: partition_changes.py, on how a partition changes from then on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from andiron.controller.image import UNASSIGNED, Image
from andiron.controller.records import MetadataRecord, PartitionRecord
from andiron.controller.replica_placement import place
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

PARTITIONS_MAX = 10_000  # that one request may create: they go into one batch of the log


def new_partitions(
    image: Image, topic_id: bytes, assignments: Iterable[list[int]], first: int = 0
) -> list[MetadataRecord]:
    """The records of new partitions, numbered from `first`; each assignment has a live broker."""
    directories = {id: first_directory(image, id) for id in image.brokers}
    live = {broker.id for broker in image.brokers.values() if broker.live}
    records: list[MetadataRecord] = []
    for number, replicas in enumerate(assignments, first):
        isr = [replica for replica in replicas if replica in live]
        records.append(
            PartitionRecord(
                partition_id=number,
                topic_id=topic_id,
                replicas=replicas,
                isr=isr,
                leader=isr[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=[directories[NodeId(replica)] for replica in replicas],
            )
        )
    return records


def first_directory(image: Image, replica: int) -> bytes:
    """Where a new replica will lie: in the only directory of its broker, or where that chooses."""
    broker = image.brokers.get(NodeId(replica))
    return broker.log_dirs[0] if broker is not None and len(broker.log_dirs) == 1 else UNASSIGNED


def check_assignment(replicas: list[int], image: Image, replication_factor: int | None) -> None:
    """Complain about replicas chosen by hand: where they cannot stand, or not as many as of the others."""
    check_brokers(replicas, image)
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if replication_factor is not None and len(replicas) != replication_factor:
        raise code.error(f"an assignment has {len(replicas)} replicas where others have {replication_factor}")
    if not any(image.is_live(replica) for replica in replicas):
        raise code.error("all brokers of an assignment are fenced")


def check_brokers(replicas: list[int], image: Image) -> None:
    """Complain about replicas that are none, are there twice, or whose broker is not known."""
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if not replicas:
        raise code.error("an assignment has no replicas")
    for replica in replicas:
        if replicas.count(replica) > 1:
            raise code.error(f"an assignment has broker {replica} more than once")
        if NodeId(replica) not in image.brokers:
            raise code.error(f"an assignment has broker {replica}, and no such broker is registered")


def create_partitions(
    request: CreatePartitionsRequest, image: Image, chance: Chance
) -> Decision[MetadataRecord]:
    """Give topics more partitions: each topic for itself, all or nothing."""
    counts = Counter(topic.name for topic in request.topics)
    response = CreatePartitionsResponse()
    records: list[MetadataRecord] = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(topic.name)
        response.results.append(result)
        try:
            if counts[topic.name] > 1:
                raise ErrorCode.INVALID_REQUEST.error("the topic is there twice")
            added = _grown(topic, image, chance, PARTITIONS_MAX - len(records))
        except ProtocolError as error:
            result.error_code, result.error_message = error.code.number, error.detail
        else:
            records += added
    return Decision(response, [] if request.validate_only else records)


def _grown(asked: CreatePartitionsTopic, image: Image, chance: Chance, most: int) -> list[MetadataRecord]:
    topic = image.topics.get(asked.name)
    if topic is None:
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"there is no topic {asked.name}")
    there = len(topic.partitions)
    if asked.count == there:
        raise ErrorCode.INVALID_PARTITIONS.error(f"the topic has {there} partitions already")
    if asked.count < there:
        raise ErrorCode.INVALID_PARTITIONS.error(
            f"the topic has {there} partitions, so {asked.count} would not be more; they are never taken away"
        )
    if asked.count - there > most:
        raise ErrorCode.POLICY_VIOLATION.error(
            f"a request may create {PARTITIONS_MAX} partitions and no more"
        )
    first = topic.partitions[0]
    replication_factor = len(first.replicas) - len(first.adding)
    if asked.assignments is None:
        chosen = place(asked.count - there, replication_factor, image.brokers.values(), chance)
    else:
        chosen = [assignment.broker_ids for assignment in asked.assignments]
        _check_count(asked.count - there, len(chosen))
        for replicas in chosen:
            check_assignment(replicas, image, replication_factor)
    return new_partitions(image, topic.id, chosen, first=there)


def _check_count(wanted: int, given: int) -> None:
    if wanted != given:
        complaint = f"{wanted} partitions were to be added, and {given} assignments given"
        raise ErrorCode.INVALID_REPLICA_ASSIGNMENT.error(complaint)
