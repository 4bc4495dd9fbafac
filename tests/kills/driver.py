"""A program that runs jobs in one Spark session, and is killed while it does.

    python -m kills.driver FOLDER

Each job runs until everybody was killed whose turn it was in its course; a query that fails is started again. When
nobody is left to kill it waits for the end of the input, and runs every job to the end.

Whoever starts this keeps starting it until it ends by itself.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kills.cells import Plan
from kills.jobs import Stage
from kills.striking import ROOT

FAILURES_MAX = 10
ALL_ROWS = 10_000_000
FIRED, INPUT_DONE = "all-fired", "input-done"


def main(folder: str) -> None:
    """Run the jobs that the folder's stage.json names."""
    os.environ[ROOT] = str(os.getpid())
    with open(f"{folder}/stage.json", encoding="utf-8") as file:
        told = json.load(file)
    from andiron.spark import session

    settings: dict[str, Any] = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": 2}
    spark = session("kills", master="local[2,4]", **settings)
    stages = {name: Stage(**stage) for name, stage in told["stages"].items()}
    plan = Plan(folder)

    def start(name: str, stage: Stage, **trigger: Any) -> Any:
        _write(f"{folder}/job", name)
        writer = _named(told["jobs"][name])(spark, stage)
        return writer.option("checkpointLocation", stage.checkpoint).trigger(**trigger).start()

    for name, stage in stages.items():
        _until(
            lambda name=name: plan.left(name) == 0,
            lambda name=name, stage=stage: start(name, stage, processingTime="0 seconds"),
        )
    _write(f"{folder}/{FIRED}", "")
    while not os.path.exists(f"{folder}/{INPUT_DONE}"):
        time.sleep(0.05)
    for name, stage in stages.items():
        whole = replace(stage, rows_per_batch=ALL_ROWS)
        _until(lambda: False, lambda name=name, whole=whole: start(name, whole, availableNow=True))
    spark.stop()


def _until(enough: Callable[[], bool], start: Callable[[], Any]) -> None:
    """Run a query until it is enough, or it comes to its end; start it again if it fails."""
    failures = 0
    while not enough():
        query = start()
        try:
            while not query.awaitTermination(0.1) and not enough():
                pass
            if query.isActive:
                query.stop()
            elif query.exception() is None:
                return
        except Exception:
            traceback.print_exc()
            failures += 1
            if failures > FAILURES_MAX:
                raise


def _named(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def _write(path: str, text: str) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


if __name__ == "__main__":
    main(sys.argv[1])
