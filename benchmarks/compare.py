"""Is Andiron ahead of Apache Kafka on this machine, and how far from what the machine can do?

Both are started on fresh folders, one after the other and never together, in rounds that take turns; the same
loads are put on both by the same programs. A row of the table is the median of the rounds.

    python benchmarks/compare.py            about 20 minutes, three rounds
    python benchmarks/compare.py --quick    about 4 minutes, one short round
    … --only andiron                        without the other
    … --rows stream,crowd                   some kinds of load

stream    batches of 16 KB and 1 MB, fetches of 64 KB, 1 MB and 4 MB, over one connection and four    generator/
crowd     small requests over 1 to 1000 connections, and beside idle ones                             generator/
rdkafka   produce and consume by librdkafka                                                           loads/
latency   one record from producer to consumer                                                        loads/
recovery  a start after kill -9                                                                       lifecycle.py

What the generator's rows cost the broker is beside them, per GB or per million requests. A row in which the
generator itself took more than 0.8 of a core is marked. Before each the page cache is brought to the disk, and none
writes so much that the kernel would begin to write it back: what the disk decides is not in them.

Kafka runs with the JVM options of its start script and is given some seconds of load before anything counts,
because its compiler needs them. Rates are under the influence of whoever else uses the machine; CPU seconds
per gigabyte are less so.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import generator
import lifecycle
import limits
import loads
import usage
from report import Report
from servers import KINDS, Server, available, create_topic

MB = 1 << 20
CELLS = [(100, 16 << 10), (100, 1000 << 10), (1000, 16 << 10), (1000, 1000 << 10)]
FETCHES = [64 << 10, 1 << 20, 4 << 20]
CROWDS = [
    (1, 1, 0),
    (10, 5, 0),
    (100, 1, 0),
    (1000, 1, 0),
    (10, 1, 0),
    (10, 1, 1000),
]  # each: in flight; idle beside them
ABREAST = 4  # connections, each with a partition of its own
OF_GENERATOR = ["stream", "crowd"]
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
        total = min(self.scale.stream_mb, limits.unthrottled_mb()) * MB
        for value, batch in CELLS:
            topic, shape = f"raw-{value}-{batch}", f"raw, {value} B in {batch >> 10} KB"
            create_topic(self.server, topic, partitions=ABREAST)
            sizes = {"record_bytes": value, "batch_bytes": batch, "bytes": total, "in_flight": 8}
            for connections in (1, ABREAST):
                place = {"topic": topic, "connections": connections}
                self._flow(f"produce, {shape}{_over(connections)}", "produce", seconds=60, **place, **sizes)
            for most in FETCHES if (value, batch) in (CELLS[0], CELLS[-1]) else [MB]:
                each = "" if most == MB else f", {most >> 10} KB a fetch"
                for connections in (1, ABREAST):
                    place = {"topic": topic, "connections": connections}
                    name = f"consume, {shape}{each}{_over(connections)}"
                    self._flow(name, "fetch", seconds=self.scale.crowd_s, max_bytes=most, **place)

    def _flow(self, name: str, mode: str, **shape: float | str) -> None:
        found, used = self._generate(mode, **shape)
        self.add(name, found.mb_s, "MB/s", "higher")
        self.add(f"CPU, {name}", used / (found.bytes / MB) * 1024, "s/GB", "lower")
        self._mark(name, found)

    def crowd(self) -> None:
        create_topic(self.server, "crowd", partitions=10)
        for connections, in_flight, idle in CROWDS:
            crowd = f"{connections} connection{'s' * (connections > 1)}"
            crowd += f", {in_flight} in flight" * (in_flight > 1) + f", {idle} idle beside them" * (idle > 0)
            shape = {"connections": connections, "in_flight": in_flight, "idle": idle}
            small = {"record_bytes": 100, "batch_bytes": 0, "seconds": self.scale.crowd_s}
            found, used = self._generate("produce", topic="crowd", **shape, **small)
            self.add(f"requests, {crowd}", found.rate, "1/s", "higher")
            self.add(f"request p99, {crowd}", found.latency["p99"], "us", "lower")
            self.add(f"request p99.9, {crowd}", found.latency["p99.9"], "us", "lower")
            self.add(f"CPU, requests, {crowd}", used / found.requests * 1e6, "s/million", "lower")
            self._mark(f"requests, {crowd}", found)

    def _generate(self, mode: str, **shape: float | str) -> tuple[generator.Found, float]:
        """A load by the generator, and the CPU seconds that the server took for it."""
        with generator.begin(mode, port=self.server.port, **shape) as load:
            os.sync()
            before = usage.cpu_seconds(self.server.pid)
            found = load.go()
            used = usage.cpu_seconds(self.server.pid) - before
        return found, used

    def _mark(self, name: str, found: generator.Found) -> None:
        if found.was_the_limit:
            self.report.mark(name)

    def rdkafka(self) -> None:
        """Produce and consume at each size of value and batch."""
        for value, batch in CELLS:
            topic = f"rdkafka-{value}-{batch}"
            create_topic(self.server, topic)
            for way in ("produce", "consume"):
                before = usage.cpu_seconds(self.server.pid)
                place = {"port": self.server.port, "topic": topic, "value_bytes": value, "batch_bytes": batch}
                result = loads.run("rdkafka", way=way, total_mb=self.scale.client_mb, **place)
                used = usage.cpu_seconds(self.server.pid) - before
                name = f"{way}, librdkafka, {value} B in {batch >> 10} KB"
                self.add(name, result["mb"] / result["seconds"], "MB/s", "higher")
                self.add(f"CPU, {name}", used / result["mb"] * 1024, "s/GB", "lower")

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
    rows = possible(arguments.rows.split(","))
    report = Report()
    ceilings = []
    for number in range(scale.rounds):
        ceilings.append(limits.measure(arguments.data, scale.limit_s))
        for subject in subjects if number % 2 == 0 else subjects[::-1]:
            print(f"round {number + 1} of {scale.rounds}: {subject}", flush=True)
            play(subject, scale, report, rows, arguments.data)
    bound(report, {name: statistics.median(each[name] for each in ceilings) for name in ceilings[0]})
    print(report.table())
    print(f"written to {report.write('compare')}")


def possible(rows: list[str]) -> list[str]:
    """Those of the rows that this machine can measure; why others cannot be is printed."""
    try:
        generator.build()
    except generator.NoCompiler as why:
        print(f"without {', '.join(OF_GENERATOR)}: {why}")
        return [row for row in rows if row not in OF_GENERATOR]
    return rows


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
    for name in [name for name in report.rows if name.startswith(("produce, raw", "consume, raw"))]:
        report.bound(name, found["loopback MB/s"])
    report.bound("produce to consume p50", found["echo us"])
    report.bound("requests, 1 connection", 1e6 / found["echo us"])
    report.bound("start", found["python start s"])
    for name, figure in found.items():
        print(f"this machine: {name:22} {figure:12,.3f}")


def _over(connections: int) -> str:
    return f", {connections} connections" if connections > 1 else ""


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
