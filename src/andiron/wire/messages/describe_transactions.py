"""DescribeTransactions (key 65), version 0: state and partitions of transactions, by transactional id.

Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct


@message(api_key=65, versions=(0, 0), flexible=0)
class DescribeTransactionsRequest:
    transactional_ids: list[str] = array(string())


@struct
class TopicData:
    topic: str = string()
    partitions: list[int] = array(i32())


@struct
class TransactionState:
    error_code: int = i16()
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = i32()
    transaction_start_time_ms: int = i64()
    producer_id: int = i64()
    producer_epoch: int = i16()
    topics: list[TopicData] = array(TopicData)


@message(api_key=65, versions=(0, 0), flexible=0)
class DescribeTransactionsResponse:
    throttle_time_ms: int = i32()
    transaction_states: list[TransactionState] = array(TransactionState)
