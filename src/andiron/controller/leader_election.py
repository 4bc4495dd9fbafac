"""Leader elections: of the partitions of a broker that comes or goes, those that are asked for, and those that are due.

    leader_and_isr_changes    a broker comes or goes: the ISR, the ELR and the leader of each of its partitions
    elect_leaders             ElectLeaders: the preferred leader (KIP-460), or one at any price (unclean)
    periodic_elections        every leader.imbalance.check.interval.seconds: preferred leaders, and any leader at all

A broker comes or goes:

    broker fenced, stopping, unregistered     leaves every ISR; what it led, another leads
           a directory of it fails            the same, for what lies there
           was killed and starts again        the same, and it is not eligible either: it may have lost records
           let in                             leads what nobody led and it is fit for

A broker that is let in is in no ISR by that: it joins when the leader says that it has caught up
(alter_partition.py). All partitions are looked at, which is as rare as brokers come and go.

The first replica of a partition is its preferred leader: as replicas were placed, each broker is the preferred
leader of its share. After a broker was away others lead in its place, and its share has to be given back:

    preferred   1 2 3 1 2 3       broker 2 restarts       1 3 3 1 1 3       given back       1 2 3 1 2 3

ElectLeaders asks for it. The controller itself looks at an interval: a broker that leads much less than its share gets
it back, and where a topic allows an unclean leader, partitions without any are tried again.

Read next: partition_changes.py, on who is elected.
"""

from __future__ import annotations

from andiron.controller.image import NO_LEADER, BrokerImage, Image, TopicImage
from andiron.controller.partition_changes import Election, PartitionChanges
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

ELECTIONS = {0: Election.PREFERRED, 1: Election.UNCLEAN}


def leader_and_isr_changes(
    image: Image, settings: ControllerSettings, changed: BrokerImage, *, lost: bool = False
) -> list[MetadataRecord]:
    """A change for every partition that a changed broker concerns; `lost` if it may have lost records."""
    changes, id = PartitionChanges(image, settings, changed), changed.id
    for topic, number, partition in image.partitions():
        if id not in partition.replicas:
            continue
        isr = partition.isr
        if id in isr and (lost or not changes.may_lead(partition, id)):
            isr = tuple(replica for replica in isr if replica != id)
        if isr == partition.isr and partition.leader != NO_LEADER and not (lost and id in partition.elr):
            continue
        changes.change(topic, number, partition._replace(isr=isr), lost=id if lost else None)
    return changes.records


# ── elections that are asked for ─────────────────────────────────────────────────────


def elect_leaders(
    request: ElectLeadersRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Elect leaders of the partitions named; of all, if none is, and then only those that need it are told."""
    election = ELECTIONS.get(request.election_type)
    if election is None:
        raise ErrorCode.INVALID_REQUEST.error(f"there is no election of type {request.election_type}")
    changes = PartitionChanges(image, settings)
    if request.topic_partitions is None:
        asked = [(topic.name, list(topic.partitions)) for topic in image.topics.values()]
    else:
        asked = [(each.topic, each.partitions) for each in request.topic_partitions]
    response = ElectLeadersResponse()
    for name, numbers in asked:
        results = [_result(name, number, image, changes, election) for number in numbers]
        if request.topic_partitions is None:
            idle = ErrorCode.ELECTION_NOT_NEEDED.number
            results = [result for result in results if result.error_code != idle]
        if results:
            response.replica_election_results.append(ReplicaElectionResult(name, results))
    return Decision(response, changes.records)


def _result(
    name: str, number: int, image: Image, changes: PartitionChanges, election: Election
) -> PartitionResult:
    try:
        topic = image.topics.get(name)
        if topic is None or number not in topic.partitions:
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"there is no partition {name}-{number}")
        _elect(topic, number, changes, election)
    except ProtocolError as error:
        return PartitionResult(number, error.code.number, error.detail)
    return PartitionResult(number)


def _elect(topic: TopicImage, number: int, changes: PartitionChanges, election: Election) -> None:
    before = changes.state(topic, number)
    if election is Election.PREFERRED:
        needed, failure = before.leader != before.replicas[0], ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    else:
        needed, failure = before.leader == NO_LEADER, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    if not needed:
        raise ErrorCode.ELECTION_NOT_NEEDED.error(f"broker {before.leader} leads already")
    if changes.change(topic, number, before, election).leader == before.leader:
        raise failure.error(f"of replicas {list(before.replicas)}, {list(before.isr)} are in sync")


# ── elections that are due from time to time ─────────────────────────────────────────


def periodic_elections(image: Image, settings: ControllerSettings) -> list[MetadataRecord]:
    """Give brokers back what they should lead, and partitions without a leader one if it can be."""
    changes = PartitionChanges(image, settings)
    short = _brokers_short_of_their_share(image, settings) if settings.auto_leader_rebalance_enable else {}
    for topic, number, partition in image.partitions():
        if partition.leader == NO_LEADER:
            changes.change(topic, number, partition)
        elif partition.replicas[0] in short and partition.leader != partition.replicas[0]:
            changes.change(topic, number, partition, Election.PREFERRED)
    return changes.records


def _brokers_short_of_their_share(image: Image, settings: ControllerSettings) -> dict[NodeId, None]:
    """The live brokers of whose preferred partitions more than the percentage is led by others."""
    share: dict[NodeId, int] = {}
    missing: dict[NodeId, int] = {}
    for _, _, partition in image.partitions():
        preferred = partition.replicas[0]
        share[preferred] = share.get(preferred, 0) + 1
        if partition.leader != preferred:
            missing[preferred] = missing.get(preferred, 0) + 1
    allowed = settings.leader_imbalance_per_broker_percentage
    return {
        broker: None
        for broker, count in missing.items()
        if image.is_live(broker) and 100 * count > allowed * share[broker]
    }
