"""Time one thing and print one line that can be compared with another month's."""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any


def measure(name: str, once: Callable[[], int], *, unit: str, rounds: int = 7) -> None:
    """Call `once` in rounds (it returns how many units it did) and print the rate."""
    once()  # compiles, warms caches; not counted
    rates = sorted(_rate(once) for _ in range(rounds))
    _print(name, unit=f"{unit}/s", median=round(statistics.median(rates)), worst=round(rates[0]))


def compare(
    name: str, once: Callable[[], int], other: Callable[[], int], *, unit: str, rounds: int = 41
) -> None:
    """Time two ways to do the same, turn by turn, and print CPU microseconds a unit and their ratio.

    Turns and CPU time, because on a machine that others use too the clock on the wall
    says more about the neighbours than about a difference of ten percent.
    """
    once(), other()
    pairs = [(_cpu_us(once), _cpu_us(other)) for _ in range(rounds)]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(one / two for one, two in pairs)
    _print(name, unit=f"CPU us/{unit}", median=round(ours, 2), other=round(theirs, 2), ratio=round(ratio, 2))


def _rate(once: Callable[[], int]) -> float:
    started = time.perf_counter()
    done = once()
    return done / (time.perf_counter() - started)


def _cpu_us(once: Callable[[], int]) -> float:
    started = time.process_time()
    done = once()
    return (time.process_time() - started) / done * 1e6


def _print(name: str, **figures: Any) -> None:
    where = {"python": platform.python_version(), "machine": platform.machine(), "commit": commit()}
    print(json.dumps({"bench": name, **figures, **where}), flush=True)


def commit() -> str:
    """The commit measured, as far as git knows it."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "none"
