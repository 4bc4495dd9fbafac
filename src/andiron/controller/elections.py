"""What becomes of partitions when a broker comes or goes, and when the rules of their topics change.

    broker fenced, stopping, unregistered     leaves every ISR; what it led, another leads
           a directory of it fails            the same, for what lies there
           was killed and starts again        the same, and it is not eligible either: it may have lost records
           let in                             leads what nobody led and it is fit for

A broker that is let in is in no ISR by that: it joins when the leader says that it has caught up
(in_sync.py). All partitions are looked at, which is as rare as brokers come and go.

Read next: brokers.py, where brokers change; leadership.py, for elections that are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.controller.changes import PartitionChanges
from andiron.controller.image import BROKER, NO_LEADER, TOPIC, BrokerImage, Image
from andiron.controller.records import ConfigRecord, MetadataRecord, PartitionChangeRecord
from andiron.controller.settings import MIN_INSYNC, ControllerSettings
from andiron.controller.standing import Standing


def elections(
    image: Image, settings: ControllerSettings, changed: BrokerImage, *, lost: bool = False
) -> list[MetadataRecord]:
    """A change for every partition that a changed broker concerns; `lost` if it may have lost records."""
    standing, id = Standing(image, changed), changed.id
    changes = PartitionChanges(standing, settings)
    for topic, number, partition in image.partitions():
        if id not in partition.replicas:
            continue
        isr = partition.isr
        if id in isr and (lost or not standing.may_lead(partition, id)):
            isr = tuple(replica for replica in isr if replica != id)
        if isr == partition.isr and partition.leader != NO_LEADER and not (lost and id in partition.elr):
            continue
        changes.settle(topic, number, partition._replace(isr=isr), lost=id if lost else None)
    return changes.records


def outgrown(image: Image, settings: ControllerSettings) -> list[MetadataRecord]:
    """Where more are in sync than need be by now, nobody is eligible.

    min.insync.replicas may have come down in server.properties while this controller was not there.
    """
    changes = PartitionChanges(Standing(image), settings)
    for topic, number, partition in image.partitions():
        if partition.elr and partition.isr:
            changes.settle(topic, number, partition)
    return changes.records


def without_eligible(image: Image, changed: Iterable[MetadataRecord]) -> list[MetadataRecord]:
    """Where min.insync.replicas changes, who has left the ISR is eligible no longer.

    It was while nothing could be committed without it; with fewer required, something can. Where nobody is
    in sync nothing is written, and the eligible stay so.
    """
    keys = {
        (record.resource_type, record.resource_name): None
        for record in changed
        if isinstance(record, ConfigRecord) and record.name == MIN_INSYNC
    }
    if not keys:
        return []
    everywhere = any(kind == BROKER for kind, _ in keys)
    return [
        PartitionChangeRecord(number, topic.id, eligible_leader_replicas=[])
        for topic, number, partition in image.partitions()
        if partition.elr and partition.isr and (everywhere or (TOPIC, topic.name) in keys)
    ]
