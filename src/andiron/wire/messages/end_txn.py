"""EndTxn (key 26), versions 0-5: commit or abort.

Version 2 may answer that the producer is fenced, 4 that the transaction can only be aborted. From 5 on
every transaction ends in a new producer epoch, which the answer carries. Flexible since 3.
"""

from __future__ import annotations

from andiron.wire.schema import boolean, i16, i32, i64, message, string


@message(api_key=26, versions=(0, 5), flexible=3)
class EndTxnRequest:
    transactional_id: str = string()
    producer_id: int = i64()
    producer_epoch: int = i16()
    committed: bool = boolean()


@message(api_key=26, versions=(0, 5), flexible=3)
class EndTxnResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    producer_id: int = i64(since=5, default=-1)
    producer_epoch: int = i16(since=5, default=-1)
