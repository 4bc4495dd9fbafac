"""A Python worker of Spark's, made to cost less between its tasks.

    task ─▶ gc.collect() ─▶ task ─▶ gc.collect() ─▶ …        pyspark/daemon.py, where workers are used again

Spark walks through all objects of the process after every task. With pyspark, pyarrow and numpy loaded these are some
hundred thousand, and take it longer (45 ms were measured) than a small task takes altogether. Nearly all of them stay
until the process ends; so once a first task has loaded them, they are put aside where the walk does not go.
"""

from __future__ import annotations

import gc

_tasks: dict[str, int] = {}  # begun in this process, by what they do


def begin_task(kind: str) -> None:
    """Say that a task begins. The second of its kind finds everything loaded, and the first one's garbage gone."""
    _tasks[kind] = _tasks.get(kind, 0) + 1
    if _tasks[kind] == 2:
        gc.freeze()
