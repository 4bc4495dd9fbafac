"""Producer ids, set aside in blocks so that no two producers of a cluster ever share one.

The record of a block tells the first id after it. Once that is committed nobody else gets these ids, whether
the broker that asked for them uses them or not.

Read next: transactions/initiation.py, where producers get theirs.
"""

from __future__ import annotations

from andiron.controller.broker_registrations import check_broker_epoch
from andiron.controller.image import Image
from andiron.controller.records import MetadataRecord, ProducerIdsRecord
from andiron.model.errors import ErrorCode
from andiron.model.machine import Decision
from andiron.model.settings import MAX_LONG
from andiron.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

BLOCK = 1000


def allocate_producer_ids(request: AllocateProducerIdsRequest, image: Image) -> Decision[MetadataRecord]:
    """Set the next block of producer ids aside, for a broker under its present broker epoch."""
    broker = check_broker_epoch(image, request.broker_id, request.broker_epoch)
    start = image.next_producer_id
    if start > MAX_LONG - BLOCK:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error("all producer ids are used up")
    response = AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=BLOCK)
    return Decision(response, [ProducerIdsRecord(broker.id, broker.epoch, start + BLOCK)])
