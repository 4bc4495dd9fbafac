"""Features: what the cluster has agreed its metadata log may contain.

A level is a promise that every node understands the records which that level brings. A new cluster begins
with the newest level it knows; the first record of its log says so. UpdateFeatures raises a level, or lowers
it if that is said in so many words, within what this controller and every registered broker supports: all
that is asked for, or nothing.

Read next: registrations.py, where a broker that does not understand a level is turned away.
"""

from __future__ import annotations

from collections import Counter

from andiron.controller.image import Image
from andiron.controller.records import FeatureLevelRecord, MetadataRecord, PartitionChangeRecord
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.machine import Decision
from andiron.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

METADATA_VERSION = "metadata.version"
METADATA_LEVEL = 30  # Kafka's 4.3-IV0

GROUP_VERSION, TRANSACTION_VERSION = "group.version", "transaction.version"
ELR_VERSION = "eligible.leader.replicas.version"

# What this node can be set to: metadata records are written in the versions of this level and no other. Clients
# that see transaction.version 2 let each transaction have an epoch of its own. With eligible leader replicas
# (KIP-966) an ISR may be empty, and who left it last is remembered.
SUPPORTED: dict[str, tuple[int, int]] = {
    METADATA_VERSION: (METADATA_LEVEL, METADATA_LEVEL),
    GROUP_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    ELR_VERSION: (0, 1),
}


def first_records(image: Image) -> list[MetadataRecord]:
    """What a cluster without any metadata begins with; nothing for one that has begun."""
    if METADATA_VERSION in image.features:
        return []
    return [FeatureLevelRecord(name, newest) for name, (_, newest) in SUPPORTED.items()]


UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def update_features(request: UpdateFeaturesRequest, image: Image) -> Decision[MetadataRecord]:
    """Change levels: all of them, or none and why."""
    counts = Counter(update.feature for update in request.feature_updates)
    records: list[MetadataRecord] = []
    response = UpdateFeaturesResponse()
    try:
        for update in request.feature_updates:
            if counts[update.feature] > 1:
                raise ErrorCode.INVALID_REQUEST.error(f"{update.feature} is there twice")
            records += _updated(update, image)
    except ProtocolError as error:
        records = []
        response.error_code, response.error_message = error.code.number, error.detail
    outcome = response.error_code, response.error_message
    response.results = [UpdatableFeatureResult(name, *outcome) for name in counts]
    return Decision(response, [] if request.validate_only else records)


def _updated(update: FeatureUpdateKey, image: Image) -> list[MetadataRecord]:
    name, level, before = update.feature, update.max_version_level, image.features.get(update.feature, 0)
    invalid = ErrorCode.INVALID_UPDATE_VERSION
    _check_support(name, level, SUPPORTED.get(name, (0, 0)), "this controller")
    for broker in image.brokers.values():
        _check_support(name, level, broker.features.get(name, (0, 0)), f"broker {broker.id}")
    downgrade = update.allow_downgrade or update.upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if not downgrade and update.upgrade_type != UPGRADE:
        raise ErrorCode.INVALID_REQUEST.error(f"there is no update of type {update.upgrade_type}")
    if level < before and not downgrade:
        raise invalid.error(f"{name} is at {before}; to lower it to {level}, ask for a downgrade")
    if level > before and downgrade:
        raise invalid.error(f"{name} is at {before}; {level} would not be a downgrade")
    if level == before:
        return []
    record = FeatureLevelRecord(name, level)
    return [record, *_without_elr(image)] if (name, level) == (ELR_VERSION, 0) else [record]


def _check_support(name: str, level: int, supported: tuple[int, int], who: str) -> None:
    least, most = supported
    if not least <= level <= most:
        raise ErrorCode.INVALID_UPDATE_VERSION.error(
            f"{who} supports {name} from {least} to {most}, not {level}"
        )


def _without_elr(image: Image) -> list[MetadataRecord]:
    """Who is eligible counts as in sync where nobody is: without ELR an ISR is never empty."""
    return [
        PartitionChangeRecord(
            number,
            topic.id,
            isr=None if partition.isr else list(partition.elr or partition.last_known_elr),
            eligible_leader_replicas=[],
            last_known_elr=[],
        )
        for topic, number, partition in image.partitions()
        if partition.elr or partition.last_known_elr
    ]
