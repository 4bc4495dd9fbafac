"""Brokers come, are let in, and go.

    registered, fenced ──▶ caught up: let in ──▶ live ──▶ stopping ──▶ fenced
                                                  └──▶ not heard of for a session: fenced

A broker that registers has been away, and unless it stopped cleanly it may have lost what it had not
brought to the disk. So it leaves the ISR of all its partitions, and where it goes on leading because nobody
else can, the leader epoch rises: offsets written anew are then told from the lost ones. A fenced broker
leads nothing.

Read next: registrations.py and heartbeats.py, where brokers say what happens to them; elections.py.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.controller.elections import elections
from andiron.controller.image import BrokerImage, Image
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    RegisterBrokerRecord,
)
from andiron.controller.settings import ControllerSettings
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


def register(request: RegisterBroker, image: Image, settings: ControllerSettings) -> Decision[MetadataRecord]:
    """Take a broker in, under an epoch higher than any it had."""
    known = image.brokers.get(request.broker_id)
    if known is not None and known.incarnation == request.incarnation:
        return Decision(known.epoch)
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation,
        broker_epoch=image.next_offset,
        end_points=[BrokerEndpoint(name, host, port, PLAINTEXT) for name, host, port in request.endpoints],
        features=[BrokerFeature(name, least, most) for name, (least, most) in request.features.items()],
        rack=request.rack,
        fenced=request.fenced,
        log_dirs=list(request.log_dirs),
    )
    return Decision(record.broker_epoch, taken_in(record, image, settings, clean=request.clean))


def unfence(request: UnfenceBroker, image: Image, settings: ControllerSettings) -> Decision[MetadataRecord]:
    """Let a broker in: it leads again what nobody else could."""
    broker = registered_at(image, request.broker_id, request.broker_epoch)
    return Decision(None, altered(broker._replace(fenced=False), image, settings))


# ── what they come down to ───────────────────────────────────────────────────────────


def taken_in(
    record: RegisterBrokerRecord, image: Image, settings: ControllerSettings, *, clean: bool
) -> list[MetadataRecord]:
    """What follows from a registration; not `clean` if the broker may have lost what it had."""
    return [record, *elections(image, settings, BrokerImage.of(record), lost=not clean)]


def altered(broker: BrokerImage, image: Image, settings: ControllerSettings) -> list[MetadataRecord]:
    """What follows when a registered broker becomes this one; nothing if it is so already."""
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
    return [record, *elections(image, settings, broker)]


def registered(image: Image, broker_id: int) -> BrokerImage:
    """A broker that is known."""
    broker = image.brokers.get(NodeId(broker_id))
    if broker is None:
        raise ErrorCode.BROKER_ID_NOT_REGISTERED.error(f"broker {broker_id} is not registered")
    return broker


def registered_at(image: Image, broker_id: int, epoch: int) -> BrokerImage:
    """A broker that is known, in the life in which it asks."""
    broker = registered(image, broker_id)
    if broker.epoch != epoch:
        raise ErrorCode.STALE_BROKER_EPOCH.error(
            f"broker {broker_id} is at epoch {broker.epoch}, not {epoch}"
        )
    return broker
