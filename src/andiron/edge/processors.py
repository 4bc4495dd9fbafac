"""The network threads of a node (Kafka's Processors): how many there are, and whose connections they serve.

    loop ── adopt ──▶ the thread that serves the fewest
         ◀─ release ─ when it has sent what it had

A node whose loop has time needs none, so they are started when the first connection is handed over (handover.py), and
are there until the end. Without a compiler, on one core, or where a thread cannot be started, the loop serves all.
num.network.threads may change while the node runs (KIP-226): further threads are started, and those beyond the
number give their connections back and rest.

They are made by C, hold no lock of the interpreter's, and have all signals blocked: those are the main thread's. Their
descriptors are not inherited; children are started anew (worker.py), and have none of them.

Read next: request_channel.py.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from andiron.edge import native
from andiron.edge.carrier import SENDFILE_MIN
from andiron.edge.loop_transport import LoopTransport
from andiron.edge.metrics.meter import RATIO_S
from andiron.edge.processor_transport import ProcessorTransport
from andiron.edge.request_channel import RequestChannel
from andiron.model.line import Line

if TYPE_CHECKING:
    from andiron.edge._native import Channel
    from andiron.edge.connection import Connection
    from andiron.edge.host import Host

log = logging.getLogger(__name__)


def are_possible() -> bool:
    """Whether there can be network threads: they are compiled, and the process may use more than one core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1 and native.Channel is not None


class Processors:
    """Threads that serve connections beside the loop."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.possible = False  # whether connections can be handed to any; who makes a host says so
        self._channel: RequestChannel | None = None
        self._native: Channel | None = None
        self._count = 0  # threads that were started
        self._marks: list[tuple[float, float]] = [(0.0, 0.0)] * 2  # when, and how long all had been idle

    @property
    def count(self) -> int:
        """Threads that connections are handed to."""
        return min(self._count, self._wanted)

    @property
    def connections(self) -> int:
        """How many they serve."""
        return len(self._channel.seated) if self._channel is not None else 0

    @property
    def sendfile_bytes(self) -> int:
        """What they have sent without a copy."""
        return self._native.sendfile_bytes() if self._native is not None else 0

    @property
    def channel(self) -> RequestChannel | None:
        return self._channel

    @property
    def _wanted(self) -> int:
        return self._host.settings.num_network_threads

    def adopt(self, connection: Connection) -> bool:
        """Hand a connection of the loop to a thread; False if it stays."""
        transport = connection.transport
        if (
            not isinstance(transport, LoopTransport)
            or not transport.can_be_handed_over
            or not self._started()
        ):
            return False
        assert self._channel is not None
        served = self._channel.served
        thread = min(range(self.count), key=lambda each: served[each])
        self._channel.adopt(connection, thread, transport.hand_over())
        return True

    def release(self, connection: Connection) -> None:
        """Let the loop serve it again."""
        if isinstance(connection.transport, ProcessorTransport):
            connection.transport.release()

    def release_surplus(self) -> None:
        """Take back what those threads serve that are too many now."""
        if self._channel is not None:
            for transport in self._channel.seated.values():
                if transport.thread >= self._wanted:
                    transport.release()

    def idle_share(self) -> float:
        """How much of their time they have had nothing to do lately, all of them together; 1 if there are none."""
        if self._native is None:
            return 1.0
        now, idle = self._host.meter.clock(), sum(self._native.idle())
        older, newer = self._marks
        if now - newer[0] >= RATIO_S:
            older = newer
            self._marks = [newer, (now, idle)]
        since, idle_then = older
        return 1.0 if now <= since else min(1.0, (idle - idle_then) / ((now - since) * self._count))

    def close(self) -> None:
        """End the threads, and every connection that they still have."""
        if self._channel is not None:
            self._channel.close()
        self._channel, self._native, self.possible = None, None, False

    def _started(self) -> bool:
        """Whether there are as many as there should be, or as many as can be had."""
        if not self.possible:
            return False
        if self._count >= self._wanted:
            return True
        try:
            self._start()
        except OSError as error:
            self.possible = False
            log.warning(
                Line("Network threads cannot be started: the loop serves all connections", error=error)
            )
            return False
        return True

    def _start(self) -> None:
        assert native.Channel is not None
        if self._native is None:
            self._native = native.Channel(SENDFILE_MIN)
            self._channel = RequestChannel(self._host, self._native)
        self._count = self._native.start(self._wanted)
        self._marks = [(self._host.meter.clock(), sum(self._native.idle()))] * 2
