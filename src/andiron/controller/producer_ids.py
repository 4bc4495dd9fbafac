"""Producer ids, set aside in blocks so that no two producers of a cluster ever share one.

The record of a block tells the first id after it. Once that is committed nobody else gets these ids, whether
the broker that asked for them uses them or not.

Read next: transactions/initiation.py, where producers get theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from andiron.controller.brokers import registered, registered_at
from andiron.controller.image import BrokerImage, Image
from andiron.controller.records import MetadataRecord, ProducerIdsRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.model.settings import MAX_LONG
from andiron.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

BLOCK = 1000


class AllocateProducerIds(NamedTuple):
    """A broker asks for ids to give to producers. Answered with a ProducerIdBlock."""

    broker_id: NodeId


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """`count` ids from `start` on."""

    start: int
    count: int


def allocate(request: AllocateProducerIds, image: Image) -> Decision[MetadataRecord]:
    """Set the next block aside, for a broker that need not say in which life it is."""
    return _set_aside(registered(image, request.broker_id), image)


def allocate_producer_ids(request: AllocateProducerIdsRequest, image: Image) -> Decision[MetadataRecord]:
    """Set the next block aside, for a broker in its present life."""
    decision = _set_aside(registered_at(image, request.broker_id, request.broker_epoch), image)
    block: ProducerIdBlock = decision.response
    response = AllocateProducerIdsResponse(producer_id_start=block.start, producer_id_len=block.count)
    return Decision(response, decision.records)


def _set_aside(broker: BrokerImage, image: Image) -> Decision[MetadataRecord]:
    start = image.next_producer_id
    if start > MAX_LONG - BLOCK:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error("all producer ids are used up")
    record = ProducerIdsRecord(broker.id, broker.epoch, start + BLOCK)
    return Decision(ProducerIdBlock(start, BLOCK), [record])
