"""Which node has which ports and roles, and the settings that follow from that.

    andiron up --brokers 5 --port 9092

    node          1      2      3      4      5
    clients    9092   9093   9094   9095   9096
    voters     9102   9103   9104      -      -      the first three; all of them are brokers
    metrics    9112   9113   9114   9115   9116

Ports of voters and metrics are the next ones that are free, unless they are chosen (--controller-port, --metrics). All
listen where --host says; but where that is every address, the voters are on localhost: nobody else has to reach them.

Voters are chosen once, when the cluster is made, and kept with their ports in the settings that are written
then: a quorum is not changed by giving another number on the command line. Nodes that come later are brokers.

Three nodes bear the loss of one: three replicas of everything, of which two must have a record before it is
acknowledged. With fewer nodes there are as many replicas as nodes, and one is enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from andiron.cli.failure import Failure

NODES_MAX = 9
VOTERS_MAX = 3
REPLICAS_MAX = 3
CONTROLLERS_ABOVE = (
    10  # the first controller's port above the first broker's: beyond those of NODES_MAX brokers
)
METRICS_ABOVE = 20  # the first port of metrics above the first broker's
LOCALHOST = "localhost"
PORT_MAX = 65535
PROPERTIES = "server.properties"
OWN = (
    "node.id", "broker.id", "process.roles", "listeners", "advertised.listeners", "metrics.listener", "log.dirs",
    "log.dir",
)  # fmt: skip
OF_THE_CLUSTER = (
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
    "controller.listener.names",
)


class LocalNode(NamedTuple):
    """One node, and where it is reached."""

    id: int
    port: int
    controller_port: int | None  # None: a broker alone
    metrics_port: int = 0  # 0: a free one

    @property
    def name(self) -> str:
        """Its folder's name."""
        return f"node-{self.id}"


class Layout(NamedTuple):
    """A cluster's nodes, by id; `host` is what clients are told, `listen` where nodes listen."""

    host: str
    listen: str
    nodes: list[LocalNode]

    @property
    def addresses(self) -> list[str]:
        """Where clients connect."""
        return [f"{self.host}:{node.port}" for node in self.nodes]

    @property
    def bootstrap(self) -> str:
        return ",".join(self.addresses)

    @property
    def metrics(self) -> list[str]:
        """Where Prometheus finds the nodes."""
        return [f"http://{self.host}:{node.metrics_port}/metrics" for node in self.nodes]

    @property
    def controller_host(self) -> str:
        """Where the voters listen, and find each other."""
        return self.listen or LOCALHOST

    @property
    def controllers(self) -> list[str]:
        """Where the voters are."""
        return [f"{self.controller_host}:{port}" for port in self.voters.values()]

    @property
    def voters(self) -> dict[int, int]:
        """The ports of the voters by their ids."""
        return {node.id: node.controller_port for node in self.nodes if node.controller_port is not None}

    def properties(self, node: LocalNode, data: str, chosen: Mapping[str, str]) -> dict[str, str]:
        """The settings of one node; what was chosen by hand wins, unless it is what makes this a cluster."""
        for name in (*OWN, *OF_THE_CLUSTER):
            if name in chosen:
                raise Failure(
                    f"{name} is not for --set where --brokers lays out the nodes; start them with --config"
                )
        count = len(self.nodes)
        replicas, in_sync = min(REPLICAS_MAX, count), 2 if count >= REPLICAS_MAX else 1
        listeners = [f"PLAINTEXT://{self.listen}:{node.port}"]
        if node.controller_port is not None:
            listeners.append(f"CONTROLLER://{self.controller_host}:{node.controller_port}")
        voters = ",".join(f"{id}@{self.controller_host}:{port}" for id, port in self.voters.items())
        return {
            "process.roles": "broker" if node.controller_port is None else "broker,controller",
            "node.id": str(node.id),
            "controller.quorum.voters": voters,
            "listeners": ",".join(listeners),
            "advertised.listeners": f"PLAINTEXT://{self.host}:{node.port}",
            "controller.listener.names": "CONTROLLER",
            "metrics.listener": f"http://{self.listen}:{node.metrics_port}",
            "log.dirs": data,
            "default.replication.factor": str(replicas),
            "min.insync.replicas": str(in_sync),
            "offsets.topic.replication.factor": str(replicas),
            "transaction.state.log.replication.factor": str(replicas),
            "transaction.state.log.min.isr": str(in_sync),
            "group.initial.rebalance.delay.ms": "0",  # as of a node by itself: who develops has few members to wait for
            "transaction.two.phase.commit.enable": "true",
            **chosen,
        }


def lay_out(
    count: int,
    port: int,
    voters: Mapping[int, int],
    is_free: Callable[[int], bool],
    host: str = LOCALHOST,
    listen: str = LOCALHOST,
    metrics: int | None = None,
    controllers: int | None = None,
) -> Layout:
    """Nodes 1 to `count`, the first on `port`; `voters` are those of a cluster that is there already. Their metrics are
    on `metrics` and after, new voters on `controllers` and after, or where there is room."""
    if not 0 < port <= PORT_MAX - count:
        raise Failure(
            f"{count} nodes from port {port} on do not fit: choose a --port from 1 to {PORT_MAX - count}"
        )
    if voters and controllers not in (None, min(voters.values())):
        raise Failure(
            f"the voters of this cluster are on ports {', '.join(map(str, voters.values()))}, and stay there; leave "
            "--controller-port out"
        )
    chosen = dict(voters) or _new_voters(
        min(count, VOTERS_MAX), range(port, port + count), is_free, controllers
    )
    if max(chosen) > count:
        raise Failure(
            f"the cluster has {len(chosen)} voters and --brokers says {count}: "
            f"say --brokers {max(chosen)}, or choose another --data"
        )
    taken = [*range(port, port + count), *chosen.values()]
    ports = range(metrics, metrics + count) if metrics else _metrics_ports(count, port, taken, is_free)
    nodes = [LocalNode(id, port + id - 1, chosen.get(id), ports[id - 1]) for id in range(1, count + 1)]
    for node in nodes:
        if node.port in chosen.values():
            raise Failure(
                f"port {node.port} is a controller's of this cluster already; choose another --port"
            )
    return Layout(host, listen, nodes)


def _new_voters(
    count: int, taken: range, is_free: Callable[[int], bool], first: int | None
) -> dict[int, int]:
    if first is not None:
        return dict(enumerate(range(first, first + count), 1))
    ports: list[int] = []
    for port in [*range(taken.start + CONTROLLERS_ABOVE, PORT_MAX), *range(1024, taken.start)]:
        if len(ports) == count:
            break
        if port not in taken and is_free(port):
            ports.append(port)
    if len(ports) < count:
        raise Failure("no ports are free for the controllers; choose one with --controller-port")
    return dict(enumerate(ports, 1))


def _metrics_ports(count: int, port: int, taken: list[int], is_free: Callable[[int], bool]) -> list[int]:
    found: list[int] = []
    for each in [*range(port + METRICS_ABOVE, PORT_MAX), *range(1024, port)]:
        if len(found) == count:
            return found
        if each not in taken and is_free(each):
            found.append(each)
    raise Failure("no ports are free for the metrics; choose one with --metrics")


def is_cluster(path: str) -> bool:
    """Whether a folder is one that a local cluster has made."""
    return os.path.exists(os.path.join(path, "node-1", PROPERTIES))


def render(properties: Mapping[str, str]) -> str:
    """A server.properties, as Kafka and we read it."""
    head = "# Written by `andiron up --brokers`, anew at every start: change settings with --set, for all nodes.\n"
    return head + "".join(f"{name}={escaped(value)}\n" for name, value in properties.items())


def parse_voter_ports(text: str) -> dict[int, int]:
    """The ids and ports in a `controller.quorum.voters` that was written here."""
    ports: dict[int, int] = {}
    for voter in filter(None, text.split(",")):
        id, _, address = voter.partition("@")
        port = address.rpartition(":")[2]
        if not (id.isdecimal() and port.isdecimal()):
            raise Failure(f"controller.quorum.voters={text} is not what was written there")
        ports[int(id)] = int(port)
    return ports


def escaped(value: str) -> str:
    """A backslash begins an escape, and a line ends a value."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
