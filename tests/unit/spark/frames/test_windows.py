"""What a query's progress says about late rows. The windows themselves: tests/spark/test_windows.py."""

from __future__ import annotations

from andiron.spark.frames.windows import late_rows


def test_late_rows_of_all_operators_are_added_up() -> None:
    operators = [{"numRowsDroppedByWatermark": 2}, {"numRowsDroppedByWatermark": 3}]

    assert late_rows({"stateOperators": operators}) == 5
    assert late_rows({"stateOperators": []}) == 0
