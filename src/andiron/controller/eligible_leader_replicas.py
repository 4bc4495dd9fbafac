"""Eligible leader replicas (ELR, KIP-966): where they are eligible no longer, because fewer need be in sync.

Who leaves the ISR is eligible while nothing could be committed without it, which is while fewer are in sync than
min.insync.replicas (partition_changes.py keeps the ELR by that rule with every change). When min.insync.replicas itself
comes down, something can be committed without them:

    a topic's or the cluster's setting changes    clear_elr_by_configs, in the same decision
    server.properties had it come down            clear_needless_elr, when a controller takes over

Read next: partition_changes.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.controller.image import BROKER, TOPIC, Image
from andiron.controller.partition_changes import PartitionChanges
from andiron.controller.records import ConfigRecord, MetadataRecord, PartitionChangeRecord
from andiron.controller.settings import MIN_INSYNC, ControllerSettings


def clear_needless_elr(image: Image, settings: ControllerSettings) -> list[MetadataRecord]:
    """Clear the ELR of partitions of which enough replicas are in sync by now.

    min.insync.replicas may have come down in server.properties while this controller was not there.
    """
    changes = PartitionChanges(image, settings)
    for topic, number, partition in image.partitions():
        if partition.elr and partition.isr:
            changes.change(topic, number, partition)
    return changes.records


def clear_elr_by_configs(image: Image, changed: Iterable[MetadataRecord]) -> list[MetadataRecord]:
    """Clear the ELR of the partitions for which min.insync.replicas changes by these records.

    Where nobody is in sync nothing is written, and the eligible stay so.
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
