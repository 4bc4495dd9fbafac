"""Markers: how the end of a transaction gets into the partitions that it wrote to.

The coordinator has decided; each partition's leader now appends one control record, and from
there on readers know. A marker counts when it is committed there, like any record.

    Markers(producer, epoch, committed, partitions) ──▶ write ──▶ Wait ──▶ {partition: error or none}

A marker in a partition of `__consumer_offsets` also tells the groups there, whose offsets were
part of the transaction.

Writing one twice must do no harm: answers get lost, and the coordinator repeats itself. Under
transaction version 2 each transaction has an epoch of its own, and its marker the next one;
a producer already at that epoch has this marker behind it, so a repetition is left out, and
can never end the transaction that came after. It waits for the first one to be committed: a
marker that is not may be lost with its leader, and with it the last one who knows of it.
"""

from __future__ import annotations

import logging

from andiron.broker.coordinators.group_coordinator import TOPIC as OFFSETS_TOPIC
from andiron.broker.coordinators.group_coordinator import GroupCoordinator
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import MARKER_MS
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Marker, Partition
from andiron.broker.replicas.replica_manager import ReplicaManager
from andiron.groups.records import TransactionEnded
from andiron.log.partition_log import LogAppendInfo
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, TopicPartition
from andiron.model.line import Line

log = logging.getLogger(__name__)


Outcome = dict[TopicPartition, ErrorCode]


class MarkerWriter:
    """Appends markers to the partitions that are led here."""

    def __init__(
        self, metadata: MetadataLoader, replica_manager: ReplicaManager, groups: GroupCoordinator, step: Step
    ) -> None:
        self._metadata, self._replica_manager, self._groups, self._step = (
            metadata,
            replica_manager,
            groups,
            step,
        )
        self._log_limiter = LogLimiter()

    def write(self, marker: Marker, partitions: list[TopicPartition], now: Millis) -> Wait:
        """Append a marker to each of the partitions; the Wait gives what became of it, as an Outcome."""
        outcome: Outcome = {}
        pending: dict[TopicPartition, tuple[Partition, LogAppendInfo]] = {}
        refused: list[str] = []
        for name in partitions:
            outcome[name] = ErrorCode.NONE
            try:
                partition = self._replica_manager.find(name.topic, name.partition, self._metadata.image)
                written = partition.append_marker(marker, now)
            except ProtocolError as error:
                outcome[name] = error.code
                refused.append(f"{name}: {error.detail}")
                continue
            if written is not None:
                self._note(partition, written, marker, now)
            pending[name] = partition, written or partition.written_before(now)
        if refused and (suppressed := self._log_limiter.again(marker.producer_id, now)) is not None:
            log.warning(Line(
                "Transaction marker of producer {producer_id} is not written everywhere; its coordinator tries again",
                producer_id=marker.producer_id, error=refused[0], count=len(refused), suppressed=suppressed,
            ))  # fmt: skip
        return _wait(outcome, pending, now)

    def _note(self, partition: Partition, written: LogAppendInfo, marker: Marker, now: Millis) -> None:
        self._step.appended(partition, written)
        if partition.name.topic == OFFSETS_TOPIC:
            ended = TransactionEnded(marker.producer_id, marker.committed)
            self._groups.transaction_ended(partition, written.base_offset, ended)


def _wait(
    outcome: Outcome, pending: dict[TopicPartition, tuple[Partition, LogAppendInfo]], now: Millis
) -> Wait:
    def settled() -> bool:
        for name, (partition, written) in list(pending.items()):
            try:
                if not partition.acknowledged(written, acks=-1):
                    continue
            except ProtocolError as error:
                outcome[name] = error.code
            del pending[name]
        return not pending

    def too_late() -> Outcome:
        return {name: ErrorCode.REQUEST_TIMED_OUT if name in pending else outcome[name] for name in outcome}

    return Wait(
        watch=tuple(dict.fromkeys(partition for partition, _ in pending.values())),
        until=settled,
        deadline=Millis(now + MARKER_MS),
        then=lambda: outcome,
        otherwise=too_late,
    )
