"""What Spark is asked for. What it does: tests/spark/test_windows.py."""

from __future__ import annotations

from typing import Any

import pytest

from andiron.spark.frames.deduplication import deduplicated


class Rows:
    """Notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def withWatermark(self, *told: str) -> Rows:
        self.done.append(told)
        return self

    def dropDuplicatesWithinWatermark(self, keys: list[str]) -> list[Any]:
        return [*self.done, keys]


@pytest.mark.parametrize("by", ["id", ["id"], ("id",)])
def test_keys_are_remembered_for_so_long(by: Any) -> None:
    rows: Any = Rows()

    assert deduplicated(rows, by, within="10 minutes", time="at") == [("at", "10 minutes"), ["id"]]
