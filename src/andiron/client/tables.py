"""`andiron.read_topic`: the records of a topic, or of a range of it, as an Arrow table.

    import andiron
    orders = andiron.read_topic("orders")
    orders.to_pandas(); polars.from_arrow(orders); duckdb.sql("SELECT count(*) FROM orders")

A place in a topic is said in one of four ways, for the start and for the end alike:

    "earliest", "latest"    the two ends of the log, as they are now
    {0: 17, 1: 4}           offsets by partition; one that is not named is read from its first, or to its last
    a datetime              the first record written at that time or later; local time unless it says otherwise

Rows come by partition and, within one, by offset: the order between partitions is not known to the log. An end
behind the end of the log is the end of the log, so that nothing is waited for.

Read next: blocking/column_reader.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import pyarrow as pa

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.columns.schema import arrow_schema
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition

Place: TypeAlias = str | Mapping[int, int] | datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ENDS = {"earliest": EARLIEST, "latest": LATEST}


def read_topic(
    topic: str,
    *,
    bootstrap: str | None = None,
    start: Place = "earliest",
    end: Place = "latest",
    partitions: Iterable[int] | None = None,
    headers: bool = False,
    committed: bool = True,
) -> pa.Table:
    """The records of a topic, or of some of its partitions, as columns of `columns.schema.arrow_schema`.

    Where no `bootstrap` is given it is that of the command line: ANDIRON_BOOTSTRAP, or else localhost:9092.
    Unless told otherwise, records of transactions that were aborted are left out, and so is all from the first record
    of one that is still open on; `andiron consume` does the same.
    """
    with Client(bootstrap or os.environ.get("ANDIRON_BOOTSTRAP") or "localhost:9092") as client:
        chosen = _partitions(client, topic, partitions)
        admin = Admin(client)
        latest = _at(admin, chosen, LATEST, committed)
        starts = _places(admin, chosen, start, latest, EARLIEST, committed)
        ends = _places(admin, chosen, end, latest, LATEST, committed)
        found: list[pa.RecordBatch] = []
        for each in chosen:
            upto = min(ends[each], latest[each])
            with ColumnReader(
                client, each, starts[each], upto, headers=headers, committed=committed
            ) as reader:
                found.extend(reader)
    return pa.Table.from_batches(found, schema=arrow_schema(headers))


def _partitions(client: Client, topic: str, wanted: Iterable[int] | None) -> list[TopicPartition]:
    known = client.topic(topic)
    if wanted is None:
        return known.names()
    chosen = [TopicPartition(topic, number) for number in sorted(set(wanted))]
    for each in chosen:
        client.metadata.partition(each)  # refuses what is not there
    return chosen


def _places(
    admin: Admin,
    partitions: list[TopicPartition],
    place: Place,
    latest: Mapping[TopicPartition, int],
    otherwise: int,
    committed: bool,
) -> dict[TopicPartition, int]:
    """The offset of a place in each partition."""
    if isinstance(place, datetime):
        found = _at(admin, partitions, _milliseconds(place), committed)
        return {each: found[each] if found[each] >= 0 else latest[each] for each in partitions}
    if isinstance(place, Mapping):
        unnamed = _at(
            admin, [each for each in partitions if each.partition not in place], otherwise, committed
        )
        return {each: place.get(each.partition, unnamed.get(each, 0)) for each in partitions}
    if place not in _ENDS:
        raise ErrorCode.INVALID_REQUEST.error(
            f"{place!r} is no place in a topic: say 'earliest', 'latest', offsets by partition or a datetime"
        )
    return _at(admin, partitions, _ENDS[place], committed)


def _milliseconds(time: datetime) -> int:
    """The first whole millisecond that is not before a time."""
    return -((_EPOCH - time.astimezone(UTC)) // timedelta(milliseconds=1))


def _at(
    admin: Admin, partitions: Iterable[TopicPartition], time: int, committed: bool
) -> dict[TopicPartition, int]:
    found = admin.list_offsets(dict.fromkeys(partitions, time), committed=committed)
    return {partition: at.offset for partition, at in found.items()}
