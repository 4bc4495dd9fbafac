"""Markers on their way: each goes to the broker that leads its partition.

    Markers of a transaction ──┬─ partitions led here ──────▶ MarkerWriter
                               ├─ led by node 2 ────────────▶ WriteTxnMarkers ─▶ node 2
                               └─ led by nobody for now ────▶ tried again later

A partition that is in no metadata any more needs no marker. One of which only a broker knows nothing may be news to it,
or have been moved away from it, this one as well, with a marker that was not committed: that is tried again, since a
transaction whose marker never came would hold up its readers for ever, or be ended by the next one's.

Read next: marker_writer.py, the other end; transaction_coordinator.py, which sends them.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.coordinators.marker_writer import MarkerWriter, Outcome
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.calls import Calls
from andiron.broker.node.patience import MARKER_MS
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Marker
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, NodeId, TopicPartition
from andiron.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

LANE = "markers"


class MarkerSender:
    """Brings markers to the leaders of their partitions."""

    def __init__(self, me: NodeId, metadata: MetadataLoader, calls: Calls, here: MarkerWriter) -> None:
        self._me, self._metadata, self._calls, self._here = me, metadata, calls, here

    def send(self, marker: Marker, partitions: list[TopicPartition], now: Millis) -> Wait:
        """Have a marker written to each of the partitions; the Wait gives what became of it, as an Outcome."""
        by_leader: dict[NodeId, list[TopicPartition]] = {}
        settled: Outcome = {}
        for name in partitions:
            leader = self._leader(name)
            if leader is None:
                settled[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                by_leader.setdefault(leader, []).append(name)
        waits = [self._send(leader, marker, names, now) for leader, names in by_leader.items()]
        return Wait.all(waits).and_then(lambda outcomes: _merged(settled, outcomes))

    def _leader(self, name: TopicPartition) -> NodeId | None:
        topic = self._metadata.image.topics.get(name.topic)
        found = None if topic is None else topic.partitions.get(name.partition)
        return None if found is None else found.leader

    def _send(self, leader: NodeId, marker: Marker, names: list[TopicPartition], now: Millis) -> Wait:
        if leader == self._me:
            return self._here.write(marker, names, now).and_then(_doubted)
        to = self._metadata.address_of(leader)
        if to is None:
            return Wait.over(lambda: dict.fromkeys(names, ErrorCode.LEADER_NOT_AVAILABLE))

        def unanswered(error: ProtocolError) -> Outcome:
            return dict.fromkeys(names, error.code)

        asked = self._calls.ask(to, LANE, _request(marker, names), MARKER_MS)
        return asked.and_then(lambda response: _outcome(response, names)).or_else(unanswered)


def _merged(settled: Outcome, outcomes: list[Any]) -> Outcome:
    for outcome in outcomes:
        settled.update(outcome)
    return settled


def _request(marker: Marker, names: list[TopicPartition]) -> WriteTxnMarkersRequest:
    topics: dict[str, WritableTxnMarkerTopic] = {}
    for name in names:
        topics.setdefault(name.topic, WritableTxnMarkerTopic(name.topic)).partition_indexes.append(
            name.partition
        )
    return WriteTxnMarkersRequest(
        [
            WritableTxnMarker(
                marker.producer_id,
                marker.producer_epoch,
                marker.committed,
                list(topics.values()),
                marker.coordinator_epoch,
                marker.transaction_version,
            )
        ]
    )


def _outcome(response: WriteTxnMarkersResponse, names: list[TopicPartition]) -> Outcome:
    """What another broker says of each."""
    outcome: Outcome = dict.fromkeys(names, ErrorCode.UNKNOWN_SERVER_ERROR)
    for marker in response.markers:
        for topic in marker.topics:
            for said in topic.partitions:
                outcome[TopicPartition(topic.name, said.partition_index)] = ErrorCode.of(said.error_code)
    return _doubted(outcome)


def _doubted(outcome: Outcome) -> Outcome:
    """That a broker has no such partition may be that it does not have it yet, or, be it this one, not any more."""
    return {
        name: ErrorCode.NOT_LEADER_OR_FOLLOWER if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else code
        for name, code in outcome.items()
    }
