"""The copy itself: rounds of fetches from the source, each written to the target before the next is waited for.

    open ──▶ fetch ──▶ next fetch sent ──▶ chunks placed ──▶ shifts noted ──▶ batches written ──┐
      ▲        ▲                                                                                │
      │        └────────────────────────────────────────────────────────────────────────────────┘
      └── what is known proved wrong: ends looked up anew (copy_start.py)

A round holds what one answer of each broker brings, so memory is bounded by settings and not by the log. Rounds end
when every partition is at the end that it had when the copy began or, following, when one is told to stop.

What is lost on the source, a topic that is deleted or records that retention took first, ends the copy of that topic or
partition, with a line that says so, and not of the others.

Read next: copy_start.py, then producer.py for why nothing is written twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from andiron.client.blocking.reader import Reader
from andiron.client.core.positions import FetchedBatches, Position, check_intact
from andiron.client.settings import ReaderSettings
from andiron.copying.chunks import TOGETHER_BYTES, Chunk, chunks_of
from andiron.copying.cluster_side import SOURCE, TARGET, Side, on
from andiron.copying.copy_start import CopyStart
from andiron.copying.pace import Pace
from andiron.copying.partition_copy import PartitionCopy
from andiron.copying.producer import CopyProducer
from andiron.model.errors import ErrorCode, ProtocolError, Retriable
from andiron.model.ids import TopicPartition
from andiron.model.settings import MIB
from andiron.records.batch import Batch

READ_SETTINGS = ReaderSettings(fetch_max_bytes=32 * MIB, max_partition_fetch_bytes=4 * MIB)
SLOWEST_BYTES = 64 << 10
ATTEMPTS_MAX = 5  # without a record in between
PAUSE_S = 1.0
_LOST = {
    ErrorCode.OFFSET_OUT_OF_RANGE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.INCONSISTENT_TOPIC_ID,
}


def reader_settings(rate: float | None) -> ReaderSettings:
    """Answers of no more than a second's worth, where there is a rate: they are written at once, then waited for."""
    if rate is None:
        return READ_SETTINGS
    most = max(int(rate), SLOWEST_BYTES)
    return replace(
        READ_SETTINGS,
        fetch_max_bytes=min(most, READ_SETTINGS.fetch_max_bytes),
        max_partition_fetch_bytes=min(most, READ_SETTINGS.max_partition_fetch_bytes),
    )


class Copier:
    """Copies the partitions that an `CopyStart` opens, until they are done or `stopping` says so."""

    def __init__(
        self,
        source: Side,
        target: Side,
        opening: CopyStart,
        *,
        stopping: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda text: None,
        between_rounds: Callable[[], None] = lambda: None,
    ) -> None:
        self.copies: dict[TopicPartition, PartitionCopy] = {}
        self.set_aside: dict[str, str] = {}  # topic or partition whose copy has ended early → why
        self._source, self._target, self._opening = source, target, opening
        self._wishes = wishes = opening.wishes
        self._pace, self._reading = Pace(wishes.rate), reader_settings(wishes.rate)
        self._stopping, self._tell, self._between_rounds = stopping, tell, between_rounds
        self._ends = {} if wishes.follow else opening.source_ends()
        self._failures = 0

    def run(self) -> None:
        """Copy to the end; retriable errors are retried, with --follow for as long as it takes."""
        more = True
        while more and not self._stopping():
            try:
                more = self._go()
            except ProtocolError as error:
                self._bear(error)

    @property
    def records(self) -> int:
        """How many records this process has written to the target."""
        return sum(each.records for each in self.copies.values())

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.copies.values())

    # ── rounds ───────────────────────────────────────────────────────────────────────

    def _go(self) -> bool:
        """Open the partitions, and copy in rounds; whether topics or partitions have come that are not open."""
        producer = CopyProducer(self._target.client, self._opening.identity())
        try:
            self._open(producer)
            positions = [
                Position(each, copy.source, self._ends.get(each))
                for each, copy in self.copies.items()
                if not self.is_set_aside(each)
            ]
            with Reader(
                self._source.client, positions, committed=self._wishes.committed, settings=self._reading
            ) as reader:
                while not (self._stopping() or (reader.is_done and not self._wishes.follow)):
                    self._round(reader, producer)
                    self._between_rounds()
                    if self._opening.grown():
                        return True
            return False
        finally:
            producer.close()

    def _open(self, producer: CopyProducer) -> None:
        """Find where the copy of each partition stands; counts of this process go on."""
        before = self.copies
        self.copies = {**before, **self._opening.copies(producer, self.is_set_aside)}
        for partition, copy in self.copies.items():
            producer.begin(partition, copy.target)
            if partition in before:
                copy.records, copy.bytes = before[partition].records, before[partition].bytes

    def _round(self, reader: Reader, producer: CopyProducer) -> None:
        with on(SOURCE):
            came = [self._seen(each) for each in reader.fetch()]
            self._check_same()
        if not reader.is_done and not self._stopping():
            reader.fetch_ahead()
        chunks: list[tuple[PartitionCopy, Chunk]] = []
        for copy, batches, start, reached in came:
            made = chunks_of(batches, copy.partition, start, copy.batch_bytes or TOGETHER_BYTES)
            for chunk in made:
                copy.place(chunk)
                chunks.append((copy, chunk))
            copy.source = reached
        with on(TARGET):
            self._opening.note_fresh(self.copies.values())
            for copy, chunk in chunks:
                producer.put(copy.partition, chunk.data, chunk.records)
            producer.flush()
        if chunks:
            self._failures = 0
            self._wait(self._pace.wait_s(sum(len(chunk.data) for _, chunk in chunks)))

    def _seen(self, came: FetchedBatches) -> tuple[PartitionCopy, list[Batch], int, int]:
        """The batches of a fetch response that are to be copied; the position moves behind all of them."""
        position, start = came.position, came.position.offset
        if not came.batches:
            position.nothing_left()
        shown = []
        for batch in came.batches:
            check_intact(batch, position.partition)
            if came.isolation.shows(batch):
                shown.append(batch)
            position.pass_over(batch)
        return self.copies[position.partition], shown, start, position.offset

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopping() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))

    # ── errors ───────────────────────────────────────────────────────────────────────

    def is_set_aside(self, partition: TopicPartition) -> bool:
        """Whether the copy of a partition was given up."""
        return partition.topic in self.set_aside or str(partition) in self.set_aside

    def _bear(self, error: ProtocolError) -> None:
        """Begin again after a retriable error; raise any other."""
        self._failures += 1
        if error.code in _LOST and self._give_up_lost():
            return
        unsure = error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        patient = isinstance(error, Retriable) and self._wishes.follow
        if not patient and not (unsure and self._failures < ATTEMPTS_MAX):
            raise error
        self._tell(f"{error.detail}; looking again where both sides are")
        self._wait(PAUSE_S)

    def _give_up_lost(self) -> bool:
        """Give up partitions that are no longer on the source, or go on behind lost records; whether there were any."""
        count, lost = len(self.set_aside), False
        there = {each.name: each.id_text for each in self._source.client.topics()}
        for name, id_text in self._opening.source_ids().items():
            if name not in self.set_aside and there.get(name) != id_text:
                self._give_up(
                    name, f"{name} was deleted on the source while it was copied; what is copied stays"
                )
        for partition, (start, _) in self._source.ends(
            [each for each in self.copies if not self.is_set_aside(each)]
        ).items():
            copy = self.copies[partition]
            if copy.source < start and self._wishes.accept_loss:
                lost = True  # told and stepped over when it is opened anew
            elif copy.source < start:
                self._give_up(
                    str(partition),
                    f"{partition}: offsets {copy.source} to {start - 1} are gone from the source, retention was "
                    "faster; go on behind them with --accept-loss",
                )
        return lost or len(self.set_aside) > count

    def _give_up(self, what: str, why: str) -> None:
        self.set_aside[what] = why
        self._tell(why)

    def _check_same(self) -> None:
        """A topic that was deleted and made anew is another, though fetches go on to be answered."""
        topics = self._source.client.metadata.topics
        for name, id_text in self._opening.source_ids().items():
            if name not in self.set_aside and name in topics and topics[name].id_text != id_text:
                raise ErrorCode.UNKNOWN_TOPIC_ID.error(f"{name} is another topic by now")
