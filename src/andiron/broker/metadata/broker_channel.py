"""The way of a broker to the other brokers: who asks, and where they are.

    Fetch, ListOffsets ──▶ BrokerChannel ──▶ the broker that leads, at its inter-broker listener

What a broker asks as a replica it asks under its broker epoch: in another incarnation it is another replica, and what
the one before it held does not count.

Read next: broker_lifecycle.py, which has the epoch; node/calls.py. To the controller: controller_channel.py.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.metadata.broker_lifecycle import BrokerLifecycle
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.calls import Calls, Then
from andiron.model.ids import Address, NodeId


class BrokerChannel:
    """Calls other brokers as this one."""

    def __init__(self, lifecycle: BrokerLifecycle, metadata: MetadataLoader, calls: Calls) -> None:
        self.me = lifecycle.me
        self._lifecycle, self._metadata, self._calls = lifecycle, metadata, calls

    @property
    def epoch(self) -> int:
        """The broker epoch of this broker; -1 while it is not registered."""
        return self._lifecycle.epoch

    def address_of(self, broker: NodeId) -> Address | None:
        """Where another broker listens; None while it is not there."""
        return self._metadata.address_of(broker)

    def call(self, to: Address, lane: str, body: Any, timeout_ms: int, then: Then) -> None:
        """Ask another broker; `then` hears what came of it, in a later step."""
        self._calls.call(to, lane, body, timeout_ms, then)
