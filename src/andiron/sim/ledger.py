"""What clients have sent: every batch, by the number that each of its records carries.

    record header "n"  ──▶  the batch it was sent in  ──▶  its records, and whether it may be there twice

Whatever is found in a log must be in here, or it was made up. A batch that was sent may be in a log
or not, until its producer is told that it is; then it is a promise (invariants/acks.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from andiron.model.ids import NO_TIMESTAMP, TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record

NUMBER = "n"


@dataclass(eq=False, slots=True)
class Sent:
    """One batch as its producer made it."""

    number: int
    partition: TopicPartition
    records: list[Record]
    data: bytes
    base_sequence: int
    in_flight: bool = field(default=False)


class Ledger:
    """All batches ever sent."""

    def __init__(self) -> None:
        self._sent: dict[int, Sent] = {}

    def __len__(self) -> int:
        return len(self._sent)

    def write(
        self,
        partition: TopicPartition,
        contents: list[tuple[int, bytes | None, bytes | None]],
        *,
        codec: int,
        producer: tuple[int, int, int],
        transactional: bool = False,
    ) -> Sent:
        """A new batch of (timestamp, key, value), from a producer given by id, epoch and sequence.

        Of records without a timestamp the header says what librdkafka says: that the largest is 0.
        """
        number = len(self._sent) + 1
        mark = ((NUMBER, b"%d" % number),)
        records = [
            Record(offset, timestamp, key, value, mark)
            for offset, (timestamp, key, value) in enumerate(contents)
        ]
        producer_id, epoch, sequence = producer
        timeless = all(record.timestamp == NO_TIMESTAMP for record in records)
        data = build(
            records, codec=codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence,
            transactional=transactional, max_timestamp=0 if timeless else None,
        )  # fmt: skip
        sent = self._sent[number] = Sent(number, partition, records, bytes(data), sequence)
        return sent

    def find(self, record: Record) -> Sent | None:
        """The batch that a record belongs to; None if nobody sent it."""
        for name, value in record.headers:
            if name == NUMBER and value is not None and value.isdigit():
                return self._sent.get(int(value))
        return None


def same_contents(sent: Sent, batch: Batch, stored: list[Record]) -> bool:
    """Is what was stored what was sent? The broker may have given the records its own time."""
    if len(sent.records) != len(stored):
        return False
    own_time = batch.timestamp_type == 0
    return all(
        (theirs.key, theirs.value, theirs.headers) == (ours.key, ours.value, ours.headers)
        and (not own_time or theirs.timestamp == ours.timestamp)
        for theirs, ours in zip(stored, sent.records, strict=True)
    )
