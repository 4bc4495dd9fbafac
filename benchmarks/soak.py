"""Is a node after hours what it was after minutes: its memory, what it keeps in mind, its descriptors, its log?

One node by itself and a cluster of three, at the same time, under a load that has some of everything
(soaking/load.py). Every ten seconds all are looked at (soaking/series.py); in the end the slopes are printed, and the
series drawn.

    python benchmarks/soak.py                    an hour
    python benchmarks/soak.py --hours 8          a night
    … --picture docs/soak.svg --rate 200         where the picture goes; records a second of each of two flows

Measured when written: see docs/operations.md, "What hours of load do".
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import servers
from harness import commit
from peers.node_cluster import NodeCluster
from peers.ports import free_port
from soaking.load import Load
from soaking.picture import draw
from soaking.series import Watch, table

EVERY_S = 10.0
SETTINGS = {
    "log.retention.check.interval.ms": "10000",
    "log.cleaner.backoff.ms": "5000",
    "offsets.topic.num.partitions": "8",
    "transaction.state.log.num.partitions": "8",
    "group.initial.rebalance.delay.ms": "0",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--data", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir=arguments.data))
    try:
        soak(folder, arguments.hours, arguments.rate, arguments.picture)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def soak(folder: Path, hours: float, rate: int, picture: Path | None) -> None:
    """Begin all of it, look at it for so long, and tell."""
    metrics = free_port()
    alone = servers.Node(
        folder / "one", settings=SETTINGS | {"metrics.listener": f"http://localhost:{metrics}"}
    )
    three = NodeCluster(folder / "three", 3, SETTINGS)
    with alone, three:
        loads = [Load(f"localhost:{alone.port}", 1, rate), Load(three.bootstrap, 3, rate)]
        watches = [Watch("alone", alone.pid, metrics, alone.log)]
        for at, (number, pid) in enumerate(three.node_pids().items()):
            log = next(Path(three.data).glob(f"node-{number}/*.log"), three.log)
            watches.append(Watch(f"node {number}", pid, metrics_port(three, at), log))
        for load in loads:
            load.start()
        try:
            look(watches, hours * 3_600)
        finally:
            for load in loads:
                load.stop()
    print(f"\n{hours:g} hours, {rate} records a second and flow, commit {commit()}\n")
    for name, load in zip(("one node", "three nodes"), loads, strict=True):
        print(f"{name}: {dict(load.acknowledged)}; failed and tried again: {dict(load.failed) or 'nothing'}")
    print(f"\n{table(watches)}")
    if picture is not None:
        picture.write_text(draw(watches))


def metrics_port(cluster: NodeCluster, at: int) -> int:
    """Where a node of a cluster tells its metrics, by its settings."""
    given = next(Path(cluster.data).glob(f"node-{at + 1}/*.properties")).read_text()
    line = next(each for each in given.splitlines() if each.startswith("metrics.listener"))
    return int(line.rpartition(":")[2])


def look(watches: list[Watch], seconds: float) -> None:
    """Sample all of them until the time is over."""
    began = time.monotonic()
    while (at := time.monotonic() - began) < seconds:
        for watch in watches:
            watch.look(at)
        time.sleep(EVERY_S)


if __name__ == "__main__":
    main()
