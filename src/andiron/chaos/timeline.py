"""Who led a partition and who was in sync, all the time: metadata asked for every tenth of a second.

    0.0 s  leader 1  ISR 1 2 3
    6.3 s  leader 1  ISR 1 3        ◀── one line for each change
    9.9 s  no leader

Any broker answers from the metadata that it has read. One that is harmed has read no more, so it is not asked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from andiron.client.blocking.client import Client
from andiron.client.settings import ClientSettings
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition

EVERY_S = 0.1
QUICK = ClientSettings(
    client_id="andiron-chaos-watch",
    socket_connection_setup_timeout_ms=300,
    request_timeout_ms=500,
    default_api_timeout_ms=0,
)


class PartitionGlimpse(NamedTuple):
    """How it was at a time."""

    at: float
    leader: int
    isr: tuple[int, ...]


class Timeline:
    """Watches one partition in a thread of its own; `addresses` are those of the nodes by id."""

    def __init__(self, addresses: Mapping[int, str], partition: TopicPartition, began: float) -> None:
        self.glimpses: list[PartitionGlimpse] = []
        self.harmed: dict[int, None] = {}  # whom not to ask
        self._addresses, self._partition, self._began = dict(addresses), partition, began
        self._clients: dict[int, Client] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="timeline", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()
        self._thread.join()
        for client in self._clients.values():
            client.close()

    @property
    def latest(self) -> PartitionGlimpse | None:
        return self.glimpses[-1] if self.glimpses else None

    def wait_until(self, holds: Callable[[PartitionGlimpse], bool], patience_s: float) -> bool:
        """Whether it came to be so in time."""
        until = time.monotonic() + patience_s
        while self.latest is None or not holds(self.latest):
            if time.monotonic() > until:
                return False
            time.sleep(EVERY_S / 4)
        return True

    def wait_until_out(self, node: int, patience_s: float) -> bool:
        """Whether a node has left the ISR in time."""
        return self.wait_until(lambda seen: bool(seen.isr) and node not in seen.isr, patience_s)

    def wait_until_in(self, node: int, patience_s: float) -> bool:
        """Whether a node was in the ISR in time."""
        return self.wait_until(lambda seen: node in seen.isr, patience_s)

    def _watch(self) -> None:
        while not self._over.wait(EVERY_S):
            for node in self._addresses:
                if node not in self.harmed and (seen := self._ask(node)) is not None:
                    self.note(seen)
                    break

    def note(self, seen: PartitionGlimpse) -> None:
        """Keep what is new."""
        latest = self.latest
        if latest is None or latest[1:] != seen[1:]:
            self.glimpses.append(seen)

    def _ask(self, node: int) -> PartitionGlimpse | None:
        client = self._clients.get(node) or Client(self._addresses[node], QUICK)
        self._clients[node] = client
        try:
            client.refresh([self._partition.topic])
            found = client.metadata.topic(self._partition.topic).partitions[self._partition.partition]
        except (AndironError, IndexError):
            client.close()
            del self._clients[node]
            return None
        return PartitionGlimpse(time.monotonic() - self._began, found.leader, tuple(sorted(found.isr)))
