"""The reader of a stream (`spark.readStream`): Spark's DataSourceStreamReader, micro-batch by micro-batch.

    initialOffset ─▶ latestOffset ─▶ [Spark's offset log] ─▶ partitions ─▶ read, in tasks ─▶ [commit log]
                         ▲                                                                       │
                         └────────── latestOffset(start = what is done) ◀────────────────────────┘

One process holds this object for the whole run of a query, and one client with it; tasks get a copy that
knows the options and nothing else.

Two laws.

Where a query starts is written down before anything is read. Spark does not keep what initialOffset says,
so after a crash in the first batch "latest" would be another place. Hence the end of the first batch, which Spark's
offset log keeps, says where it begins as well; should that batch be run again, it counts and not what
initialOffset says by then.

What is given out by `partitions` follows from its arguments: a batch that is run again reads the same.

Read next: log_ends.py, plan.py; group_progress.py for the group that mirrors the query.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from andiron.client.blocking.client import Client
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.model.line import Line
from andiron.spark.source.group_progress import GroupProgress
from andiron.spark.source.log_ends import LogEnds
from andiron.spark.source.offsets import Ids, Offsets, begun_in, ids_in, of_json, to_json
from andiron.spark.source.options import SourceOptions
from andiron.spark.source.plan import Ranges, admit, cut, is_enough, ranges
from andiron.spark.source.scan import report, scan
from andiron.spark.source.topics import Topics, check_named, reaching

SIZES_GOOD_FOR_S = 10.0

log = logging.getLogger(__name__)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The stream of one query."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self._open: OpenStream | None = None
        self._initial: dict[str, Any] | None = None
        self._is_beginning = False  # initialOffset was told, and nothing has come of it yet
        self._last_batch_at: float | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """A task needs the options; connections stay where they are."""
        return StreamReader, (self.options,)

    # ── Spark's DataSourceStreamReader ───────────────────────────────────────────────

    def initialOffset(self) -> dict[str, Any]:
        """Where a query without a checkpoint starts."""
        if self._initial is None:
            with reaching(self.options.kafka):
                self._initial = to_json(self._opened.start(), self._opened.ends.ids())
            self._is_beginning = True
        return self._initial

    def prepareForTriggerAvailableNow(self) -> None:
        """Trigger.AvailableNow: this run ends where the log ends now."""
        with reaching(self.options.kafka):
            self._opened.ends.fix()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Tells Spark that there are limits; which they are is known here, and Spark can say only one."""
        limits = self.options.limits
        if limits.max_offsets is not None:
            return ReadMaxRows(limits.max_offsets)
        if limits.max_bytes is not None:
            return ReadMaxBytes(limits.max_bytes)
        if limits.min_offsets is not None:
            return ReadMinRows(limits.min_offsets)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Where the next batch ends, after a batch that ended at `start`."""
        done, known = of_json(start), ids_in(start)
        begins, self._is_beginning = self._is_beginning, False
        with reaching(self.options.kafka):
            self._opened.mirror(done)
            end = self._next_end(done, known, isinstance(limit, ReadAllAvailable))
            ids = {**known, **self._opened.ends.ids()}
        told = to_json(end, ids, done if begins else None)
        if begins:
            return told
        return start if (of_json(told), ids_in(told)) == (done, known) else told

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """Where the log ends, as last seen, for the query's progress."""
        latest = self._open.ends.latest if self._open is not None else None
        return None if latest is None else to_json(latest)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The tasks of a batch."""
        noted, until = begun_in(end), of_json(end)
        begun = noted or of_json(start)
        is_first_again, self._is_beginning = self._is_beginning, False
        if begun == until:
            return []
        with reaching(self.options.kafka):
            found = self._opened.ranges(begun, until, ids_in(end))
        if noted or not is_first_again:  # else another source, or an earlier form of this one, wrote the end
            report(found.losses, fail=self.options.fail_on_data_loss)
        tasks = cut(found.ranges, self.options.min_partitions, self.options.max_records_per_partition)
        return [InputPartition(each) for each in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        return scan(self.options, partition.value)

    def stop(self) -> None:
        """Hang up. Where Spark did so first, which is how it ends a query, the process ends without a word."""
        if isinstance(sys.exception(), (EOFError, ConnectionError)):
            sys.excepthook = _say_nothing
        if self._open is not None:
            self._open.close()
            self._open = None

    # ── how the next end is chosen ───────────────────────────────────────────────────

    @property
    def _opened(self) -> OpenStream:
        if self._open is None:
            self._open = OpenStream(self.options)
        return self._open

    def _next_end(self, done: Offsets, known: Ids, unlimited: bool) -> Offsets:
        opened, limits = self._opened, self.options.limits
        ends, losses = opened.ends.beyond(done, known)
        report(losses, fail=self.options.fail_on_data_loss)
        if unlimited or ends == done:
            return ends
        from_ = opened.reading_from(done, ends)
        now = time.monotonic()
        waited_ms = None if self._last_batch_at is None else int((now - self._last_batch_at) * 1000)
        if not opened.ends.is_fixed and not losses and not is_enough(from_, ends, limits, waited_ms):
            return done
        self._last_batch_at = now
        return admit(from_, ends, limits, opened.record_bytes(ends) if limits.max_bytes else None)


def _say_nothing(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Spark's runner would tell of its own end, and nobody is there to be told."""


class OpenStream:
    """What a running stream holds on to: a client, what it knows of the logs, and the group it mirrors into."""

    def __init__(self, options: SourceOptions) -> None:
        for warning in options.warnings:
            log.warning(Line("Option has no effect, or another than meant", reason=warning))
        self._options = options
        self._client = Client(options.kafka.bootstrap, options.kafka.client)
        self._topics = Topics(self._client, options.which, committed=options.kafka.committed)
        self.ends = LogEnds(self._topics, options)
        self._progress: GroupProgress | None = None
        if options.group is not None:
            self._progress = GroupProgress(options.group, options.kafka.bootstrap, options.kafka.client)
        self._record_bytes: dict[TopicPartition, float] = {}
        self._sized_at = float("-inf")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        if self._progress is not None:
            self._progress.close()

    def start(self) -> Offsets:
        """Where the options say that reading starts."""
        options, topics = self._options, self._topics
        partitions = topics.find().all()
        check_named(options.starting, partitions)
        ends = {**topics.ends(partitions), **self.ends.now()}
        found = topics.resolve_start(options.starting, partitions, ends, options.late_start_is_latest)
        beyond = {each: offset for each, offset in found.items() if offset > ends[each]}
        report(
            [
                f"startingOffsets: {at} for {each}, and its log ends at {ends[each]}"
                for each, at in beyond.items()
            ],
            fail=options.fail_on_data_loss,
        )
        return found | {each: ends[each] for each in beyond}

    def mirror(self, done: Mapping[TopicPartition, int]) -> None:
        """Show a consumer group how far the query has come, if it was asked for."""
        if self._progress is not None:
            self._progress.mirror(done)

    def reading_from(self, done: Offsets, ends: Offsets) -> Offsets:
        """Where reading goes on in each partition: behind what is done, or where its log begins by now."""
        behind = [each for each, end in ends.items() if done.get(each, -1) < end]
        starts = self._topics.starts(behind)
        return {each: min(max(done.get(each, 0), starts.get(each, 0)), end) for each, end in ends.items()}

    def ranges(self, begun: Offsets, until: Offsets, ids: Ids) -> Ranges:
        """What lies between two offsets of these topics, asked for again where that is not all there."""
        behind = [each for each, end in until.items() if begun.get(each, -1) < end]
        for attempt in range(self._options.offset_attempts):
            if attempt:
                time.sleep(self._options.offset_interval_ms / 1000)
            logs = self._topics.logs(behind)
            if all(each in logs and logs[each].end >= until[each] for each in behind):
                break
        now = self.ends.ids()
        same = {each: log for each, log in logs.items() if ids.get(each.topic) in (None, now.get(each.topic))}
        return ranges(begun, until, same)

    def record_bytes(self, partitions: Mapping[TopicPartition, int]) -> dict[TopicPartition, float]:
        """What a record takes on average, as the sizes of the logs on disk tell it, compressed as they are."""
        if time.monotonic() - self._sized_at > SIZES_GOOD_FOR_S:
            self._sized_at = time.monotonic()
            try:
                self._record_bytes = self._topics.record_bytes(partitions)
            except AndironError as error:
                log.warning(Line(
                    "Option {setting} has no effect while the sizes of the logs are unknown",
                    setting="maxBytesPerTrigger", error=error,
                ))  # fmt: skip
        return self._record_bytes
