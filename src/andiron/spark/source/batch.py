"""The reader of a batch: from one place in each partition to another, both found when the query is planned.

    startingOffsets … endingOffsets ──▶ ranges ──▶ what filters leave of them ──▶ tasks

Each action on the DataFrame plans anew, as with Spark's own source: `latest` is the latest then.

Filters come down to the log where the setting spark.sql.python.filterPushdown.enabled is true. Spark refuses
a reader that takes filters where it is false, its default, and does not tell a data source which it is.
But it plans such reads in a worker of its own kind, so the reader that takes filters is given out there,
and there alone.

Read next: pushdown.py, scan.py.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from andiron.columns.schema import TIMESTAMP
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.offsets import Offsets
from andiron.spark.source.options import SourceOptions
from andiron.spark.source.plan import Range, cut, ranges
from andiron.spark.source.pushdown import ALL, Span, Window, push
from andiron.spark.source.scan import client_of, report, scan
from andiron.spark.source.topics import NO_MATCH, Topics, reaching

PUSHING_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"

log = logging.getLogger(__name__)


def batch_reader(options: SourceOptions) -> DataSourceReader:
    """The reader for the process that asks."""
    started_as = getattr(sys.modules["__main__"].__spec__, "name", None)
    takes_filters = PUSHING_WORKER in sys.modules or started_as == PUSHING_WORKER
    return FilteredBatchReader(options) if takes_filters else BatchReader(options)


class BatchReader(DataSourceReader):
    """A batch read of all rows between two places."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.window = Window()

    def partitions(self) -> list[InputPartition]:
        """The tasks."""
        options = self.options
        for warning in options.warnings:
            log.warning(warning)
        topics = Topics(client_of(options.kafka), options.which, committed=options.kafka.committed)
        with reaching(options.kafka):
            whole = [self.window.clip(each) for each in self._ranges(topics)]
            whole = self._from_first_time(topics, [each for each in whole if each.size > 0])
        tasks = cut(whole, options.min_partitions, options.max_records_per_partition)
        return [InputPartition(each) for each in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task; where there are no tasks, Spark asks for the rows of none."""
        if partition.value is None:
            return iter(())
        return within(scan(self.options, partition.value), self.window.times)

    def _ranges(self, topics: Topics) -> list[Range]:
        """What the options ask for, of the partitions that filters leave."""
        partitions = topics.find().all()
        ends = topics.ends(partitions)
        start = topics.resolve_start(
            self.options.starting, partitions, ends, self.options.late_start_is_latest
        )
        end = _ends(topics.resolve(self.options.ending, partitions, ends), ends)
        _check_order(start, end)
        wanted = [each for each in partitions if self.window.includes(each)]
        found = ranges(_only(start, wanted), _only(end, wanted), topics.logs(wanted))
        report(found.losses, fail=self.options.fail_on_data_loss)
        return found.ranges

    def _from_first_time(self, topics: Topics, whole: list[Range]) -> list[Range]:
        """The ranges without what is older than any record that is wanted."""
        first_ms = self.window.first_ms
        if first_ms is None:
            return whole
        firsts = topics.at_times({each.partition: first_ms for each in whole})
        kept = [(each, firsts[each.partition]) for each in whole if firsts[each.partition] != NO_MATCH]
        return [each._replace(start=min(max(each.start, first), each.end)) for each, first in kept]


class FilteredBatchReader(BatchReader):
    """A batch read that takes Spark's filters down to the log."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take in filters; those that Spark must apply itself are returned."""
        self.window, left = push(self.window, filters)
        return left


def within(batches: Iterable[pa.RecordBatch], times: Span) -> Iterator[pa.RecordBatch]:
    """The rows of a span of time (µs)."""
    if times == ALL:
        yield from batches
        return
    first, end = (pa.scalar(each, TIMESTAMP) for each in times)
    for rows in batches:
        stamps = rows.column("timestamp")
        wanted = pc.and_(pc.greater_equal(stamps, first), pc.less(stamps, end))
        if (kept := rows.filter(wanted)).num_rows:
            yield kept


def _only(offsets: Offsets, wanted: Iterable[TopicPartition]) -> Offsets:
    return {each: offsets[each] for each in wanted}


def _ends(resolved: Offsets, ends: Offsets) -> Offsets:
    """Where to end: a time after the last record is the end of the log."""
    return {each: ends[each] if offset == NO_MATCH else offset for each, offset in resolved.items()}


def _check_order(start: Offsets, end: Offsets) -> None:
    for partition, offset in start.items():
        if offset > end[partition]:
            raise SettingError(
                "startingOffsets, endingOffsets and the like",
                f"{partition} would start at offset {offset}, after its end at {end[partition]}",
            )
