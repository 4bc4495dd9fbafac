"""Both clusters with one face: three nodes, each a process of its own that can be killed and started again.

    Cluster.launch() → .bootstrap, .nodes[1], .nodes[2] … → .nodes[2].kill() | .stop() → .nodes[2].launch()

Andiron's nodes are laid out as `andiron up --brokers 3` lays them out, and started as that starts them, but without
the parent that looks after them: here the benchmark does. Kafka's have the options of its start script and a
heap of half a gigabyte. All else is the default of either.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol

import usage
from andiron.cli.local_cluster.child import command
from andiron.cli.local_cluster.folder import ClusterFolder, is_free
from andiron.cli.local_cluster.layout import lay_out
from peers.kafka import PERFORMANCE
from peers.kafka_cluster import KafkaCluster
from peers.node_cluster import free_ports
from servers import Server

COUNT = 3
HEAP = ["-Xmx512m", "-Xms512m"]
# The cluster that the tests make has fewer of these.
DEFAULTS = {"offsets.topic.num.partitions": "50", "transaction.state.log.num.partitions": "50"}


class Cluster(Protocol):
    """What both have; `nodes` by id."""

    @property
    def nodes(self) -> dict[int, Server]: ...


class AndironNode(Server):
    """One node, by its settings file."""

    name = "andiron"

    def __init__(self, folder: Path, port: int, properties: str) -> None:
        super().__init__(folder, port)
        self._properties = properties

    def command(self) -> list[str]:
        chosen = command(self._properties)
        return [sys.executable, *chosen[1 : chosen.index("--until-stdin-closes")]]


class AndironCluster:
    """Three nodes, laid out as the command line does it."""

    name = "andiron"

    def __init__(self, folder: Path) -> None:
        place = ClusterFolder(str(folder))
        layout = lay_out(COUNT, free_ports(COUNT), {}, is_free)
        place.write(layout, {})
        self.nodes: dict[int, Server] = {
            node.id: AndironNode(folder / node.name, node.port, place.properties_of(node))
            for node in layout.nodes
        }


class Kafkas(KafkaCluster):
    """Three nodes of Kafka with the heap and the compiler that a measurement wants."""

    name = "kafka"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, COUNT, DEFAULTS, jvm=[*HEAP, *PERFORMANCE])


KINDS = {"kafka": Kafkas, "andiron": AndironCluster}


def launch(cluster: Cluster) -> None:
    """Start all, and wait for none."""
    for node in cluster.nodes.values():
        node.launch()


def wait_until_ready(cluster: Cluster) -> None:
    """Until each knows itself as a broker."""
    for node in cluster.nodes.values():
        node.wait_until_ready()


def kill(cluster: Cluster) -> None:
    """End all as a crash would."""
    for node in cluster.nodes.values():
        node.kill()


def running(cluster: Cluster) -> list[Server]:
    return [node for node in cluster.nodes.values() if node.running]


def bootstrap(cluster: Cluster) -> str:
    """Where the nodes that run are reached."""
    return ",".join(node.bootstrap for node in running(cluster))


def cpu_seconds(cluster: Cluster) -> float:
    """Of all nodes that run, and their children."""
    return sum(usage.cpu_seconds(node.pid) for node in running(cluster))


def memory_mb(cluster: Cluster) -> float:
    """What all nodes hold, with what they share counted once."""
    return sum(usage.session_memory_mb(node.pid) for node in running(cluster))


def peak_mb(cluster: Cluster) -> float:
    """The sum of the most that each has held."""
    return sum(usage.peak_mb(node.pid) for node in running(cluster))
