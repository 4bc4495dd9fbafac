"""Load, each kind a program of its own, so that what it costs is not charged to the server or to the watcher.

`run("latency", port=…, samples=1000)` starts `python -m loads.latency '{"port": …}'` and returns the one line
of JSON that it prints. The raw loads send frames that were built beforehand over plain sockets: a client in
Python that builds records would be the slowest part of what it measures. Even so a small request costs Python more than
a broker: how fast a broker is, generator/ asks, in C.

    stream.py   produce and consume as fast as one connection goes   rdkafka.py  the same by librdkafka
    crowd.py    one request again and again, for commits.py          latency.py  one record there and back
    pace.py     one small record every millisecond                   churn.py    the same keys over and over
    places.py   small fetches at chosen offsets                      commits.py  offset commits
    offsets.py  a great many offsets, for a coordinator to load      members.py  members of a group with diaries
    trickle.py  a record to every partition at a steady pace         transactions.py  by librdkafka and Java
    replicated.py  there and back with acks=all, by librdkafka       steady.py   at a rate: how long until an ack
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]


def begin(load: str, **arguments: Any) -> subprocess.Popen[str]:
    """Start a load in a process of its own."""
    paths = os.pathsep.join([str(HERE), str(HERE.parent / "tests")])
    command = [sys.executable, "-m", f"loads.{load}", json.dumps(arguments)]
    return subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True
    )


def end(process: subprocess.Popen[str]) -> dict[str, float]:
    """Wait for a load; return what it found. It does not outlive whoever waits."""
    try:
        printed, _ = process.communicate()
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise RuntimeError(f"the load {process.args!r} failed")
    result: dict[str, float] = json.loads(printed)
    return result


def run(load: str, **arguments: Any) -> dict[str, float]:
    """Run a load to its end."""
    return end(begin(load, **arguments))


def answer(load: Callable[..., dict[str, float]]) -> None:
    """The other end: what a load's module does when it is run."""
    result = load(**json.loads(sys.argv[1]))
    times = os.times()
    print(json.dumps({**result, "client_cpu": times.user + times.system}))


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Median and tail in microseconds."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return {
        "p50": ordered[last // 2] * 1e6,
        "p99": ordered[int(last * 0.99)] * 1e6,
        "p99.9": ordered[int(last * 0.999)] * 1e6,
    }
