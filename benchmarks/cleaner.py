"""Does the log cleaner stall those who write?

A small record is written every millisecond to one topic while another topic takes the same keys over and
over. In the first run that other topic is a plain one; in the second it is compacted, with a cleaner that has
something to do all the time. The cleaner costs what the second run's p99 has more than the first's; that it
did clean is seen from what the folder holds in the end.

    python benchmarks/cleaner.py [--only kafka] [--seconds 20]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import loads
from report import Report
from servers import KINDS, Server, available, create_topic

MB = 1 << 20
WARM_UP_S = 5
SETTINGS = {"log.cleaner.backoff.ms": "100"}
COMPACT = {"cleanup_policy": "compact", "min_cleanable_dirty_ratio": "0.01", "segment_bytes": str(4 * MB)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=20.0, help="MB/s into the other topic")
    arguments = parser.parse_args()
    report = Report()
    for subject in available([arguments.only] if arguments.only else list(KINDS)):
        play(subject, report, arguments.seconds, arguments.rate)
    print(report.table())
    print(f"written to {report.write('cleaner')}")


def play(subject: str, report: Report, seconds: float, rate: float) -> None:
    folder = tempfile.mkdtemp(prefix="bench-cleaner-")
    try:
        with KINDS[subject](folder, settings=SETTINGS) as server:
            measure(server, report, seconds, rate)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(server: Server, report: Report, seconds: float, rate: float) -> None:
    create_topic(server, "small")
    loads.run("pace", port=server.port, topic="small", seconds=WARM_UP_S)
    create_topic(server, "plain", segment_bytes=COMPACT["segment_bytes"])
    create_topic(server, "compacted", 1, **COMPACT)
    for topic, label in (("plain", "no cleaner at work"), ("compacted", "cleaner at work")):
        other = loads.begin("churn", port=server.port, topic=topic, seconds=seconds, mb_per_s=rate)
        found = loads.run("pace", port=server.port, topic="small", seconds=seconds)
        written = loads.end(other)
        for share in ("p50", "p99", "p99.9"):
            report.add(server.name, f"produce {share}, {label}", found[share], "us", "lower")
        kept = size_mb(server.data / f"{topic}-0")
        report.add(server.name, f"kept of {topic}", kept / written["mb"] * 100, "%", "lower")


def size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.glob("*.log")) / MB


if __name__ == "__main__":
    main()
