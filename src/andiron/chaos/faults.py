"""What can be done to a node, and how it is undone.

    kill      kill -9; started again on its data             its connections break at once
    pause     SIGSTOP; SIGCONT                               a machine that hangs: no connection breaks
    cut       its wires to the other nodes; healed           a rift: clients still reach it
    slow      its disk gives so many bytes a second          a disk that is saturated, and not gone
    restart   stopped in order; started again                an operator

Read next: experiment.py, where they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from andiron.chaos.cluster import ChaosCluster

Act = Callable[[ChaosCluster, int], None]


class Fault(NamedTuple):
    """A harm, and its remedy."""

    name: str
    told: str  # in a report: what is done
    strike: Act
    mend: Act


SLOW_BYTES_PER_SECOND = 16_384.0  # a tenth, at most, of what is written meanwhile


def _slow(cluster: ChaosCluster, node: int) -> None:
    cluster.slow_down(node, SLOW_BYTES_PER_SECOND)


FAULTS = {
    each.name: each
    for each in (
        Fault("kill", "kill -9", ChaosCluster.kill, ChaosCluster.start),
        Fault("pause", "paused (SIGSTOP)", ChaosCluster.pause, ChaosCluster.resume),
        Fault("cut", "cut off from the other nodes (proxy)", ChaosCluster.cut_off, ChaosCluster.heal),
        Fault(
            "slow", "its disk slowed to 16 KiB/s (in the node's own disk layer)", _slow, ChaosCluster.speed_up
        ),
        Fault("restart", "stopped in order", ChaosCluster.stop, ChaosCluster.start),
    )
}
