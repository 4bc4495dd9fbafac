"""Lag: how far a group is behind the end of a partition, in records and in time.

    log start ········ committed ················· end
                       ├────── lag in records ─────┤
                       ▲ written at t              ▲ now      behind for now - t

In records, it is what Kafka's tools show: end minus committed offset, which also counts what compaction took
and the markers of transactions. In time, it is the age of the first record that the group has not consumed:
the answer to "how old is what we work on", and nothing when there is nothing left to do.

One batch of the partition, fetched at the committed offset, is enough to know that record's time.

Where nothing is committed, a consumer begins where its auto.offset.reset says, which only the consumer knows. So the
lag is anything from nothing (latest) to all records that there are (earliest): `unread`, and no lag.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from andiron.client.core.group_descriptions import CommittedOffset
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import records_of


class Lag(NamedTuple):
    """A partition of a group; what is not known is None."""

    committed: CommittedOffset | None
    end: int | None
    records: int | None
    ms: int | None
    unread: int | None = None  # where nothing is committed: the records from the first there is


def lag_of(
    committed: CommittedOffset | None, start: int | None, end: int | None, written_at: int | None, now_ms: int
) -> Lag:
    """The lag of a partition whose first record to be consumed was written at a time, if that is known."""
    if start is None or end is None:
        return Lag(committed, end, None, None)
    if committed is None:
        return Lag(None, end, None, None, max(0, end - start))
    records = max(0, end - committed.offset)
    if not records:
        return Lag(committed, end, 0, 0)
    return Lag(committed, end, records, None if written_at is None else max(0, now_ms - written_at))


def first_unread(
    committed: Mapping[TopicPartition, CommittedOffset],
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int]:
    """The offset at which each partition with a lag is read next: where its log starts, at the least."""
    return {
        partition: max(at.offset, starts[partition])
        for partition, at in committed.items()
        if partition in starts and max(at.offset, starts[partition]) < ends.get(partition, 0)
    }


def written_at(batch: Batch, offset: int) -> int | None:
    """When the first record of a batch at or after an offset was written; None for one without a time."""
    times = (record.timestamp for record in records_of(batch) if record.offset >= offset)
    found = next(times, batch.max_timestamp)  # compaction may have left none of them
    return None if found < 0 else found
