"""Producer ids, set aside in blocks so that no two producers of a cluster ever share one.

The record of a block tells the first id after it. Once that is committed nobody else gets these ids, whether
the broker that asked for them uses them or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from andiron.controller.brokers import registered
from andiron.controller.image import Image
from andiron.controller.records import MetadataRecord, ProducerIdsRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.model.settings import MAX_LONG

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
    """Set the next block aside."""
    broker = registered(image, request.broker_id)
    start = image.next_producer_id
    if start > MAX_LONG - BLOCK:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error("all producer ids are used up")
    record = ProducerIdsRecord(broker.id, broker.epoch, start + BLOCK)
    return Decision(ProducerIdBlock(start, BLOCK), [record])
