"""The latest state of each key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def states(spark: SparkSession, *rows: tuple[str | None, str, int, int]) -> DataFrame:
    return spark.createDataFrame(rows, "order_id string, status string, version int, offset bigint")


def found(frame: DataFrame) -> dict[bytes, object]:
    rows = frame.collect()
    return {bytes(row.key): None if row.value is None else json.loads(bytes(row.value)) for row in rows}


def test_the_newest_row_of_each_key_is_its_state(spark: SparkSession) -> None:
    from andiron.spark import latest_per_key

    rows = states(spark, ("a", "placed", 1, 0), ("b", "placed", 1, 1), ("a", "paid", 2, 2))

    assert found(latest_per_key(rows, "order_id")) == {
        b"a": {"order_id": "a", "status": "paid", "version": 2},
        b"b": {"order_id": "b", "status": "placed", "version": 1},
    }


def test_another_column_may_tell_the_order(spark: SparkSession) -> None:
    from andiron.spark import latest_per_key

    rows = states(spark, ("a", "paid", 2, 0), ("a", "placed", 1, 1))

    (state,) = found(latest_per_key(rows, "order_id", order="version")).values()
    assert state == {"order_id": "a", "status": "paid", "version": 2}


def test_a_key_that_is_done_with_has_a_tombstone(spark: SparkSession) -> None:
    from pyspark.sql import functions as fn

    from andiron.spark import latest_per_key

    rows = states(spark, ("a", "placed", 1, 0), ("a", "gone", 2, 1), ("b", "gone", 1, 2), ("b", "back", 2, 3))
    frame = latest_per_key(rows, "order_id", deleted=fn.col("status") == "gone")

    assert found(frame) == {b"a": None, b"b": {"order_id": "b", "status": "back", "version": 2}}


def test_a_row_without_a_key_is_not_passed_over_in_silence(spark: SparkSession) -> None:
    from andiron.spark import latest_per_key

    with pytest.raises(Exception, match="a row without 'order_id' has no latest state"):
        latest_per_key(states(spark, (None, "placed", 1, 0)), "order_id").collect()
