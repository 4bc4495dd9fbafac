"""The reader of a batch (`spark.read`): from startingOffsets to endingOffsets, both resolved by every action.

    driver   startingOffsets … endingOffsets ──▶ what there is ──▶ cut into pieces: tasks
    task     startingOffsets … endingOffsets ──▶ what there is by now ──▶ my piece of it

    first action     ├───── piece ─────┼───── piece ─────▶│
    a later one            ├── piece ──┼───── piece ──────────────▶│     what came since is the last piece's

Spark asks a source in Python for its tasks once for each DataFrame, and keeps them for all actions on it, whatever
they filter. So a task does not say from where to where: it says which piece of a partition it is, and
finds out when it runs where reading starts and ends. By that `latest` is the latest of each action, as with Spark's
own source, and a log whose beginning was deleted meanwhile is read from where it begins. One of the tasks reads what
has no task of its own: partitions that were empty, or not there, when the tasks were made. A task that is run again may
find more than it did the first time. Spark compares what both gave and does again what was made of it
(spark.sql.shuffle.orderIndependentChecksum).

For the same reason filters are not taken here (pushFilters): Spark would keep the tasks that one filter left, and
give them to the next action too.

Read next: plan.py, scan.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from andiron.model.ids import TopicPartition
from andiron.model.line import Line
from andiron.model.settings import SettingError
from andiron.spark.source.offsets import Offsets
from andiron.spark.source.options import SourceOptions
from andiron.spark.source.plan import Range, cut, ranges
from andiron.spark.source.scan import client_of, report, scan
from andiron.spark.source.topics import NO_MATCH, Topics, check_named, reaching

log = logging.getLogger(__name__)


class Piece(NamedTuple):
    """A part of a partition's offsets; None is wherever reading starts, or ends, when it is read."""

    partition: TopicPartition
    start: int | None = None
    end: int | None = None

    def of(self, whole: Range) -> Range:
        """The offsets of this piece in the partition's range as it is now; it may be empty."""
        start = whole.start if self.start is None else min(max(self.start, whole.start), whole.end)
        end = whole.end if self.end is None else min(self.end, whole.end)
        return Range(whole.partition, start, max(start, end))


class Task(NamedTuple):
    """What one task reads: a piece, and with `others`, partitions that no task has a piece of."""

    piece: Piece | None
    others: frozenset[TopicPartition] | None = None


class BatchReader(DataSourceReader):
    """A batch read of all rows between two places."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options

    def partitions(self) -> list[InputPartition]:
        """The tasks."""
        options = self.options
        for warning in options.warnings:
            log.warning(Line("Option has no effect, or another than meant", reason=warning))
        with reaching(options.kafka):
            topics = self._topics()
            whole = self._ranges(topics, self._all(topics))
        found = pieces(cut(whole, options.min_partitions, options.max_records_per_partition))
        tasks = [Task(each) for each in found] or [Task(None)]
        tasks[-1] = tasks[-1]._replace(others=frozenset(each.partition for each in found))
        return [InputPartition(each) for each in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        task: Task = partition.value
        for each in self._now(task):
            yield from scan(self.options, each)

    def _now(self, task: Task) -> list[Range]:
        """The ranges of offsets that a task has to read, resolved now."""
        with reaching(self.options.kafka):
            topics = self._topics()
            topics.reach()
            found = []
            if task.piece is not None:
                found = [task.piece.of(each) for each in self._ranges(topics, [task.piece.partition])]
            if task.others is not None:
                rest = [each for each in self._all(topics) if each not in task.others]
                found += self._ranges(topics, rest)
        return [each for each in found if each.size > 0]

    def _topics(self) -> Topics:
        options = self.options
        return Topics(client_of(options.kafka), options.which, committed=options.kafka.committed)

    def _all(self, topics: Topics) -> list[TopicPartition]:
        """Every partition there is to be read."""
        found = topics.find().all()
        for place in (self.options.starting, self.options.ending):
            check_named(place, found)
        return found

    def _ranges(self, topics: Topics, partitions: list[TopicPartition]) -> list[Range]:
        """What the options ask for of some partitions."""
        options = self.options
        ends = topics.ends(partitions)
        start = topics.resolve_start(options.starting, partitions, ends, options.late_start_is_latest)
        end = _ends(topics.resolve(options.ending, partitions, ends), ends)
        _check_order(start, end)
        found = ranges(start, end, topics.logs(partitions))
        report(found.losses, fail=options.fail_on_data_loss)
        return found.ranges


def pieces(tasks: list[Range]) -> list[Piece]:
    """The ranges as pieces of their partitions, the first and the last of each without a limit outwards."""
    first = {each.partition: each.start for each in reversed(tasks)}
    last = {each.partition: each.end for each in tasks}
    return [
        Piece(
            partition,
            None if start == first[partition] else start,
            None if end == last[partition] else end,
        )
        for partition, start, end in tasks
    ]


def _ends(resolved: Offsets, ends: Offsets) -> Offsets:
    """The end offsets: a time after the last record is the end of the log."""
    return {each: ends[each] if offset == NO_MATCH else offset for each, offset in resolved.items()}


def _check_order(start: Offsets, end: Offsets) -> None:
    for partition, offset in start.items():
        if offset > end[partition]:
            raise SettingError(
                "startingOffsets, endingOffsets and the like",
                f"{partition} would start at offset {offset}, after its end at {end[partition]}",
            )
