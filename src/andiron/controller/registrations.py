"""BrokerRegistration and UnregisterBroker: a broker makes itself known, and is struck off; controllers do the former.

Only one life of a broker may be in the cluster. A second node under the same id is refused while the first
is heard of. One that comes with a directory of the first is that one, started again: a directory is locked by
who uses it, so the other is gone.

    registers ──▶ its cluster, features and directories fit ──▶ fenced, under a new broker epoch

A broker that stopped cleanly names the epoch it had then. If that is the one known here, nothing of it is
lost; otherwise it is taken out of every ISR and ELR (KIP-966).

A controller that registers says where it is and what it knows, for tools that ask controllers, and so that no
feature is raised above what one of them knows. Who votes is another matter, and the quorum's.

Read next: heartbeats.py, by which a broker is let in.
"""

from __future__ import annotations

from andiron.controller.brokers import registered, taken_in
from andiron.controller.controller_image import ControllerImage
from andiron.controller.elections import elections
from andiron.controller.features import unsupported
from andiron.controller.image import LOST, MIGRATING, UNASSIGNED, BrokerImage, Image
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    ControllerEndpoint,
    ControllerFeature,
    MetadataRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from andiron.controller.sessions import Sessions
from andiron.controller.settings import ControllerSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
)
from andiron.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def register_broker(
    request: BrokerRegistrationRequest,
    image: Image,
    settings: ControllerSettings,
    sessions: Sessions,
    now: Millis,
) -> Decision[MetadataRecord]:
    """Take a broker in, fenced; asked again in the same life, it has the same epoch."""
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
    records = taken_in(record, image, settings, clean=clean)
    return Decision(BrokerRegistrationResponse(broker_epoch=record.broker_epoch), records)


def register_controller(request: ControllerRegistrationRequest, image: Image) -> Decision[MetadataRecord]:
    """Note down where a controller is; asked again in the same life, nothing is new."""
    if request.controller_id < 0 or not request.listeners:
        raise ErrorCode.INVALID_REQUEST.error("a controller has a number and a listener")
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        end_points=[
            ControllerEndpoint(each.name, each.host, each.port, each.security_protocol)
            for each in request.listeners
        ],
        features=[
            ControllerFeature(each.name, each.min_supported_version, each.max_supported_version)
            for each in request.features
        ],
    )
    is_known = image.controllers.get(NodeId(request.controller_id)) == ControllerImage.of(record)
    return Decision(ControllerRegistrationResponse(), [] if is_known else [record])


def unregister_broker(
    request: UnregisterBrokerRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Strike a broker off. What it was in sync with is not told from what it lost, should it ever come back."""
    broker = registered(image, request.broker_id)
    records: list[MetadataRecord] = elections(image, settings, broker._replace(fenced=True), lost=True)
    return Decision(UnregisterBrokerResponse(), [*records, UnregisterBrokerRecord(broker.id, broker.epoch)])


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
