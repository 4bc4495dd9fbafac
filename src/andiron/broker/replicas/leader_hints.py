"""Who leads instead: what a request that went to the wrong broker is told with its error (KIP-951).

    NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH ─▶ leader 2 in epoch 7, at broker-2:9092

A client that is told need not ask for metadata before it tries again, and loses no time over a failover.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_requests import TOPIC_ID as METADATA_TOPIC_ID
from andiron.model.ids import NodeId


class Hint(NamedTuple):
    """Who leads a partition, in which epoch."""

    leader_id: int
    leader_epoch: int


class Endpoint(NamedTuple):
    """Where it listens."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


class LeaderHints:
    """The hints of one response, and the addresses of all nodes in them."""

    def __init__(self, broker: Broker, listener: str) -> None:
        self._broker, self._listener = broker, listener
        self._endpoints: dict[int, Endpoint] = {}

    def leader_of(self, topic: str, topic_id: bytes, index: int) -> Hint | None:
        """Who leads a partition; None if it is not known here at all."""
        if topic_id == METADATA_TOPIC_ID:
            return self._controller()
        image = self._broker.image
        found = image.topics.get(topic) if topic else image.topics_by_id.get(topic_id)
        if found is None or index not in found.partitions:
            return None
        partition = found.partitions[index]
        node = image.brokers.get(partition.leader)
        if node is not None:
            host, port = node.endpoint(self._listener)
            self._endpoints[node.id] = Endpoint(node.id, host, port, node.rack)
        return Hint(partition.leader, partition.leader_epoch)

    def _controller(self) -> Hint:
        raft = self._broker.raft
        leader: NodeId = raft.leader
        address = raft.address_of(leader)
        if address is not None:
            self._endpoints[leader] = Endpoint(leader, address.host, address.port)
        return Hint(leader, raft.quorum.epoch)

    def endpoints(self) -> list[Endpoint]:
        """Where the leaders that were named are reached."""
        return list(self._endpoints.values())
