"""WriteTxnMarkers (key 27), versions 1-2: transactions are ended in partitions that are led here.

The coordinator of a transaction sends it; so does an administrator who ends one that hangs.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.marker_writer import Outcome
from andiron.broker.partition import Marker
from andiron.broker.request import Request
from andiron.broker.slices import InSlices, each
from andiron.broker.waiting import Wait
from andiron.model.ids import Millis, TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

API = ApiKey.WRITE_TXN_MARKERS
SERVED = ADVERTISED = (1, 2)
SLICE = 100  # markers


def handle(broker: Broker, request: Request[WriteTxnMarkersRequest]) -> InSlices[Wait]:
    markers = request.body.markers
    asked = yield from each(markers, lambda marker: _write(broker, marker, request.now).settled(), SLICE)
    written = Wait.all(asked)
    return written.and_then(
        lambda outcomes: WriteTxnMarkersResponse(
            [_result(marker, outcome) for marker, outcome in zip(markers, outcomes, strict=True)]
        )
    )


def _write(broker: Broker, asked: WritableTxnMarker, now: Millis) -> Wait:
    marker = Marker(
        asked.producer_id,
        asked.producer_epoch,
        asked.transaction_result,
        asked.coordinator_epoch,
        asked.transaction_version,
    )
    named = [TopicPartition(topic.name, index) for topic in asked.topics for index in topic.partition_indexes]
    return broker.markers.write(marker, named, now)


def _result(marker: WritableTxnMarker, outcome: Outcome) -> WritableTxnMarkerResult:
    by_topic: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for name, code in outcome.items():
        result = WritableTxnMarkerPartitionResult(name.partition, code.number)
        by_topic.setdefault(name.topic, []).append(result)
    topics = [WritableTxnMarkerTopicResult(topic, results) for topic, results in by_topic.items()]
    return WritableTxnMarkerResult(marker.producer_id, topics)
