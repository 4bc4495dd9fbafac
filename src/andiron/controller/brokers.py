"""Brokers come and are let in.

    RegisterBroker ──▶ registered under a new epoch, fenced or not ──▶ UnfenceBroker ──▶ live

A broker that registers has been away, and unless it stopped cleanly it may have lost what it had not
brought to the disk. So whatever it led gets a new leader epoch, even where it goes on leading it: offsets
written anew are then told from the lost ones. A fenced broker leads nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.controller.image import BrokerImage, Image
from andiron.controller.partitions import elections
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    RegisterBrokerRecord,
)
from andiron.model.errors import ErrorCode
from andiron.model.ids import NodeId
from andiron.model.machine import Decision

PLAINTEXT = 0  # the security protocol, by its number


class RegisterBroker(NamedTuple):
    """A broker has started. Answered with its epoch."""

    broker_id: NodeId
    incarnation: bytes  # another one each time it starts
    endpoints: tuple[tuple[str, str, int], ...]  # listener name, host, port: as advertised
    features: dict[str, tuple[int, int]]
    rack: str | None = None
    log_dirs: tuple[bytes, ...] = ()
    fenced: bool = True  # False lets it in at once, where nobody else has to be asked
    clean: bool = False  # it brought everything to the disk before it stopped


class UnfenceBroker(NamedTuple):
    """A registered broker has caught up with the metadata. Answered with None."""

    broker_id: NodeId
    broker_epoch: int


def register(request: RegisterBroker, image: Image) -> Decision[MetadataRecord]:
    """Take a broker in, under an epoch higher than any it had."""
    known = image.brokers.get(request.broker_id)
    if known is not None and known.incarnation == request.incarnation:
        return Decision(known.epoch)
    epoch = image.next_offset
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation,
        broker_epoch=epoch,
        end_points=[BrokerEndpoint(name, host, port, PLAINTEXT) for name, host, port in request.endpoints],
        features=[BrokerFeature(name, least, most) for name, (least, most) in request.features.items()],
        rack=request.rack,
        fenced=request.fenced,
        log_dirs=list(request.log_dirs),
    )

    def live(broker: int) -> bool:
        return not request.fenced if broker == request.broker_id else image.is_live(broker)

    restarted = None if request.clean else request.broker_id
    return Decision(epoch, [record, *elections(image, live, restarted=restarted)])


def unfence(request: UnfenceBroker, image: Image) -> Decision[MetadataRecord]:
    """Let a broker in: it leads again what nobody else could."""
    broker = registered(image, request.broker_id)
    if broker.epoch != request.broker_epoch:
        raise ErrorCode.STALE_BROKER_EPOCH.error(
            f"broker {broker.id} is at epoch {broker.epoch}, not {request.broker_epoch}"
        )
    if not broker.fenced:
        return Decision(None)
    record = BrokerRegistrationChangeRecord(request.broker_id, request.broker_epoch, fenced=-1)

    def live(broker: int) -> bool:
        return broker == request.broker_id or image.is_live(broker)

    return Decision(None, [record, *elections(image, live)])


def registered(image: Image, broker_id: NodeId) -> BrokerImage:
    """A broker that is known."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ErrorCode.BROKER_ID_NOT_REGISTERED.error(f"broker {broker_id} is not registered")
    return broker
