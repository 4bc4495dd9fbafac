"""The transaction coordinator of this broker: who writes under which transactional id, and what became of it.

    handlers ──▶ run(transactional id, request) ──▶ the shard of its partition of __transaction_state
                                                        │ decided, and committed there
                                     MarkersWritten ◀── markers ◀┘ owed to the partitions of the transaction

A transaction is decided when the record that says so is committed in the coordinator's own log:
only then may markers go out (`send_markers`), or a decision that is lost with its leader could be
seen elsewhere. Markers that could not be written are tried again.

Read next: marker_writer.py, transactions/shard.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial

from andiron.broker.coordinators.coordinator import Coordinator, Plan, partition_of
from andiron.broker.coordinators.marker_sender import MarkerSender
from andiron.broker.coordinators.marker_writer import Outcome
from andiron.broker.coordinators.shard import Shard, readable, understood
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import MARKER_RETRY_MS, TRANSACTION_DECISION_MS
from andiron.broker.node.slices import InSlices
from andiron.broker.node.step import Step
from andiron.broker.node.timetable import Timetable
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Marker, Partition
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.line import Line
from andiron.records.batch import Batch
from andiron.transactions.records import TransactionRecord, decode_record, encode_record
from andiron.transactions.requests import Markers, MarkersWritten
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.shard import TransactionShard

TOPIC = "__transaction_state"

# A partition that answers so has no use for the marker: it is gone, or further on.
DONE_WITH = {
    ErrorCode.NONE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
}

log = logging.getLogger(__name__)


class TransactionCoordinator:
    """The transactional ids whose partitions are led here."""

    def __init__(
        self, settings: TransactionSettings, metadata: MetadataLoader, markers: MarkerSender, step: Step
    ) -> None:
        self.settings, self._metadata = settings, metadata
        self._markers, self._step = markers, step
        self._retries, self._log_limiter = Timetable(), LogLimiter()
        self.shards = Coordinator(TOPIC, Plan(self._machine, encode_record, _records, owes=True), step)

    def partition_of(self, transactional_id: str) -> int:
        """The number of the partition that an id is kept in."""
        topic = self._metadata.image.topics.get(TOPIC)
        count = len(topic.partitions) if topic else self.settings.transaction_state_log_num_partitions
        return partition_of(transactional_id, count)

    def run(self, transactional_id: str, request: object, now: Millis) -> Wait:
        """Let the shard of an id decide a request."""
        return self.shards.run(self.partition_of(transactional_id), request, now, TRANSACTION_DECISION_MS)

    def run_on_all(self, request: object, now: Millis) -> InSlices[Wait]:
        """Let every shard decide a request; the Wait gives all their responses."""
        return (yield from self.shards.run_on_all(request, now, TRANSACTION_DECISION_MS))

    def machine_of(self, transactional_id: str) -> TransactionShard:
        """The machine that decides for an id, to be asked without a decision."""
        return self.shards.shard(self.partition_of(transactional_id)).machine

    # ── what time brings ─────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return min(self.shards.next_deadline(), self._retries.next_deadline())

    def tick(self, now: Millis) -> None:
        self.shards.tick(now)
        self._retries.run(now)

    # ── markers ──────────────────────────────────────────────────────────────────────

    def send_markers(self, now: Millis) -> None:
        """Send out the markers of what has been decided and committed. Some are written at once, and what follows from
        that is decided here and now: then the shard owes again, and its turn comes at the end of this step too."""
        owing = self.shards.owing
        for shard, end in list(owing.items()):
            watermark = shard.partition.watermark
            if watermark >= end or shard.gone:
                del owing[shard]
            if not shard.gone:
                for markers in shard.machine.take_markers(watermark):
                    self._send(shard, markers, now)

    def _send(self, shard: Shard[TransactionShard], markers: Markers, now: Millis) -> None:
        marker = Marker(
            markers.producer_id, markers.producer_epoch, markers.committed, markers.coordinator_epoch,
            markers.version,
        )  # fmt: skip
        written = self._markers.send(marker, list(markers.partitions), now)
        self._step.later(written, partial(self._written, shard, markers, now))

    def _written(
        self, shard: Shard[TransactionShard], markers: Markers, now: Millis, outcome: Outcome
    ) -> None:
        if shard.gone:
            return
        done = tuple(name for name, code in outcome.items() if code in DONE_WITH)
        left = tuple(name for name, code in outcome.items() if code not in DONE_WITH)
        if done or not outcome:
            told = MarkersWritten(markers.transactional_id, markers.producer_id, markers.producer_epoch, done)
            self._complete(shard, told, now)
        if left:
            again = markers._replace(partitions=left)
            self._retries.at(Millis(now + MARKER_RETRY_MS), lambda now: self._try_again(shard, again, now))

    def _complete(self, shard: Shard[TransactionShard], told: MarkersWritten, now: Millis) -> None:
        """Let the machine know; if it cannot write that down, nobody else is going to tell it again."""

        def again(error: ProtocolError) -> None:
            if (suppressed := self._log_limiter.again(shard, now)) is not None:
                log.warning(Line(
                    "Transaction {transactional_id} cannot be completed in the log of its coordinator yet; tried again",
                    transactional_id=told.transactional_id, error=error.detail, suppressed=suppressed,
                ))  # fmt: skip
            self._retries.at(Millis(now + MARKER_RETRY_MS), lambda now: self._complete(shard, told, now))

        if not shard.gone:
            run = self.shards.run(shard.partition.name.partition, told, now, TRANSACTION_DECISION_MS)
            self._step.later(run.or_else(again), lambda response: None)

    def _try_again(self, shard: Shard[TransactionShard], markers: Markers, now: Millis) -> None:
        if not shard.gone:
            shard.machine.put_back(markers)
            self.shards.owing[shard] = shard.partition.log.end

    # ── shards ───────────────────────────────────────────────────────────────────────

    def _machine(self, partition: Partition) -> TransactionShard:
        return TransactionShard(self.settings, partition.epoch, self._has_partition)

    def _has_partition(self, topic: str, index: int) -> bool:
        return self._metadata.image.has_partition(topic, index)


def _records(batch: Batch) -> Iterator[tuple[int, TransactionRecord]]:
    """What a batch of the topic says. What cannot be understood is reported and passed over."""
    for record in () if batch.is_control else readable(batch, TOPIC):
        decoded = understood(TOPIC, record.offset, decode_record, record.key, record.value)
        if decoded is not None:
            yield record.offset, decoded
