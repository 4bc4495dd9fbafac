"""Is Andiron ahead of Apache Kafka on this machine, and how far from what the machine can do?

Both are started on fresh folders, one after the other and never together, in rounds that take turns; the same
loads are put on both by the same programs (loads/). A row of the table is the median of the rounds.

    python benchmarks/compare.py            about 15 minutes, three rounds
    python benchmarks/compare.py --quick    about 2 minutes, one short round
    … --only andiron                        without the other
    … --rows stream,crowd                   some kinds of load: stream, rdkafka, crowd, latency, recovery

Kafka runs with the JVM options of its start script and is given some seconds of load before anything counts,
because its compiler needs them. Rates are under the influence of whoever else uses the machine; CPU seconds
per gigabyte are less so.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import lifecycle
import limits
import loads
import usage
from report import Report
from servers import KINDS, Server, available, create_topic

MB = 1 << 20
CELLS = [(100, 16 << 10), (100, 1000 << 10), (1000, 16 << 10), (1000, 1000 << 10)]
KINDS_OF_LOAD = ["stream", "rdkafka", "crowd", "latency", "recovery"]


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    rounds: int
    warm_mb: int
    stream_mb: int
    client_mb: int
    crowd_s: float
    samples: int
    recovery_mb: int
    idle_s: float
    limit_s: float


FULL = Scale(3, 1000, 2000, 400, 6, 10_000, 1500, 5, 3)
QUICK = Scale(1, 300, 400, 60, 2, 2000, 400, 2, 1)


class Round:
    """Everything asked of one server from its first start to its death."""

    def __init__(self, server: Server, scale: Scale, report: Report, rows: list[str]) -> None:
        self.server = server
        self.scale = scale
        self.report = report
        self.rows = rows

    def run(self) -> None:
        self.add("start", lifecycle.start(self.server), "s", "lower")
        memory, share = lifecycle.idle(self.server, self.scale.idle_s)
        self.add("memory, idle", memory, "MB", "lower")
        self.add("CPU, idle", share * 100, "% of a core", "lower")
        self.warm_up()
        for kind in KINDS_OF_LOAD[:-1]:
            if kind in self.rows:
                getattr(self, kind)()
        self.add("memory, most", usage.peak_mb(self.server.pid), "MB", "lower")
        if "recovery" in self.rows:
            self.recovery()

    def add(self, name: str, value: float, unit: str, better: str) -> None:
        self.report.add(self.server.name, name, value, unit, better)

    def warm_up(self) -> None:
        create_topic(self.server, "warm")
        place = {"port": self.server.port, "topic": "warm", "value_bytes": 100, "batch_bytes": 16 << 10}
        for way in ("produce", "consume"):
            loads.run("stream", way=way, total_mb=self.scale.warm_mb, **place)

    def stream(self) -> None:
        self._cells("stream", "raw", self.scale.stream_mb)
        create_topic(self.server, "abreast", partitions=4)
        place = {"port": self.server.port, "topic": "abreast", "value_bytes": 1000, "batch_bytes": 16 << 10}
        result = loads.run("stream", way="produce", total_mb=self.scale.stream_mb, connections=4, **place)
        name = "produce, raw, 1000 B in 16 KB, 4 connections"
        self.add(name, result["mb"] / result["seconds"], "MB/s", "higher")

    def rdkafka(self) -> None:
        self._cells("rdkafka", "librdkafka", self.scale.client_mb)

    def _cells(self, load: str, label: str, total_mb: int) -> None:
        """Produce and consume at each size of value and batch."""
        for value, batch in CELLS:
            topic = f"{load}-{value}-{batch}"
            create_topic(self.server, topic)
            for way in ("produce", "consume"):
                before = usage.cpu_seconds(self.server.pid)
                place = {"port": self.server.port, "topic": topic, "value_bytes": value, "batch_bytes": batch}
                result = loads.run(load, way=way, total_mb=total_mb, **place)
                used = usage.cpu_seconds(self.server.pid) - before
                name = f"{way}, {label}, {value} B in {batch >> 10} KB"
                self.add(name, result["mb"] / result["seconds"], "MB/s", "higher")
                self.add(f"CPU, {name}", used / result["mb"] * 1024, "s/GB", "lower")

    def crowd(self) -> None:
        create_topic(self.server, "crowd", partitions=10)
        for connections in (1, 100, 1000):
            place = {"port": self.server.port, "topic": "crowd"}
            result = loads.run("crowd", connections=connections, seconds=self.scale.crowd_s, **place)
            name = f"{connections} connection{'s' * (connections > 1)}"
            self.add(f"requests, {name}", result["requests"] / result["seconds"], "1/s", "higher")
            self.add(f"request p99, {name}", result["p99"], "us", "lower")

    def latency(self) -> None:
        create_topic(self.server, "latency")
        result = loads.run("latency", port=self.server.port, topic="latency", samples=self.scale.samples)
        for share in ("p50", "p99", "p99.9"):
            self.add(f"produce to consume {share}", result[share], "us", "lower")

    def recovery(self) -> None:
        result = lifecycle.recover(self.server, self.scale.recovery_mb)
        size = f"{self.scale.recovery_mb} MB after kill -9"
        self.add(f"serving {size}", result["seconds"], "s", "lower")
        self.add(f"loading {size}", result["logs_seconds"], "s", "lower")


def main() -> None:
    arguments = parse()
    scale = QUICK if arguments.quick else FULL
    subjects = available(["kafka", "andiron"] if arguments.only is None else [arguments.only])
    report = Report()
    ceilings = []
    for number in range(scale.rounds):
        ceilings.append(limits.measure(arguments.data, scale.limit_s))
        for subject in subjects if number % 2 == 0 else subjects[::-1]:
            print(f"round {number + 1} of {scale.rounds}: {subject}", flush=True)
            play(subject, scale, report, arguments.rows.split(","), arguments.data)
    bound(report, {name: statistics.median(each[name] for each in ceilings) for name in ceilings[0]})
    print(report.table())
    print(f"written to {report.write('compare')}")


def play(subject: str, scale: Scale, report: Report, rows: list[str], data: str) -> None:
    """One round of one subject in a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"bench-{subject}-", dir=data))
    server = KINDS[subject](folder)
    try:
        Round(server, scale, report, rows).run()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def bound(report: Report, found: dict[str, float]) -> None:
    """Set the machine's limits beside the rows they bound."""
    for value, batch in CELLS:
        for way in ("produce", "consume"):
            report.bound(f"{way}, raw, {value} B in {batch >> 10} KB", found["loopback MB/s"])
    report.bound("produce to consume p50", found["echo us"])
    report.bound("requests, 1 connection", 1e6 / found["echo us"])
    report.bound("start", found["python start s"])
    for name, figure in found.items():
        print(f"this machine: {name:22} {figure:12,.3f}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", choices=list(KINDS), help="measure one of the two")
    parser.add_argument("--rows", default=",".join(KINDS_OF_LOAD), help="kinds of load, with commas")
    parser.add_argument("--data", default=tempfile.gettempdir(), help="where the servers keep their data")
    return parser.parse_args()


if __name__ == "__main__":
    main()
