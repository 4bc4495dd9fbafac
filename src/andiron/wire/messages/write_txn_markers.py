"""WriteTxnMarkers (key 27), versions 1-2: a transaction coordinator ends transactions in partitions.

Version 2 says under which transaction version the marker is written. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, i64, message, string, struct


@struct
class WritableTxnMarkerTopic:
    name: str = string()
    partition_indexes: list[int] = array(i32())


@struct
class WritableTxnMarker:
    producer_id: int = i64()
    producer_epoch: int = i16()
    transaction_result: bool = boolean()  # true commits
    topics: list[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic)
    coordinator_epoch: int = i32()
    transaction_version: int = i8(since=2)


@message(api_key=27, versions=(1, 2), flexible=1)
class WriteTxnMarkersRequest:
    markers: list[WritableTxnMarker] = array(WritableTxnMarker)


@struct
class WritableTxnMarkerPartitionResult:
    partition_index: int = i32()
    error_code: int = i16()


@struct
class WritableTxnMarkerTopicResult:
    name: str = string()
    partitions: list[WritableTxnMarkerPartitionResult] = array(WritableTxnMarkerPartitionResult)


@struct
class WritableTxnMarkerResult:
    producer_id: int = i64()
    topics: list[WritableTxnMarkerTopicResult] = array(WritableTxnMarkerTopicResult)


@message(api_key=27, versions=(1, 2), flexible=1)
class WriteTxnMarkersResponse:
    markers: list[WritableTxnMarkerResult] = array(WritableTxnMarkerResult)
