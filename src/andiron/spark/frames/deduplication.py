"""Deduplication within a span of event time: records that a producer sent twice are let through once.

    a b a c b        within 10 minutes of each other        a b c

The state holds the keys of the last `within` of event time and no more: what comes again later than that is let
through again. Choose it longer than a producer keeps trying (delivery.timeout.ms, two minutes by default).

The log itself keeps an idempotent producer's retries apart; this is for duplicates that were sent on purpose or
by a producer that was started anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame


def deduplicated(
    rows: DataFrame, by: str | Sequence[str], *, within: str, time: str = "timestamp"
) -> DataFrame:
    """`rows` without those whose `by` columns were there before, as long ago as `within` by the column `time`."""
    keys = [by] if isinstance(by, str) else list(by)
    return rows.withWatermark(time, within).dropDuplicatesWithinWatermark(keys)
