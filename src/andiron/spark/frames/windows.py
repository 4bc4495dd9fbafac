"""Windows of event time that close: how much per minute and country, of what came in time.

    event time ──▶   12:00        12:01        12:02        12:03
                       ├────────────┼────────────┼────────────┤
    closed, forgotten  │            │ open         watermark = newest event time - delay
                       └─ late: a record of a window that has closed is dropped, and counted

The watermark bounds the state and decides what is late. Spark drops late records without a word, so every result
here has a column `records`, in which each record counts once: a table that says `count="records"` is checked
against its log (`andiron table verify`), and what was dropped is then a number. `late_rows` reads Spark's own
count from a query's progress; it counts groups after a first aggregation, so it is a lower bound, and zero is
zero. A row without a time would be dropped too; it is an error here.

Read next: tables/verification.py, latest.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

RECORDS = "records"
START, END = "window_start", "window_end"
NO_TIME = (
    "a row without {0!r} is in no window; have it NOT NULL in the schema, and such records are dead letters"
)


def windowed(
    rows: DataFrame,
    *aggregates: Column,
    time: str,
    size: str,
    delay: str,
    slide: str | None = None,
    by: Sequence[str] = (),
) -> DataFrame:
    """Aggregates, each with an alias, for every window of `size` and value of `by`; the columns are window_start,
    window_end, those of `by`, records, and the aggregates.

    A record is late that comes after its window has closed: `delay` after the newest event time. With `slide`
    windows overlap, and a record counts in several.
    """
    frame = fn.window(fn.col(time), size, slide) if slide else fn.window(fn.col(time), size)
    timed = rows.withColumn(time, fn.coalesce(fn.col(time), fn.raise_error(fn.lit(NO_TIME.format(time)))))
    grouped = timed.withWatermark(time, delay).groupBy(frame.alias("window"), *by)
    results = grouped.agg(fn.count(fn.lit(1)).alias(RECORDS), *aggregates)
    others = [name for name in results.columns if name != "window"]
    return results.select(fn.col("window.start").alias(START), fn.col("window.end").alias(END), *others)


def late_rows(progress: Any) -> int:
    """How many rows the watermark has dropped in a micro-batch, by its progress, e.g. `query.lastProgress`."""
    return sum(_operator(each) for each in progress["stateOperators"])


def _operator(operator: Any) -> int:
    return int(operator["numRowsDroppedByWatermark"])
