"""AddOffsetsToTxn (key 25), versions 0-4: a transaction is going to commit offsets of a group.

Version 2 may answer that the producer is fenced, 4 that the transaction can only be aborted.
Flexible since 3.
"""

from __future__ import annotations

from andiron.wire.schema import i16, i32, i64, message, string


@message(api_key=25, versions=(0, 4), flexible=3)
class AddOffsetsToTxnRequest:
    transactional_id: str = string()
    producer_id: int = i64()
    producer_epoch: int = i16()
    group_id: str = string()


@message(api_key=25, versions=(0, 4), flexible=3)
class AddOffsetsToTxnResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
