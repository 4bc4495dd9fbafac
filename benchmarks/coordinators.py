"""What do groups, commits and transactions cost here and in Apache Kafka?

Both are started on fresh folders, one after the other and never together, in rounds that take turns; the same
clients ask the same of both. A row of the table is the median of the rounds.

    python benchmarks/coordinators.py            about 45 minutes, three rounds
    python benchmarks/coordinators.py --quick    about 8 minutes, one short round
    … --only andiron                             without the other
    … --rows commits,loading                     some of: rebalance, commits, transactions, loading
    … --heartbeat-ms 3000                        as slow as the clients' default

rebalance     ten librdkafka members, 100 and 900 partitions: how long partitions stand still when a member
              joins, leaves, crashes (rebalance.py). Members learn of a rebalance by their heartbeats, so these
              are what they wait for most: every 500 ms here, with a session timeout of 6.25 s, in the classic
              protocol and in the new one; all else is Kafka's default
commits       OffsetCommit of one partition: raw frames over 1 and 16 connections, and librdkafka
transactions  of 1 to 1000 records of 100 bytes, in one partition and ten, with a group's offsets and without:
              by librdkafka (the classic way) and by the Java client (transaction version 2)
loading       100,000 committed offsets, all in one partition of `__consumer_offsets` or spread over its 50: how
              much later than without them a restarted node serves the last of them
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import lifecycle
import loads
import rebalance
import usage
from loads import asking, offsets
from rebalance import PROTOCOLS, DoesNotSettle, Pause
from report import Report
from servers import KINDS, Closed, Raw, Server, available, create_topic

SIZES = (1, 10, 100, 1000)
CELLS = [  # client, partitions, with offsets
    ("librdkafka", 1, False),
    ("librdkafka", 1, True),
    ("librdkafka", 10, False),
    ("librdkafka", 10, True),
    ("java", 1, False),
    ("java", 10, True),
]


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    rounds: int
    partitions: tuple[int, ...]
    warm_s: float
    commits_s: float
    transactions_s: float
    restarts: int


FULL = Scale(3, (100, 900), 15, 5, 3, 3)
QUICK = Scale(1, (100,), 3, 2, 1, 1)


class Restart(NamedTuple):
    """Seconds from a launch until offsets are served, those of them after the first answer, and of CPU."""

    elapsed: float
    waited: float
    cpu: float


class Part:
    """One kind of row, asked of a server that is there for it alone."""

    def __init__(self, server: Server, scale: Scale, report: Report, heartbeat_ms: int) -> None:
        self.server = server
        self.scale = scale
        self.report = report
        self.heartbeat_ms = heartbeat_ms

    def add(self, name: str, value: float, unit: str, better: str) -> None:
        self.report.add(self.server.name, name, value, unit, better)

    def peak(self, part: str) -> None:
        self.add(f"memory, most, {part}", usage.peak_mb(self.server.pid), "MB", "lower")

    # ── rebalance ────────────────────────────────────────────────────────────────────

    def rebalance(self) -> None:
        find_coordinators(self.server)
        for partitions in self.scale.partitions:
            for protocol in PROTOCOLS:
                try:
                    self.story(partitions, protocol)
                except DoesNotSettle as why:
                    print(why)
        self.peak("rebalances")

    def story(self, partitions: int, protocol: str) -> None:
        before = usage.cpu_seconds(self.server.pid)
        pauses = rebalance.play(self.server, partitions, protocol, self.heartbeat_ms)
        used = usage.cpu_seconds(self.server.pid) - before
        for pause in pauses:
            self.pause(f"{pause.event}, {protocol}, {partitions}", pause)
        self.add(f"CPU, all of {protocol}, {partitions}", used, "s", "lower")

    def pause(self, name: str, pause: Pause) -> None:
        self.add(f"{name}: pause p50", pause.median * 1e3, "ms", "lower")
        self.add(f"{name}: pause, worst", pause.worst * 1e3, "ms", "lower")
        self.add(f"{name}: paused", pause.paused, "partitions", "lower")
        if pause.first_record is not None:
            self.add(f"{name}: newcomer's first record", pause.first_record * 1e3, "ms", "lower")
        if pause.missed is not None:
            self.add(f"{name}: until missed", (pause.missed - pause.began) * 1e3, "ms", "lower")
            self.add(f"{name}: worst after that", max(pause.after_missed) * 1e3, "ms", "lower")

    # ── commits ──────────────────────────────────────────────────────────────────────

    def commits(self) -> None:
        find_coordinators(self.server)
        create_topic(self.server, "commits")
        place = {"port": self.server.port, "topic": "commits"}
        loads.run("commits", way="raw", connections=16, seconds=self.scale.warm_s, **place)
        for connections in (1, 16):
            self.rate(f"commits, raw, {connections} in flight", way="raw", connections=connections, **place)
        self.rate("commits, librdkafka, waiting for each", way="client", **place)
        self.peak("commits")

    def rate(self, name: str, **arguments: Any) -> None:
        before = usage.cpu_seconds(self.server.pid)
        found = loads.run("commits", seconds=self.scale.commits_s, **arguments)
        used = usage.cpu_seconds(self.server.pid) - before
        self.add(name, found["commits"] / found["seconds"], "1/s", "higher")
        self.add(f"{name}: p99", found["p99"], "us", "lower")
        self.add(f"{name}: CPU", used / found["commits"] * 1e6, "us", "lower")

    # ── transactions ─────────────────────────────────────────────────────────────────

    def transactions(self) -> None:
        find_coordinators(self.server)
        self.transact("warm-1", "librdkafka", 1, 1, False, self.scale.warm_s)
        self.transact("warm-10", "librdkafka", 10, 10, True, self.scale.warm_s)
        for client, partitions, with_offsets in CELLS:
            for size in SIZES:
                topic = f"{client}-{size}-{partitions}-{with_offsets}".lower()
                before = usage.cpu_seconds(self.server.pid)
                found = self.transact(
                    topic, client, size, partitions, with_offsets, self.scale.transactions_s
                )
                used = usage.cpu_seconds(self.server.pid) - before
                name = f"txn, {client}, {size} in {partitions}{', offsets' * with_offsets}"
                self.add(name, found["transactions"] / found["seconds"], "1/s", "higher")
                self.add(f"{name}: CPU", used / found["of_all"] * 1e6, "us", "lower")
        self.peak("transactions")

    def transact(
        self, topic: str, client: str, size: int, partitions: int, with_offsets: bool, seconds: float
    ) -> dict[str, float]:
        create_topic(self.server, topic, partitions=partitions)
        shape = {"records": size, "partitions": partitions, "offsets": with_offsets}
        place = {"port": self.server.port, "topic": topic}
        return loads.run("transactions", client=client, seconds=seconds, **place, **shape)

    # ── loading ──────────────────────────────────────────────────────────────────────

    def loading(self) -> None:
        find_coordinators(self.server)
        create_topic(self.server, "many", partitions=offsets.PARTITIONS)
        place = {"port": self.server.port, "topic": "many"}
        few = offsets.names("few", 1, together=True)
        loads.run("offsets", label="few", groups=1, together=True, **place)
        before = self.serves_again(few)
        self.add("restart until 100 offsets are served", before.elapsed, "s", "lower")
        for label, together in (("one", True), ("spread", False)):
            loads.run("offsets", label=label, groups=GROUPS, together=together, **place)
            after = self.serves_again(offsets.names(label, GROUPS, together=together))
            name = "100,000 offsets, 1 partition" if together else "100,000 more, 50 partitions"
            self.add(f"restart, {name}", after.elapsed, "s", "lower")
            self.add(f"loading {name}", max(after.elapsed - before.elapsed, 0.0), "s", "lower")
            self.add(f"loading {name}: CPU", max(after.cpu - before.cpu, 0.0), "s", "lower")
            self.add(f"loading {name}: clients wait", after.waited, "s", "lower")
            before = after
        self.peak("200,000 offsets")

    def serves_again(self, groups: list[str]) -> Restart:
        """The medians of some restarts."""
        restarts = [self.restart(groups) for _ in range(self.scale.restarts)]
        return Restart(*map(statistics.median, zip(*restarts, strict=True)))

    def restart(self, groups: list[str]) -> Restart:
        """Few are asked for again and again, since that costs the server too; then all, once."""
        self.server.stop()
        before, few = time.perf_counter(), offsets.one_each(groups)
        answered = lifecycle.start(self.server)
        while not self.serves(few):
            time.sleep(0.01)
        elapsed, cpu = time.perf_counter() - before, usage.cpu_seconds(self.server.pid)
        assert self.serves(groups), f"{self.server.name} has lost offsets"
        return Restart(elapsed, elapsed - answered, cpu)

    def serves(self, groups: list[str]) -> bool:
        try:
            with Raw(self.server.port) as link:
                return offsets.served(link, "many", groups)
        except (OSError, Closed):
            return False


GROUPS = 100_000 // offsets.PARTITIONS
PARTS: dict[str, Callable[[Part], None]] = {
    "rebalance": Part.rebalance,
    "commits": Part.commits,
    "transactions": Part.transactions,
    "loading": Part.loading,
}


def find_coordinators(server: Server) -> None:
    """Ask for both, which makes the topics that they keep, and wait until they answer."""
    with Raw(server.port) as link:
        for key_type in (asking.GROUP, asking.TRANSACTION):
            while asking.find_coordinator(link, "any", key_type):
                time.sleep(0.05)


def main() -> None:
    arguments = parse()
    scale = QUICK if arguments.quick else FULL
    subjects = available(["kafka", "andiron"] if arguments.only is None else [arguments.only])
    report = Report()
    for number in range(scale.rounds):
        for part in arguments.rows.split(","):
            for subject in subjects if number % 2 == 0 else subjects[::-1]:
                print(f"round {number + 1} of {scale.rounds}: {part}, {subject}", flush=True)
                play(subject, part, scale, report, arguments)
    print(report.table())
    print(f"written to {report.write('coordinators')}")


def play(subject: str, part: str, scale: Scale, report: Report, arguments: argparse.Namespace) -> None:
    """One part of one round of one subject, in a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"bench-{subject}-", dir=arguments.data))
    server = KINDS[subject](folder, settings=rebalance.broker_settings(arguments.heartbeat_ms))
    try:
        server.start()
        PARTS[part](Part(server, scale, report, arguments.heartbeat_ms))
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", choices=list(KINDS), help="measure one of the two")
    parser.add_argument("--rows", default=",".join(PARTS), help="kinds of rows, with commas")
    parser.add_argument("--heartbeat-ms", type=int, default=500, help="how often members report")
    parser.add_argument("--data", default=tempfile.gettempdir(), help="where the servers keep their data")
    return parser.parse_args()


if __name__ == "__main__":
    main()
