"""How fast does `andiron copy` bring a topic to another cluster, beside Kafka's own MirrorMaker 2?

One node of Andiron and one of Apache Kafka, both ways: the same records lie in two topics of the source, and each of
the two takes one of them. MirrorMaker runs with the JVM options of its start script, the settings of docs/moving.md and
short intervals for what it does beside copying; everything else is its default.

    python benchmarks/copying.py            three rounds of two million records
    python benchmarks/copying.py --quick    one round of a million

The rate is that between the first record that is seen on the target and the last, so that a JVM's start does not count;
the time from the start of the command to the last record has a row of its own. CPU is that of the copying process
alone, from its start to the last record. `andiron copy` then reads both sides once more and compares them, which the
other does not: the time of its whole command is printed beside.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import usage
from andiron.client.blocking import Client
from andiron.client.blocking.admin import Admin
from andiron.client.core.descriptions import LATEST
from andiron.model.ids import TopicPartition
from connectors import PARTITIONS, fill
from peers.kafka import PERFORMANCE
from peers.mirror import Mirror
from report import Report
from servers import Kafka, Node, Server, jars

HEAP = ["-Xms256M", "-Xmx2G"]  # connect-mirror-maker.sh
LOOK_S = 0.02
PATIENCE_S = 300.0


class Flow(NamedTuple):
    """From where to where, by the names of the two."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"


FLOWS = (Flow("andiron", "kafka"), Flow("kafka", "andiron"))


def main() -> None:
    arguments = parse()
    rounds, rows = (1, 1_000_000) if arguments.quick else (3, 2_000_000)
    report = Report(other="mirror")
    jars.mirror_jars()
    for number in range(rounds):
        folder = Path(tempfile.mkdtemp(prefix="bench-copying-"))
        servers: dict[str, Server] = {
            "andiron": Node(folder / "andiron", settings={"log.retention.bytes": "-1"}),
            "kafka": Kafka(folder / "kafka"),
        }
        try:
            for server in servers.values():
                server.start()
            for flow in FLOWS:
                print(f"round {number + 1} of {rounds}: {flow}", flush=True)
                measure(servers, flow, rows, folder, report)
        finally:
            for server in servers.values():
                server.kill()
            shutil.rmtree(folder, ignore_errors=True)
    print(report.table())
    print(f"written to {report.write('copying')}")


def measure(servers: dict[str, Server], flow: Flow, rows: int, folder: Path, report: Report) -> None:
    source, target = servers[flow.source], servers[flow.target]
    by_copy, by_mirror = (f"{flow.source}-{name}" for name in ("copied", "mirrored"))
    for topic in (by_copy, by_mirror):
        fill(source, topic, rows)

    began = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "andiron",
        "copy",
        "--from",
        source.bootstrap,
        "--to",
        target.bootstrap,
        by_copy,
    ]
    copy = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    watch("andiron", copy.pid, target, by_copy, rows, flow, report)
    assert copy.wait(PATIENCE_S) == 0
    print(f"  andiron copy with its proof: {time.monotonic() - began:.1f} s", flush=True)

    clusters = {name: server.bootstrap for name, server in servers.items()}
    mirror = Mirror(
        folder / f"mirror-{flow.source}", clusters, {tuple(flow): by_mirror}, jvm=[*HEAP, *PERFORMANCE]
    )
    with mirror:
        watch("mirror", mirror.pid, target, by_mirror, rows, flow, report)


def watch(subject: str, pid: int, target: Server, topic: str, rows: int, flow: Flow, report: Report) -> None:
    """Look on until all records are there."""
    start, partitions = time.monotonic(), [TopicPartition(topic, at) for at in range(PARTITIONS)]
    with Client(target.bootstrap) as client:
        wait_until(lambda: any(each.name == topic for each in client.topics()))
        count = counter(client, partitions)
        wait_until(lambda: count() > 0)
        first, seen = time.monotonic(), count()
        wait_until(lambda: count() >= rows)
    end, cpu = time.monotonic(), usage.cpu_seconds(pid)
    if seen < rows:
        report.add(subject, f"{flow}", (rows - seen) / (end - first), "records/s", "higher")
    report.add(subject, f"{flow}: from start to last record", end - start, "s", "lower")
    report.add(subject, f"{flow}: CPU", cpu / rows * 1e6, "s/M records", "lower")


def counter(client: Client, partitions: list[TopicPartition]) -> Callable[[], int]:
    wanted = dict.fromkeys(partitions, LATEST)
    return lambda: sum(each.offset for each in Admin(client).list_offsets(wanted).values())


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(LOOK_S)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round")
    return parser.parse_args()


if __name__ == "__main__":
    main()
