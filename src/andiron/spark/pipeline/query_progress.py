"""How a query is doing, in numbers a person can use: rate, lag, time of a batch.

Spark tells of every batch that did something, and of an idle query every ten seconds. So silence means that
there was nothing to do, and the rate of a batch long gone is no rate.

    search          starting   Initializing sources
    analytics       running    batch 41    1,204 rows/s    lag 312    0.6 s a batch    96,113 rows

Lag is counted in offsets, from where the last batch ended to the end of the log as Spark knew it then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

QUIET_S = 5.0  # after this long without a batch a query is idle
STARTING, RUNNING, IDLE, STOPPED, FAILED = "starting", "running", "idle", "stopped", "failed"

Offsets = Mapping[str, Mapping[str, int]]


@dataclass(slots=True)
class QueryProgress:
    """How one query is doing, by what Spark has reported of its batches."""

    name: str
    state: str = STARTING
    doing: str = ""  # until its first batch is done: what Spark says that it does
    batch: int = -1
    rows: int = 0  # of all batches of this run
    rows_per_s: float = 0.0
    lag: int | None = None
    batch_ms: int = 0
    late_rows: int = 0  # came after their window was closed, and are not in it
    _heard_s: float = 0.0

    def hear(self, told: Mapping[str, Any], now_s: float) -> None:
        """Take in one batch's progress, in the order of batches."""
        durations = told.get("durationMs") or {}
        batch, rows = int(told["batchId"]), int(told.get("numInputRows") or 0)
        if batch < self.batch or "addBatch" not in durations:
            return  # heard before, or nothing was done
        if batch > self.batch:
            self.rows += rows
            self.late_rows += sum(
                int(each.get("numRowsDroppedByWatermark") or 0) for each in told.get("stateOperators") or ()
            )
            self._heard_s = now_s
        self.batch, self.state = batch, RUNNING
        self.rows_per_s = float(told.get("inputRowsPerSecond") or 0.0)
        self.batch_ms = int(durations.get("triggerExecution") or 0)
        self.lag = lag_of(told.get("sources") or ())

    def pass_time(self, now_s: float) -> None:
        """Note that nothing has been heard for a while."""
        if self.state == RUNNING and now_s - self._heard_s > QUIET_S + self.batch_ms / 1000:
            self.state, self.rows_per_s = IDLE, 0.0

    def as_json(self) -> dict[str, Any]:
        """The progress as the file of the run has it."""
        return {key: value for key, value in asdict(self).items() if not key.startswith("_")}


def lag_of(sources: Iterable[Mapping[str, Any]]) -> int | None:
    """How many offsets lie between the ends of the sources and the ends of their logs; None if not told."""
    total: int | None = None
    for source in sources:
        end, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
        if end is None or latest is None:
            continue
        behind = (
            offset - end.get(topic, {}).get(partition, 0)
            for topic, partitions in latest.items()
            for partition, offset in partitions.items()
        )
        total = (total or 0) + sum(max(0, each) for each in behind)
    return total


def _offsets(told: Any) -> Offsets | None:
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except ValueError:
            return None
    if not isinstance(told, dict) or not all(isinstance(each, dict) for each in told.values()):
        return None
    return told


def progress_line(told: Mapping[str, Any]) -> str:
    """One query in one line, from its JSON."""
    if told["state"] == STARTING:
        return f"{told['name']:<24} {STARTING:<9} {told.get('doing') or 'waiting for Spark'}"
    lag = "-" if told["lag"] is None else f"{told['lag']:,}"
    batch = "-" if told["batch"] < 0 else f"{told['batch']:,}"
    late = f"    {told['late_rows']:,} too late" if told["late_rows"] else ""
    return (
        f"{told['name']:<24} {told['state']:<9} batch {batch:>5}  {told['rows_per_s']:>9,.0f} rows/s  lag {lag:>9}"
        f"  {told['batch_ms'] / 1000:>5.1f} s a batch  {told['rows']:>11,} rows{late}"
    )
