"""A cluster to do harm to: nodes as real processes, behind wires that can be cut.

    clients ──▶ PLAINTEXT of a node, directly
    nodes   ──▶ proxy ──▶ REPLICATION, CONTROLLER of another node

Each node has a listener for the other brokers, which it advertises by the proxy's port, and so do the voters: all
that nodes say to each other goes through the proxy. What clients say does not, so that what they measure is the
broker; a leader that is cut off is still there for them, which is the interesting case.

    kill, pause, resume, start, stop    signals to a process        cut_off, heal    the proxy
    slow_down, speed_up                 its disk (edge/slow_disk.py)

Whatever was begun here is ended with the `with` block, paused processes too.

Read next: faults.py; proxy.py for the wires.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

from andiron.chaos.proxy import HOST
from andiron.chaos.switchboard import Switchboard
from andiron.cli.failure import Failure
from andiron.cli.identity import claim, new_id, write_whole
from andiron.cli.local_cluster.child import Child, command
from andiron.cli.local_cluster.folder import is_free
from andiron.cli.local_cluster.layout import PROPERTIES, Layout, LocalNode, render
from andiron.cli.local_cluster.status import PATIENCE, gather
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.metadata import Partition
from andiron.edge.slow_disk import set_rate
from andiron.model.errors import AndironError

COUNT = 3
PORTS = range(15_000, 31_000)  # below those that the system gives to outgoing connections
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0
TICK_S = 0.05
# Sooner than Kafka's defaults (9 s, 30 s), so that a fault of seconds is long enough to be noticed.
SETTINGS = {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.wait.max.ms": "250",
    "replica.socket.timeout.ms": "3000",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}


class Ports(NamedTuple):
    """Where one node listens, and where other nodes are told that it does."""

    clients: int
    replication: int
    controller: int
    replication_told: int = 0
    controller_told: int = 0
    clients_told: int = 0


class ChaosCluster:
    """Nodes 1 to 3, their processes and their wires."""

    def __init__(
        self, folder: str, settings: Mapping[str, str] | None = None, *, proxied_clients: bool = False
    ) -> None:
        self.folder = folder
        self.board = Switchboard()
        self.ports = self._wired(proxied_clients)
        self.layout = Layout(
            HOST,
            HOST,
            [LocalNode(id, ports.clients, ports.controller) for id, ports in self.ports.items()],
        )
        self._chosen = {**SETTINGS, **(settings or {})}
        self.children = self._written()

    def __enter__(self) -> Self:
        try:
            return self.start_all()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{HOST}:{ports.clients_told}" for ports in self.ports.values())

    @property
    def ids(self) -> list[int]:
        return list(self.children)

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start_all(self) -> Self:
        """Start all, and wait until each of them is in the cluster."""
        for child in self.children.values():
            if not child.running:
                child.start()
        self.wait_until_up()
        return self

    def close(self) -> None:
        """End everything that was begun, as a crash would."""
        for child in self.children.values():
            child.kill()
            child.wait(STOP_TIMEOUT_S)
        self.board.close()

    def start(self, node: int) -> None:
        """Start a node that has ended, and do not wait for it."""
        self.children[node].start()

    def stop(self, node: int) -> None:
        """Stop it in order, and wait until it has ended."""
        child = self.children[node]
        child.terminate()
        if not child.wait(STOP_TIMEOUT_S):
            raise Failure(f"node {node} did not stop in {STOP_TIMEOUT_S:.0f} s; its log is {child.log}")

    def kill(self, node: int) -> None:
        """kill -9."""
        self.children[node].kill()
        self.children[node].wait(STOP_TIMEOUT_S)

    def kill_with_wires(self, node: int) -> None:
        """kill -9 as of a machine that burns down: what waited in cut wires is gone too, and is not heard when they are
        mended."""
        self.kill(node)
        self.board.hang_up(node)

    def pause(self, node: int) -> None:
        """SIGSTOP: it is there, and does nothing."""
        self._signal(node, signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """SIGCONT."""
        self._signal(node, signal.SIGCONT)

    def cut_off(self, node: int, *, clients: bool = False) -> None:
        """No node hears of it, and it hears of none."""
        self.board.cut_off(node, clients=clients)

    def heal(self, node: int | None = None) -> None:
        """Mend the wires of a node, or all."""
        self.board.heal(node)

    def slow_down(self, node: int, bytes_per_second: float) -> None:
        """Its disk takes no more than so much from now on."""
        set_rate(self._brake(node), bytes_per_second)

    def speed_up(self, node: int) -> None:
        """Its disk is as quick as it is."""
        set_rate(self._brake(node), None)

    # ── how it is ────────────────────────────────────────────────────────────────────

    def wait_until(
        self, holds: Callable[[Client], bool], what: str, patience_s: float, *, by_all: bool = False
    ) -> None:
        """Ask until it is so, by anybody or by all; whoever does not answer is asked again."""
        until = time.monotonic() + patience_s
        asked = self.bootstrap.split(",") if by_all else [self.bootstrap]
        while not all(self._says(each, holds) for each in asked):
            for child in self.children.values():
                if not child.running and child.exit_code not in (None, -signal.SIGKILL, 0):
                    raise Failure(
                        f"node {child.id} ended by itself: {child.reason()}; its log is {child.log}"
                    )
            if time.monotonic() > until:
                raise Failure(f"{what} in {patience_s:.0f} s; logs are in {self.folder}/node-*")
            time.sleep(TICK_S)

    def wait_until_up(self, patience_s: float = START_TIMEOUT_S) -> None:
        """Until all nodes are in the cluster."""
        self.wait_until(
            lambda client: gather(client, set()).up >= set(self.ids), "the nodes did not come up", patience_s
        )

    def wait_until_whole(self, patience_s: float = START_TIMEOUT_S) -> None:
        """Until every node says that all are in the cluster and every replica is in sync."""

        def whole(client: Client) -> bool:
            state = gather(client, set())
            return state.up >= set(self.ids) and not state.under_replicated and not state.offline

        self.wait_until(whole, "the replicas did not come into sync", patience_s, by_all=True)

    def partition(self, topic: str, number: int = 0, patience_s: float = START_TIMEOUT_S) -> Partition:
        """Who leads a partition and who is in sync, once somebody leads."""
        found: list[Partition] = []

        def led(client: Client) -> bool:
            found[:] = [client.topic(topic).partitions[number]]
            return found[0].leader in self.children

        self.wait_until(led, f"{topic}-{number} has no leader", patience_s)
        return found[0]

    def controller(self, patience_s: float = START_TIMEOUT_S) -> int:
        """The node that leads the metadata."""
        found: list[int] = []

        def leads(client: Client) -> bool:
            found[:] = [ClusterAdmin(client).describe_quorum().leader_id]
            return found[0] in self.children

        self.wait_until(leads, "nobody leads the metadata", patience_s)
        return found[0]

    def _says(self, bootstrap: str, holds: Callable[[Client], bool]) -> bool:
        try:
            with Client(bootstrap, PATIENCE) as client:
                return holds(client)
        except AndironError:
            return False

    # ── how it is made ───────────────────────────────────────────────────────────────

    def _wired(self, proxied_clients: bool) -> dict[int, Ports]:
        free = free_ports(3 * COUNT)
        wired: dict[int, Ports] = {}
        for id in range(1, COUNT + 1):
            own = Ports(*free[3 * (id - 1) : 3 * id])
            told = self.board.open([(id, own.replication), (id, own.controller), (id, own.clients)])
            wired[id] = own._replace(
                replication_told=told[0],
                controller_told=told[1],
                clients_told=told[2] if proxied_clients else own.clients,
            )
        return wired

    def _written(self) -> dict[int, Child]:
        cluster_id = new_id()
        children: dict[int, Child] = {}
        for node in self.layout.nodes:
            place = os.path.join(self.folder, node.name)
            data, metadata = os.path.join(place, "data"), os.path.join(place, "metadata")
            claim([data, metadata], cluster_id, node.id)
            properties = {**self.layout.properties(node, data, self._chosen), **self._listeners(node.id)}
            properties["metadata.log.dir"] = metadata  # on a disk of its own, which stays quick
            path = os.path.join(place, PROPERTIES)
            write_whole(path, render(properties).encode())
            started = command(path, "--brake", self._brake(node.id))
            children[node.id] = Child(node.id, started, os.path.join(place, "andiron.log"))
        return children

    def _brake(self, node: int) -> str:
        return os.path.join(self.folder, f"node-{node}", "brake")

    def _listeners(self, node: int) -> dict[str, str]:
        own = self.ports[node]
        voters = ",".join(f"{id}@{HOST}:{each.controller_told}" for id, each in self.ports.items())
        return {
            "listeners": f"PLAINTEXT://{HOST}:{own.clients},REPLICATION://{HOST}:{own.replication},"
            f"CONTROLLER://{HOST}:{own.controller}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{own.clients_told},"
            f"REPLICATION://{HOST}:{own.replication_told}",
            "inter.broker.listener.name": "REPLICATION",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.quorum.voters": voters,
        }

    def _signal(self, node: int, number: signal.Signals) -> None:
        child = self.children[node]
        if child.running and child.pid is not None:
            os.kill(child.pid, number)


def free_ports(count: int) -> list[int]:
    """Ports that nobody has now."""
    chance = random.SystemRandom()
    found: dict[int, None] = {}
    while len(found) < count:
        port = chance.choice(PORTS)
        if is_free(port):
            found[port] = None
    return list(found)
