"""Features: what the cluster has agreed its metadata log may contain.

A level is a promise that every node understands the records which that level brings. A new cluster begins
with the newest level it knows; the first record of its log says so.
"""

from __future__ import annotations

from andiron.controller.image import Image
from andiron.controller.records import FeatureLevelRecord, MetadataRecord

METADATA_VERSION = "metadata.version"
METADATA_LEVEL = 30  # Kafka's 4.3-IV0

GROUP_VERSION, TRANSACTION_VERSION = "group.version", "transaction.version"

# What this node can be set to: metadata records are written in the versions of this level and no other. Clients
# that see transaction.version 2 let each transaction have an epoch of its own.
SUPPORTED: dict[str, tuple[int, int]] = {
    METADATA_VERSION: (METADATA_LEVEL, METADATA_LEVEL),
    GROUP_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
}


def first_records(image: Image) -> list[MetadataRecord]:
    """What a cluster without any metadata begins with; nothing for one that has begun."""
    if METADATA_VERSION in image.features:
        return []
    return [FeatureLevelRecord(name, newest) for name, (_, newest) in SUPPORTED.items()]
