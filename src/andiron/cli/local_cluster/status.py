"""The status of a local cluster: asked as any client asks, in a thread that nobody has to wait for.

    Watcher ──DescribeCluster, DescribeQuorum, Metadata──▶ any node        every few seconds
       └──▶ latest: a Snapshot, or None while nobody answers

A node is up when the cluster says so and it can be connected to: a process that runs may still be reading its log, or
be alone, and the cluster knows of a broker that is let in a moment before that opens its listener.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Sequence
from typing import NamedTuple

from andiron.cli.output import plural
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.addresses import Address
from andiron.client.core.cluster_descriptions import health_of
from andiron.client.settings import ClientSettings
from andiron.model.errors import AndironError, ErrorCode, ProtocolError

QUICK_S, SLOW_S = 0.3, 2.0
PATIENCE = ClientSettings(
    client_id="andiron-up",
    socket_connection_setup_timeout_ms=1000,
    request_timeout_ms=3000,
    default_api_timeout_ms=0,  # an answer or none: the next question comes soon
)


class Snapshot(NamedTuple):
    """The cluster at one moment: nodes that are up, the controller, under-replicated partitions."""

    up: frozenset[int]
    controller: int | None
    partitions: int
    under_replicated: int
    offline: int

    def describe(self, nodes: Sequence[int]) -> str:
        """The status in one line, with a mark for each of the nodes that there should be."""
        marks = " ".join(f"{'●' if each in self.up else '○'} {each}" for each in nodes)
        facts = [marks, f"controller {'none' if self.controller is None else self.controller}"]
        facts.append(plural(self.partitions, "partition"))
        if self.under_replicated:
            facts.append(f"{self.under_replicated} under-replicated")
        if self.offline:
            facts.append(f"{self.offline} offline")
        return " · ".join(facts)


def gather(client: Client, connected: set[Address]) -> Snapshot:
    """Ask any node that answers for the cluster's status. An address that could be connected to is `connected` from
    then on, and not tried again."""
    admin = ClusterAdmin(client)
    cluster = admin.describe_cluster()
    partitions = [each for topic in admin.topics() for each in topic.partitions]
    health = [health_of(each, None) for each in partitions]
    return Snapshot(
        frozenset(
            each.id for each in cluster.brokers if not each.fenced and _can_connect(each.address, connected)
        ),
        _controller(admin),
        len(partitions),
        sum(each.under_replicated for each in health),
        sum(each.offline for each in health),
    )


def _can_connect(address: Address, connected: set[Address]) -> bool:
    if address not in connected:
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=1.0):
            connected.add(address)
    return address in connected


def _controller(admin: ClusterAdmin) -> int | None:
    """The leader of the quorum: the controller in Metadata responses may be any broker."""
    try:
        leader = admin.describe_quorum().leader_id
    except ProtocolError as error:
        if error.code is ErrorCode.UNSUPPORTED_VERSION:
            leader = admin.describe_cluster().controller_id
        else:
            return None  # between two leaders
    return leader if leader >= 0 else None


class Watcher:
    """Asks again and again, in a thread of its own."""

    def __init__(self, bootstrap: str, expected: int, settings: ClientSettings = PATIENCE) -> None:
        self.latest: Snapshot | None = None
        self.bootstrap, self._expected, self._settings = bootstrap, expected, settings
        self._connected: set[Address] = set()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; what is under way is not waited for."""
        self._stopped.set()

    def _watch(self) -> None:
        client: Client | None = None
        while not self._stopped.is_set():
            client = client or Client(self.bootstrap, self._settings)
            try:
                self.latest = gather(client, self._connected)
            except AndironError:
                self.latest = None
                client.close()
                client = None
            complete = self.latest is not None and len(self.latest.up) == self._expected
            self._stopped.wait(SLOW_S if complete else QUICK_S)
        if client is not None:
            client.close()
