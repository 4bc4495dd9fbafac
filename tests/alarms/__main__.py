"""Run Prometheus with the shipped rules beside a cluster, do it harm, and print which alarms fire.

PYTHONPATH=src:tests python -m alarms [--speed 20] [--only "a follower is frozen"]

All durations of the rules are divided by `--speed`, and so is the time between scrapes: five minutes take 15 seconds.
What is asked for is exact: an alarm that is missing fails the run, and so does one too many. Needs `prometheus` in the
path (Debian: apt-get install prometheus). tests/edge/test_alarms.py asks the same of small clusters in their own time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from andiron.chaos.cluster import ChaosCluster
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from peers.ports import free_port

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "andiron-rules.yml"
SCRAPE_S = 15
GONE = {
    "AndironBrokerFenced",
    "AndironIsrShrinks",
    "AndironNodeGone",
    "AndironUnderReplicated",
    "AndironFollowerLags",
}
BUSY, CALM = (20, 0.1), (1, 2.0)  # records at a time, and seconds between
SLOW_BYTES_PER_SECOND = (
    250  # a batch of one record takes most of a second, and one in two seconds is kept up with
)
UNITS = {"s": 1, "m": 60, "h": 3600}


class Case(NamedTuple):
    """Something that happens, for so many minutes of the rules, and the alarms that it should raise."""

    name: str
    begin: Callable[[ChaosCluster], None]
    minutes: float
    expected: set[str]
    end: Callable[[ChaosCluster], None] = lambda cluster: None


def sped_up(text: str, speed: float) -> str:
    """Rules whose minutes are shorter."""

    def shorter(found: re.Match[str]) -> str:
        return f"{found[1]}{int(int(found[2]) * UNITS[found[3]] * 1000 / speed)}ms{found[4]}"

    return re.sub(r"(for: |\[)(\d+)([smh])(\]|\n)", shorter, text)


@contextmanager
def prometheus(folder: Path, targets: list[str], speed: float) -> Iterator[int]:
    """A Prometheus with the shipped rules; its port."""
    port = free_port()
    (folder / "rules.yml").write_text(sped_up(RULES.read_text(), speed))
    every = f"{int(SCRAPE_S * 1000 / speed)}ms"
    (folder / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
                "rule_files": ["rules.yml"],
                "scrape_configs": [{"job_name": "andiron", "static_configs": [{"targets": targets}]}],
            }
        )
    )
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb"]
    with (folder / "prometheus.log").open("wb") as log:
        listening = f"--web.listen-address=127.0.0.1:{port}"
        process = subprocess.Popen([*command, listening], stdout=log, stderr=log)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(30)


def firing(port: int) -> set[str]:
    """The alarms that fire now."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=10) as answer:
        told = json.load(answer)["data"]["alerts"]
    return {each["labels"]["alertname"] for each in told if each["state"] == "firing"}


class Load:
    """A producer of some records a second, and the groups that read them, or do not."""

    def __init__(self, bootstrap: str) -> None:
        with Client(bootstrap) as client:
            Admin(client).create_topic("t", 3, 3)
        self._producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
        self._groups = {
            name: Consumer(
                {"bootstrap.servers": bootstrap, "group.id": name, "auto.offset.reset": "earliest",
                 "enable.auto.commit": name == "quick"}
            )
            for name in ("quick", "slow", "never")
        }  # fmt: skip
        self.rate, self.pause_s = BUSY

    def begin(self) -> None:
        places = [TopicPartition("t", number, 0) for number in range(3)]
        self._groups["slow"].commit(offsets=places, asynchronous=False)
        self._groups["quick"].subscribe(["t"])
        self._groups["never"].subscribe(["t"])

    def go_on(self, seconds: float) -> None:
        """Write and read for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for _ in range(self.rate):
                self._producer.produce("t", b"x" * 100)
            self._producer.poll(0)
            for name in ("quick", "never"):
                self._groups[name].consume(1000, 0.05)
            time.sleep(self.pause_s)

    def be(self, pace: tuple[int, float]) -> None:
        """Go on like this."""
        self.rate, self.pause_s = pace

    def close(self) -> None:
        self._producer.purge()
        for consumer in self._groups.values():
            consumer.close()


def cases(load: Load) -> list[Case]:
    """One after the other, each from a cluster that is whole."""
    followers: list[int] = []

    def follower(cluster: ChaosCluster) -> int:
        leader, controller = cluster.partition("t").leader, cluster.controller()
        followers[:] = [node for node in cluster.ids if node not in (leader, controller)]
        return followers[0]

    def brake(cluster: ChaosCluster) -> None:
        load.be(CALM)
        cluster.slow_down(follower(cluster), SLOW_BYTES_PER_SECOND)

    def let_go(cluster: ChaosCluster) -> None:
        cluster.speed_up(followers[0])
        load.be(BUSY)

    return [
        Case("nothing happens", lambda cluster: None, 20, {"AndironLagClimbs", "AndironNeverCommitted"}),
        Case(
            "a follower is frozen", lambda cluster: cluster.pause(follower(cluster)), 8, GONE,
            lambda cluster: cluster.resume(followers[0]),
        ),
        Case(
            "a follower is killed", lambda cluster: cluster.kill(follower(cluster)), 8, GONE,
            lambda cluster: cluster.start(followers[0]),
        ),
        Case(
            "a leader is killed", lambda cluster: cluster.kill(cluster.partition("t").leader), 8, GONE,
            lambda cluster: cluster.start_all() and None,
        ),
        Case("a disk is slow", brake, 18, {"AndironSlowDisk"}, let_go),
    ]  # fmt: skip


def main() -> int:
    """Play all; the exit code says whether the alarms were those that are expected."""
    parser = argparse.ArgumentParser(prog="alarms")
    parser.add_argument("--speed", type=float, default=20)
    parser.add_argument("--only", help="a case by its name")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="alarms-"))
    cluster = ChaosCluster(str(folder / "cluster"), {"replica.lag.time.max.ms": "5000"})
    targets = [f"127.0.0.1:{free_port()}" for _ in cluster.ids]
    for node, target in zip(cluster.ids, targets, strict=True):
        with (folder / "cluster" / f"node-{node}" / "server.properties").open("a") as file:
            file.write(f"metrics.listener=http://{target}\n")
    with cluster, prometheus(folder, targets, chosen.speed) as port:
        minute, wrong = 60 / chosen.speed, 0
        if chosen.only is None:
            time.sleep(20 * minute)
            wrong += report("idle", firing(port), set())
        load = Load(cluster.bootstrap)
        load.begin()
        always = {"AndironLagClimbs", "AndironNeverCommitted"}
        for case in cases(load):
            if chosen.only in (None, case.name):
                cluster.wait_until_whole()
                load.go_on(2 * minute)
                case.begin(cluster)
                load.go_on(case.minutes * minute)
                wrong += report(case.name, firing(port) - always, case.expected - always)
                case.end(cluster)
                cluster.wait_until_whole()
                load.go_on(6 * minute)
                wrong += report(f"{case.name}: mended", firing(port) - always, set())
        if chosen.only is None:
            load.go_on(16 * minute)  # a coordinator that moved has begun anew
            wrong += report("groups behind, and never committing", firing(port) & always, always)
        load.close()
    return min(wrong, 1)


def report(name: str, fired: set[str], expected: set[str]) -> int:
    """Print one line; 1 if it is not as expected."""
    missing, surplus = expected - fired, fired - expected
    verdict = "as expected" if fired == expected else f"MISSING {sorted(missing)}, TOO MANY {sorted(surplus)}"
    print(f"{name}: {', '.join(sorted(fired)) or 'no alarm'} ({verdict})", flush=True)
    return int(fired != expected)


if __name__ == "__main__":
    sys.exit(main())
