"""AllocateProducerIds (key 67), version 0: a broker asks the controller for a block of producer ids.

From it the broker serves InitProducerId; the controller gives no id twice. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import i16, i32, i64, message


@message(api_key=67, versions=(0, 0), flexible=0)
class AllocateProducerIdsRequest:
    broker_id: int = i32()
    broker_epoch: int = i64(default=-1)


@message(api_key=67, versions=(0, 0), flexible=0)
class AllocateProducerIdsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    producer_id_start: int = i64()
    producer_id_len: int = i32()
