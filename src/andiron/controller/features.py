"""Features (KIP-584, KIP-1022): what the cluster has agreed its metadata log may contain.

A level is a promise that every node understands the records which that level brings. A new cluster begins
with the newest level it knows; the first record of its log says so. UpdateFeatures raises a level, or lowers
it if that is said in so many words, within what this controller and every registered node supports: all
that is asked for, or nothing. metadata.version never goes down: what a lower level has no word for would be lost.
A cluster that Kafka made may have features that are not served here, share and streams groups: their levels stay what
they are, or are taken away.

With eligible leader replicas the controller and all leaders must go by one `min.insync.replicas`: whatever the level
brings that feature, at the beginning or later, a cluster-wide setting comes with it, and those of single brokers go.

Read next: broker_registrations.py, where a broker that does not understand a level is turned away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeAlias

from andiron.controller.image import BROKER, Image
from andiron.controller.records import (
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
)
from andiron.controller.settings import MIN_INSYNC, ControllerSettings
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
METADATA_LEAST = 24  # 4.0-IV2: all that is written here is known there

GROUP_VERSION, TRANSACTION_VERSION = "group.version", "transaction.version"
ELR_VERSION = "eligible.leader.replicas.version"

# What this node can be set to: metadata records are written in versions that the least of these levels knows. Clients
# that see transaction.version 2 let each transaction have an epoch of its own. With eligible leader replicas
# (KIP-966) an ISR may be empty, and who left it last is remembered.
SUPPORTED: dict[str, tuple[int, int]] = {
    METADATA_VERSION: (METADATA_LEAST, METADATA_LEVEL),
    GROUP_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    ELR_VERSION: (0, 1),
}

# What may be finalized in a cluster that Kafka made, and is not served here. What it brings into the metadata log and
# the topics of the coordinators is known, and kept for Kafka; nobody is offered it anew.
KEPT: dict[str, tuple[int, int]] = {"share.version": (0, 1), "streams.version": (0, 1)}

# What nodes say of themselves. The level of kraft.version is the quorum's, and in records of its own.
KRAFT_VERSION = "kraft.version"
OFFERED = {**SUPPORTED, **KEPT, KRAFT_VERSION: (0, 1)}


def unsupported(levels: Mapping[str, int], ranges: Mapping[str, tuple[int, int]], who: str) -> str | None:
    """The first level of a cluster that a node does not know, in words; None if it knows them all."""
    for name, level in levels.items():
        least, most = ranges.get(name, (0, 0))
        if not least <= level <= most:
            return f"the cluster's {name} is {level}, and {who} knows {_range(least, most)}"
    return None


def _range(least: int, most: int) -> str:
    return f"{least} to {most}" if most else "no such feature"


def first_levels() -> list[FeatureLevelRecord]:
    """The levels of a new cluster, in Kafka's order."""
    names = sorted(SUPPORTED, key=lambda name: (name != METADATA_VERSION, name))
    return [FeatureLevelRecord(name, SUPPORTED[name][1]) for name in names]


Bootstrap: TypeAlias = Callable[
    [], list[MetadataRecord]
]  # what its folder says that a cluster is to begin with


def first_records(
    image: Image, settings: ControllerSettings, bootstrap: Bootstrap = list
) -> list[MetadataRecord]:
    """What a cluster without any metadata begins with, in its folder's own words if it has some; nothing for one that
    has begun."""
    if METADATA_VERSION in image.features:
        return []
    levels = bootstrap() or [*first_levels()]
    has_elr = any(isinstance(each, FeatureLevelRecord) and each.name == ELR_VERSION for each in levels)
    has_number = any(isinstance(each, ConfigRecord) and each.name == MIN_INSYNC for each in levels)
    return [*levels, *(_with_elr(image, settings) if has_elr and not has_number else ())]


UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def update_features(
    request: UpdateFeaturesRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Change levels: all of them, or none and why."""
    counts = Counter(update.feature for update in request.feature_updates)
    records: list[MetadataRecord] = []
    try:
        for update in request.feature_updates:
            if counts[update.feature] > 1:
                raise ErrorCode.INVALID_REQUEST.error(f"{update.feature} is there twice")
            check_kind(update)
            records += _updated(update, image, settings)
    except ProtocolError as error:
        return Decision(refused(error))
    response = UpdateFeaturesResponse(results=[UpdatableFeatureResult(name) for name in counts])
    return Decision(response, [] if request.validate_only else records)


def refused(error: ProtocolError) -> UpdateFeaturesResponse:
    """Nothing is changed, for this reason."""
    return UpdateFeaturesResponse(error_code=error.code.number, error_message=error.detail)


def check_kind(update: FeatureUpdateKey) -> None:
    """An update is of a kind that there is, and to a level that there can be."""
    kinds = (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if update.upgrade_type not in kinds and not update.allow_downgrade:
        raise _INVALID.error(f"{update.feature}: there is no update of type {update.upgrade_type}")
    if update.max_version_level < 0:
        raise _INVALID.error(f"{update.feature}: a level is not below 0")


def check_direction(update: FeatureUpdateKey, before: int) -> None:
    """Down only if that is said, and up only if it is not."""
    name, level = update.feature, update.max_version_level
    downgrade = update.allow_downgrade or update.upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if level < before and not downgrade:
        raise _INVALID.error(f"{name} is at {before}; to lower it to {level}, ask for a downgrade")
    if level > before and downgrade:
        raise _INVALID.error(f"{name} is at {before}; {level} would not be a downgrade")


_INVALID = ErrorCode.INVALID_UPDATE_VERSION


def _updated(update: FeatureUpdateKey, image: Image, settings: ControllerSettings) -> list[MetadataRecord]:
    name, level, before = update.feature, update.max_version_level, image.features.get(update.feature, 0)
    if name in KEPT and level > before:
        raise _INVALID.error(f"{name} is not served here: what there is of it is kept for Kafka")
    if name not in OFFERED:
        raise _INVALID.error(f"there is no feature {name} here")
    _check_support(name, level, OFFERED[name], "this controller")
    for controller in image.controllers.values():
        ranges = {each: (least, most) for each, least, most in controller.features}
        _check_support(name, level, ranges.get(name, (0, 0)), f"controller {controller.id}")
    for broker in image.brokers.values():
        _check_support(name, level, broker.features.get(name, (0, 0)), f"broker {broker.id}")
    check_direction(update, before)
    if name == METADATA_VERSION and level < before:
        raise _INVALID.error(f"{name} does not go down from {before}: metadata might be lost")
    if level == before:
        return []
    record = FeatureLevelRecord(name, level)
    if name == ELR_VERSION:
        return [record, *(_with_elr(image, settings) if level else _without_elr(image))]
    return [record]


def _check_support(name: str, level: int, supported: tuple[int, int], who: str) -> None:
    least, most = supported
    if not least <= level <= most:
        raise _INVALID.error(f"{who} supports {name} from {least} to {most}, not {level}")


def _with_elr(image: Image, settings: ControllerSettings) -> list[MetadataRecord]:
    """One number for all: that of the cluster, or else the one in this controller's settings."""
    records: list[MetadataRecord] = [
        ConfigRecord(kind, name, MIN_INSYNC, None)
        for (kind, name), configs in image.configs.items()
        if kind == BROKER and name and MIN_INSYNC in configs
    ]
    if MIN_INSYNC not in image.configs_of(BROKER, ""):
        records.append(ConfigRecord(BROKER, "", MIN_INSYNC, settings.static.get(MIN_INSYNC, "1")))
    return records


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
