"""Is cost flat: in a log of 10 GB at offset 10⁸ as at offset 0, and with 10,000 partitions as with one?

one long log      small batches at its front, then 10 GB of large ones, then small batches again: produce and
                  fetch are timed, and the broker's CPU taken, at both ends
many partitions   how long a node with 10,000 of them takes to start, and what it burns while it waits

python benchmarks/flat.py [--only kafka] [--gigabytes 10] [--partitions 10000]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import lifecycle
import loads
import usage
from report import Report
from servers import KINDS, Server, available, create_topic, create_topics

SMALL = {"value_bytes": 92, "batch_bytes": 1 << 10}  # about ten records of 100 bytes
LARGE = {"value_bytes": 92, "batch_bytes": 1000 << 10}
SMALL_MB = 4
REQUESTS = 2000
TOPICS_AT_ONCE = 10


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--data", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    report = Report()
    for subject in available([arguments.only] if arguments.only else list(KINDS)):
        for part in (long_log, many_partitions):
            folder = Path(tempfile.mkdtemp(prefix="bench-flat-", dir=arguments.data))
            server = KINDS[subject](folder)
            try:
                part(server, report, arguments)
            finally:
                server.kill()
                shutil.rmtree(folder, ignore_errors=True)
    print(report.table())
    print(f"written to {report.write('flat')}")


def long_log(server: Server, report: Report, arguments: argparse.Namespace) -> None:
    server.start()
    create_topic(server, "warm")
    create_topic(server, "long", retention_ms="-1")
    place = {"way": "produce", "port": server.port}
    loads.run("stream", topic="warm", total_mb=SMALL_MB * 10, **place, **SMALL)
    end = int(loads.run("stream", topic="long", total_mb=SMALL_MB, **place, **SMALL)["records"])
    probe_ends(server, report, "offset 0", 0, end)
    filled = loads.run("stream", topic="long", total_mb=int(arguments.gigabytes * 1024), **place, **LARGE)
    first = end + REQUESTS + int(filled["records"])  # the first probe wrote a record a request
    last = first + int(loads.run("stream", topic="long", total_mb=SMALL_MB, **place, **SMALL)["records"])
    probe_ends(server, report, f"{arguments.gigabytes:g} GB on", first, last)
    print(f"{server.name}: the far end is offset {first:,}")


def probe_ends(server: Server, report: Report, label: str, first: int, last: int) -> None:
    """Small fetches between two offsets, then small produces at the end."""
    before = usage.cpu_seconds(server.pid)
    place = {"port": server.port, "topic": "long", "first": first, "last": last}
    found = loads.run("places", count=REQUESTS * 10, **place)
    used = usage.cpu_seconds(server.pid) - before
    report.add(server.name, f"fetch p50, {label}", found["p50"], "us", "lower")
    report.add(server.name, f"fetch p99, {label}", found["p99"], "us", "lower")
    report.add(server.name, f"CPU a fetch, {label}", used / REQUESTS / 10 * 1e6, "us", "lower")
    found = loads.run("pace", port=server.port, topic="long", seconds=REQUESTS / 1000)
    report.add(server.name, f"produce p50, {label}", found["p50"], "us", "lower")
    report.add(server.name, f"produce p99, {label}", found["p99"], "us", "lower")


def many_partitions(server: Server, report: Report, arguments: argparse.Namespace) -> None:
    server.start()
    each, began = 100, time.perf_counter()
    names = [f"t{number}" for number in range(arguments.partitions // each)]
    for first in range(0, len(names), TOPICS_AT_ONCE):
        create_topics(server, dict.fromkeys(names[first : first + TOPICS_AT_ONCE], each), {})
    label = f"{arguments.partitions:,} partitions"
    report.add(server.name, f"create {label}", time.perf_counter() - began, "s", "lower")
    server.stop()
    report.add(server.name, f"start with {label}", lifecycle.start(server), "s", "lower")
    memory, share = lifecycle.idle(server, 10.0)
    report.add(server.name, f"memory, {label}", memory, "MB", "lower")
    report.add(server.name, f"CPU idle, {label}", share * 100, "% of a core", "lower")
    server.kill()
    report.add(server.name, f"start after kill -9, {label}", lifecycle.start(server), "s", "lower")


if __name__ == "__main__":
    main()
