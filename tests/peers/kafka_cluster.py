"""Apache Kafka as a cluster: three nodes in combined mode, each a JVM of its own.

    KafkaCluster(folder) → .bootstrap, .nodes[1], .nodes[2] … → .start() | .stop() | .nodes[2].kill()

The first node is formatted by Kafka's own tool, and the others are made from its folder with ids of their own:
that saves a JVM for each. The quorum is `dynamic`, as Kafka 4 makes it (KIP-853), so that voters can be added and
removed, or a static one that is written in the settings.

A Java that is quick to come up is enough for tests; whoever measures says with which `jvm`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Self

from peers.kafka import Kafka, new_id
from peers.ports import free_port

VOTERS_MAX = 3


class KafkaNode(Kafka):
    """One of them; `initial` are the voters that the tool writes into a dynamic quorum."""

    name = "kafka"

    def __init__(
        self,
        folder: Path,
        node_id: int,
        controller_port: int,
        settings: dict[str, str],
        jvm: list[str] | None,
        initial: str = "",
        like: Kafka | None = None,
        directory_id: str = "",
    ) -> None:
        self._initial = initial
        if like is not None:
            _copy_format(like.data, folder / "data", node_id, directory_id)
        super().__init__(folder, settings=settings, node_id=node_id, controller_port=controller_port, jvm=jvm)

    def _format_options(self) -> list[str]:
        return ["--initial-controllers", self._initial] if self._initial else []


class KafkaCluster:
    """Several nodes; `settings` are for all of them, `racks` by node."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        count: int = 3,
        settings: dict[str, str] | None = None,
        *,
        dynamic: bool = False,
        racks: dict[int, str] | None = None,
        jvm: list[str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.dynamic = dynamic
        self._jvm = jvm
        self._racks = racks or {}
        ports = {number: free_port() for number in range(1, min(count, VOTERS_MAX) + 1)}
        self._voters = {number: (f"127.0.0.1:{port}", new_id()) for number, port in ports.items()}
        replicas, in_sync = min(3, count), 2 if count >= 3 else 1
        self._settings = {
            **self._quorum(),
            "default.replication.factor": str(replicas),
            "min.insync.replicas": str(in_sync),
            "offsets.topic.replication.factor": str(replicas),
            "offsets.topic.num.partitions": "5",
            "transaction.state.log.replication.factor": str(replicas),
            "transaction.state.log.min.isr": str(in_sync),
            "transaction.state.log.num.partitions": "5",
            "group.initial.rebalance.delay.ms": "0",
            **(settings or {}),
        }
        self.nodes: dict[int, KafkaNode] = {}
        for number in range(1, count + 1):
            self.nodes[number] = self._make(number, ports.get(number, 0))

    @property
    def bootstrap(self) -> str:
        return ",".join(node.bootstrap for node in self.nodes.values())

    def start(self) -> Self:
        """Start all at once, and wait until each knows itself as a broker."""
        for node in self.nodes.values():
            node.launch()
        for node in self.nodes.values():
            node.wait_until_ready()
        return self

    def stop(self) -> None:
        """One after the other, as an operator does."""
        for node in reversed(self.nodes.values()):
            node.stop()

    def kill(self) -> None:
        for node in self.nodes.values():
            node.kill()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _quorum(self) -> dict[str, str]:
        if self.dynamic:
            servers = ",".join(address for address, _ in self._voters.values())
            return {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": servers}
        voters = ",".join(f"{number}@{address}" for number, (address, _) in self._voters.items())
        return {"controller.quorum.voters": voters}

    def _make(self, number: int, controller_port: int) -> KafkaNode:
        initial = ",".join(f"{id}@{address}:{directory}" for id, (address, directory) in self._voters.items())
        settings = dict(self._settings)
        if number in self._racks:
            settings["broker.rack"] = self._racks[number]
        port = 0
        if not controller_port:
            port = free_port()
            settings |= {"process.roles": "broker", "listeners": f"PLAINTEXT://127.0.0.1:{port}"}
            settings |= {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}"}
        node = KafkaNode(
            self.folder / f"node-{number}",
            number,
            controller_port or free_port(),
            settings,
            self._jvm,
            initial if self.dynamic else "",
            self.nodes.get(1),
            self._voters[number][1] if number in self._voters else new_id(),
        )
        node.port = port or node.port
        return node


def _copy_format(source: Path, target: Path, node_id: int, directory_id: str) -> None:
    """A formatted folder for another node of the same cluster."""
    if target.exists():
        return
    shutil.copytree(source, target)
    lines = (target / "meta.properties").read_text().splitlines()
    own = {"node.id": str(node_id), "directory.id": directory_id}
    changed = [
        f"{line.partition('=')[0]}={own.get(line.partition('=')[0], line.partition('=')[2])}"
        for line in lines
        if "=" in line
    ]
    (target / "meta.properties").write_text("\n".join(changed) + "\n")
