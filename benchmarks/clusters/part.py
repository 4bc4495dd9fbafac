"""One kind of rows, asked of a cluster that is there for it alone; and its first write, which every part begins with.

The first write counts from the launch of the processes until a record is acknowledged by all in-sync replicas of a
topic with three replicas: processes, quorum, registrations, topic, leader, followers. To make the folders before the
first start (Kafka's StorageTool, our `meta.properties`) is not part of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from clusters import nodes
from clusters.asking import SETTINGS, Asking
from clusters.nodes import Cluster
from report import Report
from servers import Closed, Raw, frames

TOPIC = "first"
EXISTS = 36
PATIENCE_S = 180.0


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    rounds: int
    repeats: int  # of what is over in seconds, each round
    warm_mb: int
    large_mb: int  # in records of a kilobyte
    small_mb: int  # of a hundred bytes
    steady_s: float
    crowd: int  # partitions that are there and idle
    move_mb: int
    move_partitions: int
    idle_s: float


FULL = Scale(3, 2, 400, 400, 100, 15, 600, 500, 100, 5)
QUICK = Scale(1, 1, 60, 60, 20, 4, 300, 100, 30, 2)


class Part:
    """What the parts share: the cluster, the report, and how to ask."""

    def __init__(self, name: str, cluster: Cluster, scale: Scale, report: Report) -> None:
        self.name, self.cluster, self.scale, self._report = name, cluster, scale, report
        self.asking = Asking(cluster)

    def add(self, row: str, value: float, unit: str, better: str = "lower") -> None:
        """One answer of this cluster."""
        self._report.add(self.name, row, value, unit, better)
        print(f"    {row}: {value:,.4g} {unit}", flush=True)

    def begin(self) -> None:
        """Start the cluster, and write to it."""
        began = time.monotonic()
        nodes.launch(self.cluster)
        first_write(self.cluster, began + PATIENCE_S)
        self.add("start, until the first write", time.monotonic() - began, "s")
        nodes.wait_until_ready(self.cluster)
        self.asking.until_in_sync()


def first_write(cluster: Cluster, until: float) -> None:
    """Make a topic as soon as that can be done, and write to whoever leads it as soon as it does."""
    create = frames.create_topics({TOPIC: 1}, SETTINGS, replicas=3)
    write = frames.produce(TOPIC, {0: frames.batch([b"first"])}, acks=-1)
    made = False
    while time.monotonic() < until:
        for node in cluster.nodes.values():
            assert node.running, f"a node ended\n{node.printed()[-2000:]}"
            try:
                with Raw(node.port, timeout=10) as link:
                    if not made:
                        made = frames.read_create_topics(link.ask(create))[TOPIC] in (0, EXISTS)
                    if made and frames.read_produce(link.ask(write))[0][0] == 0:
                        return
            except (OSError, Closed):
                continue
        time.sleep(0.005)
    raise AssertionError("nothing could be written")
