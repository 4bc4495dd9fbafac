"""Windows and duplicates, as Spark computes them."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def at(minute: int, second: int = 0) -> datetime.datetime:
    return datetime.datetime(2026, 1, 2, 12, minute, second)


def orders(spark: SparkSession, *rows: tuple[str, datetime.datetime | None, int]) -> DataFrame:
    return spark.createDataFrame(rows, "country string, at timestamp, amount int")


def test_each_window_has_its_sums_and_how_many_records_they_are_of(spark: SparkSession) -> None:
    from pyspark.sql import functions as fn

    from andiron.spark import windowed

    rows = orders(spark, ("DE", at(0), 1), ("DE", at(0, 59), 2), ("DE", at(1), 4), ("FR", at(1), 8))
    revenue = fn.sum("amount").alias("revenue")
    found = windowed(rows, revenue, time="at", size="1 minute", delay="10 minutes", by=["country"])

    assert found.columns == ["window_start", "window_end", "country", "records", "revenue"]
    assert sorted(tuple(row) for row in found.collect()) == [
        (at(0), at(1), "DE", 2, 3),
        (at(1), at(2), "DE", 1, 4),
        (at(1), at(2), "FR", 1, 8),
    ]


def test_windows_may_overlap(spark: SparkSession) -> None:
    from andiron.spark import windowed

    found = windowed(
        orders(spark, ("DE", at(5), 1)), time="at", size="2 minutes", delay="1 minute", slide="1 minute"
    )

    assert sorted(row.window_start for row in found.collect()) == [at(4), at(5)]


def test_a_row_without_a_time_is_not_passed_over_in_silence(spark: SparkSession) -> None:
    from andiron.spark import windowed

    found = windowed(orders(spark, ("DE", None, 1)), time="at", size="1 minute", delay="1 minute")

    with pytest.raises(Exception, match="a row without 'at' is in no window"):
        found.collect()
