"""WriteTxnMarkers (key 27), versions 1-2: transactions are ended in partitions that are led here.

The coordinator of a transaction sends it; so does an administrator who ends one that hangs.

A partition takes no marker from a coordinator's past: what it remembers of a producer is the latest epoch of a
coordinator that has ended one of its transactions. So an epoch that no coordinator has reached would shut out the real
ones for good, and what the producer writes next would never be read. It is the leader epoch of a partition of
`__transaction_state`, and those are known: beyond the latest of them a marker is refused with UNKNOWN_LEADER_EPOCH. A
coordinator that is further on than the metadata here tries again. (Kafka takes any epoch from who may send markers.)
"""

from __future__ import annotations

import logging

from andiron.broker.broker import Broker
from andiron.broker.coordinators.marker_writer import Outcome
from andiron.broker.coordinators.transaction_coordinator import TOPIC as TRANSACTIONS
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Marker
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, TopicPartition
from andiron.model.line import Line
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

log = logging.getLogger(__name__)


def handle(broker: Broker, request: Request[WriteTxnMarkersRequest]) -> InSlices[Wait]:
    markers, latest = request.body.markers, _latest_epoch(broker)
    beyond = [marker for marker in markers if marker.coordinator_epoch > latest]
    if beyond:
        log.warning(Line(
            "Transaction markers are refused: no coordinator known here has reached their epoch; look who sends them",
            count=len(beyond), producer_id=beyond[0].producer_id,
            coordinator_epoch=beyond[0].coordinator_epoch,
        ))  # fmt: skip
    asked = yield from each(
        markers, lambda marker: _write(broker, marker, latest, request.now), SIZES.markers
    )
    written = Wait.all(asked)
    return written.and_then(
        lambda outcomes: WriteTxnMarkersResponse(
            [_result(marker, outcome) for marker, outcome in zip(markers, outcomes, strict=True)]
        )
    )


def _latest_epoch(broker: Broker) -> int:
    """The highest epoch that a coordinator of transactions can have."""
    topic = broker.image.topics.get(TRANSACTIONS)
    epochs = () if topic is None else (partition.leader_epoch for partition in topic.partitions.values())
    return max(epochs, default=0)


def _write(broker: Broker, asked: WritableTxnMarker, latest: int, now: Millis) -> Outcome | Wait:
    named = [TopicPartition(topic.name, index) for topic in asked.topics for index in topic.partition_indexes]
    if asked.coordinator_epoch > latest:
        return dict.fromkeys(named, ErrorCode.UNKNOWN_LEADER_EPOCH)
    marker = Marker(
        asked.producer_id,
        asked.producer_epoch,
        asked.transaction_result,
        asked.coordinator_epoch,
        asked.transaction_version,
    )
    written: Outcome | Wait = broker.markers.write(marker, named, now).settled()
    return written


def _result(marker: WritableTxnMarker, outcome: Outcome) -> WritableTxnMarkerResult:
    by_topic: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for name, code in outcome.items():
        result = WritableTxnMarkerPartitionResult(name.partition, code.number)
        by_topic.setdefault(name.topic, []).append(result)
    topics = [WritableTxnMarkerTopicResult(topic, results) for topic, results in by_topic.items()]
    return WritableTxnMarkerResult(marker.producer_id, topics)
