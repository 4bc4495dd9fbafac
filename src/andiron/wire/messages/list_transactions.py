"""ListTransactions (key 66), versions 0-2: the transactions this broker coordinates.

Empty filters let all through. Version 1 filters by age in ms (-1: any), 2 by a pattern of the
transactional id. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct


@message(api_key=66, versions=(0, 2), flexible=0)
class ListTransactionsRequest:
    state_filters: list[str] = array(string())
    producer_id_filters: list[int] = array(i64())
    duration_filter: int = i64(since=1, default=-1)
    transactional_id_pattern: str | None = string(since=2, nullable=2, default=None)


@struct
class TransactionState:
    transactional_id: str = string()
    producer_id: int = i64()
    transaction_state: str = string()


@message(api_key=66, versions=(0, 2), flexible=0)
class ListTransactionsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    unknown_state_filters: list[str] = array(string())
    transaction_states: list[TransactionState] = array(TransactionState)
