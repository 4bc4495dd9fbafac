"""Broker registrations: a broker makes itself known, changes, and is struck off (BrokerRegistration, UnregisterBroker).

    registered, fenced ──▶ caught up: let in ──▶ live ──▶ stopping ──▶ fenced
                                                  └──▶ not heard of for a session: fenced

Only one incarnation of a broker may be in the cluster. A second node under the same id is refused while the first
is heard of. One that comes with a directory of the first is that one, started again: a directory is locked by
who uses it, so the other is gone.

    registers ──▶ its cluster, features and directories fit ──▶ fenced, under a new broker epoch

A broker that registers has been away, and unless it stopped cleanly it may have lost what it had not brought to the
disk. One that stopped cleanly names the broker epoch it had then. If that is the one known here, nothing of it is
lost; otherwise it is taken out of every ISR and ELR (KIP-966), and where it goes on leading because nobody else can,
the leader epoch rises: offsets written anew are then told from the lost ones. A fenced broker leads nothing.

Read next: broker_heartbeats.py, by which a broker is let in; leader_election.py.
"""

from __future__ import annotations

from andiron.controller.broker_sessions import BrokerSessions
from andiron.controller.features import unsupported
from andiron.controller.image import LOST, MIGRATING, UNASSIGNED, BrokerImage, Image
from andiron.controller.leader_election import leader_and_isr_changes
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from andiron.controller.settings import ControllerSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
)
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def register_broker(
    request: BrokerRegistrationRequest,
    image: Image,
    settings: ControllerSettings,
    sessions: BrokerSessions,
    now: Millis,
) -> Decision[MetadataRecord]:
    """Register a broker, fenced; the same incarnation that asks again keeps its broker epoch."""
    if settings.cluster_id and request.cluster_id != settings.cluster_id:
        raise ErrorCode.INCONSISTENT_CLUSTER_ID.error(
            f"the broker belongs to cluster {request.cluster_id}, and this is {settings.cluster_id}"
        )
    _check_address(request)
    known = image.brokers.get(NodeId(request.broker_id))
    if known is not None and known.incarnation == request.incarnation_id:
        return Decision(BrokerRegistrationResponse(broker_epoch=known.epoch))
    is_another = known is not None and not _share(known, request.log_dirs)
    if known is not None and is_another and known.live and sessions.is_open(known.id, now):
        raise ErrorCode.DUPLICATE_BROKER_REGISTRATION.error(
            f"another broker {known.id} is heard of; if it is gone, its session runs out soon"
        )
    _check_features(request.features, image)
    _check_directories(request, image)
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=image.next_offset,
        end_points=[
            BrokerEndpoint(each.name, each.host, each.port, each.security_protocol)
            for each in request.listeners
        ],
        features=[
            BrokerFeature(each.name, each.min_supported_version, each.max_supported_version)
            for each in request.features
        ],
        rack=request.rack,
        fenced=True,
        log_dirs=list(request.log_dirs),
    )
    clean = known is not None and request.previous_broker_epoch == known.epoch
    records = registration(record, image, settings, clean=clean)
    return Decision(BrokerRegistrationResponse(broker_epoch=record.broker_epoch), records)


def unregister_broker(
    request: UnregisterBrokerRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Strike a broker off: it leaves every ISR and ELR, since it may have lost records should it ever come back."""
    broker = registered_broker(image, request.broker_id)
    records: list[MetadataRecord] = leader_and_isr_changes(
        image, settings, broker._replace(fenced=True), lost=True
    )
    return Decision(UnregisterBrokerResponse(), [*records, UnregisterBrokerRecord(broker.id, broker.epoch)])


# ── what follows from them ───────────────────────────────────────────────────────────


def registration(
    record: RegisterBrokerRecord, image: Image, settings: ControllerSettings, *, clean: bool
) -> list[MetadataRecord]:
    """The records of a registration; not `clean` if the broker may have lost what it had."""
    return [record, *leader_and_isr_changes(image, settings, BrokerImage.of(record), lost=not clean)]


def registration_change(
    broker: BrokerImage, image: Image, settings: ControllerSettings
) -> list[MetadataRecord]:
    """The records by which a registered broker becomes this one; none if it is so already."""
    before = image.brokers[broker.id]
    if broker == before:
        return []
    fencing = (1 if broker.fenced else -1) if broker.fenced != before.fenced else 0
    record = BrokerRegistrationChangeRecord(
        broker.id,
        broker.epoch,
        fenced=fencing,
        in_controlled_shutdown=int(broker.stopping and not before.stopping),
        log_dirs=list(broker.log_dirs) if broker.log_dirs != before.log_dirs else [],
    )
    return [record, *leader_and_isr_changes(image, settings, broker)]


def registered_broker(image: Image, broker_id: int) -> BrokerImage:
    """The broker of this id; BROKER_ID_NOT_REGISTERED if there is none."""
    broker = image.brokers.get(NodeId(broker_id))
    if broker is None:
        raise ErrorCode.BROKER_ID_NOT_REGISTERED.error(f"broker {broker_id} is not registered")
    return broker


def check_broker_epoch(image: Image, broker_id: int, epoch: int) -> BrokerImage:
    """The broker of this id; STALE_BROKER_EPOCH if it has registered again since it had this broker epoch."""
    broker = registered_broker(image, broker_id)
    if broker.epoch != epoch:
        raise ErrorCode.STALE_BROKER_EPOCH.error(
            f"broker {broker_id} is at epoch {broker.epoch}, not {epoch}"
        )
    return broker


# ── what is checked ──────────────────────────────────────────────────────────────────


def _check_address(request: BrokerRegistrationRequest) -> None:
    """Clients are told of it: it has a number, and a place where it is found."""
    code, names = ErrorCode.INVALID_REGISTRATION, [each.name for each in request.listeners]
    if request.broker_id < 0:
        raise code.error(f"{request.broker_id} is no number of a broker")
    if not names or len(set(names)) < len(names):
        raise code.error("the broker names no listener, or one twice")
    if any(not each.host or not each.port for each in request.listeners):
        raise code.error("the broker names a listener that nobody can connect to")


def _check_features(features: list[Feature], image: Image) -> None:
    """A broker must be able to read what the cluster has agreed to write."""
    ranges = {each.name: (each.min_supported_version, each.max_supported_version) for each in features}
    trouble = unsupported(image.features, ranges, "the broker")
    if trouble is not None:
        raise ErrorCode.UNSUPPORTED_VERSION.error(trouble)


def _check_directories(request: BrokerRegistrationRequest, image: Image) -> None:
    """A directory is known by its id, wherever it is mounted: no two may have the same."""
    code, given = ErrorCode.INVALID_REGISTRATION, request.log_dirs
    if not given:
        raise code.error("the broker names no log directory")
    if len(dict.fromkeys(given)) < len(given):
        raise code.error("the broker names a log directory twice")
    if any(each in (UNASSIGNED, LOST, MIGRATING) for each in given):
        raise code.error("the broker names a log directory by an id that stands for none")
    for other in image.brokers.values():
        if other.id != request.broker_id and _share(other, given):
            raise code.error(f"the broker names a log directory of broker {other.id}; was its disk copied?")


def _share(broker: BrokerImage, directories: list[bytes]) -> bool:
    return any(each in broker.log_dirs for each in directories)
