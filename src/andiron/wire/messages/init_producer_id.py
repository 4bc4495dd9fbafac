"""InitProducerId (key 22), versions 0-6: an id and an epoch for an idempotent or transactional producer.

Version 2 is flexible, 3 lets a producer bump the epoch that it has, 4 tells a fenced producer so
by PRODUCER_FENCED, 5 belongs to KIP-890 and looks the same, 6 lets a producer take part in two-phase
commit (KIP-939): a prepared transaction is kept, and told with the identity it was written under.
"""

from __future__ import annotations

from andiron.wire.schema import boolean, i16, i32, i64, message, string


@message(api_key=22, versions=(0, 6), flexible=2)
class InitProducerIdRequest:
    transactional_id: str | None = string(nullable=True, default=None)
    transaction_timeout_ms: int = i32()
    producer_id: int = i64(since=3, default=-1)
    producer_epoch: int = i16(since=3, default=-1)
    enable_2pc: bool = boolean(since=6)
    keep_prepared_txn: bool = boolean(since=6)


@message(api_key=22, versions=(0, 6), flexible=2)
class InitProducerIdResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    producer_id: int = i64(default=-1)
    producer_epoch: int = i16()
    ongoing_txn_producer_id: int = i64(since=6, default=-1)
    ongoing_txn_producer_epoch: int = i16(since=6, default=-1)
