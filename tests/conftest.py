"""What holds for the suite as a whole: in which order it runs, and that what is compiled is kept.

Each of its processes (pytest-xdist, `--dist worksteal`) is given a row of what was collected, and takes from the end of
another's when its own is done. So the order is the schedule:

    process 1    Spark        ┐ what starts servers and JVMs for many tests at once has a process to itself, as far as
    process 2    pipelines …  ├ there are so many, and starts them once; of these, what takes long comes first
    process 3    clients …    ┘
    all          the rest, short and without anything to start: this is what is left over, and taken, in the end
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

# A suite starts thousands of Pythons: each would compile all of this anew, where the environment asks for no bytecode.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What is collected is a million objects that stay: looking through them for garbage, again and again, takes seconds.
gc.disable()

ROOT = Path(__file__).parents[1]
SHARES = (
    ("tests/spark",),
    ("pipelines", "tests/installed", "tests/cli", "tests/pages", "tests/simulation"),
    ("tests/compat", "tests/edge", "tests/robustness"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    processes: int = getattr(config, "workerinput", {}).get("workercount", 1)
    shares: list[list[tuple[bool, int, pytest.Item]]] = [[] for _ in range(processes)]
    rest: list[pytest.Item] = []
    for item in items:
        at = _place(item.path.relative_to(ROOT))
        if at is None:
            rest.append(item)
        else:
            shares[at[0] % processes].append((item.get_closest_marker("slow") is None, at[1], item))
    count = len(items)
    items.clear()
    for number, share in enumerate(shares):
        share.sort(key=lambda each: each[:2])
        items += [item for _, _, item in share]
        missing = max(0, count * (number + 1) // processes - len(items))
        items += rest[:missing]
        del rest[:missing]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def _place(path: Path) -> tuple[int, int] | None:
    """Whose share a file is of, and where in it."""
    for number, folders in enumerate(SHARES):
        for at, folder in enumerate(folders):
            if path.is_relative_to(folder):
                return number, at
    return None
