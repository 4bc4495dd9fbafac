"""Progress of a query from what Spark tells of its batches."""

from __future__ import annotations

from typing import Any

from andiron.spark.pipeline.query_progress import (
    IDLE,
    RUNNING,
    STARTING,
    QueryProgress,
    lag_of,
    progress_line,
)


def told(batch: int, rows: int = 10, **more: Any) -> dict[str, Any]:
    return {
        "batchId": batch,
        "numInputRows": rows,
        "inputRowsPerSecond": 20.0,
        "durationMs": {"addBatch": 300, "triggerExecution": 400},
        "sources": [{"endOffset": {"t": {"0": 5}}, "latestOffset": {"t": {"0": 8}}}],
        **more,
    }


def test_batches_add_up() -> None:
    progress = QueryProgress("q")
    for batch in range(3):
        progress.hear(told(batch), now_s=batch)

    assert (progress.state, progress.batch, progress.rows, progress.lag) == (RUNNING, 2, 30, 3)
    assert (progress.rows_per_s, progress.batch_ms) == (20.0, 400)


def test_what_is_told_twice_counts_once() -> None:
    progress = QueryProgress("q")
    progress.hear(told(1), now_s=0)
    progress.hear(told(1), now_s=1)
    progress.hear(told(0), now_s=2)

    assert (progress.batch, progress.rows) == (1, 10)


def test_a_trigger_that_did_nothing_is_no_batch() -> None:
    progress = QueryProgress("q")
    progress.hear(told(0, durationMs={"latestOffset": 1}), now_s=0)

    assert (progress.state, progress.batch) == (STARTING, -1)


def test_silence_is_idleness() -> None:
    progress = QueryProgress("q")
    progress.hear(told(0), now_s=100)
    progress.pass_time(104)
    assert progress.state == RUNNING
    progress.pass_time(106)
    assert (progress.state, progress.rows_per_s) == (IDLE, 0.0)


def test_rows_that_came_too_late_are_told() -> None:
    progress = QueryProgress("q")
    progress.hear(told(0, stateOperators=[{"numRowsDroppedByWatermark": 2}]), now_s=0)

    assert "2 too late" in progress_line(progress.as_json())


def test_lag_is_over_all_partitions_and_never_negative() -> None:
    end = {"t": {"0": 5, "1": 9}}
    assert lag_of([{"endOffset": end, "latestOffset": {"t": {"0": 7, "1": 8, "2": 4}}}]) == 6


def test_offsets_may_come_as_text() -> None:
    assert lag_of([{"endOffset": '{"t": {"0": 1}}', "latestOffset": '{"t": {"0": 3}}'}]) == 2


def test_lag_is_unknown_where_the_source_does_not_tell() -> None:
    assert lag_of([{"endOffset": 5, "latestOffset": None}]) is None
    assert lag_of([{"endOffset": "not json", "latestOffset": "{}"}]) is None
    assert lag_of([]) is None


def test_a_line_says_it_all() -> None:
    progress = QueryProgress("orders-search")
    assert " ".join(progress_line(progress.as_json()).split()) == "orders-search starting waiting for Spark"
    progress.doing = "Initializing sources"
    assert (
        " ".join(progress_line(progress.as_json()).split()) == "orders-search starting Initializing sources"
    )
    progress.hear(told(1_234, rows=50_000), now_s=0)
    assert " ".join(progress_line(progress.as_json()).split()) == (
        "orders-search running batch 1,234 20 rows/s lag 3 0.4 s a batch 50,000 rows"
    )
