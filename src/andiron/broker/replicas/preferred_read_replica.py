"""Which replica a consumer should read from: the one that is near it (KIP-392).

    consumer in rack b ─▶ leader in rack a ─▶ "node 2 is in your rack" ─▶ consumer reads there

The leader says so instead of giving records, and only of replicas that are in sync and hold what is asked for. It is
done where replica.selector.class names Kafka's rack-aware selector; without one everybody reads from the leader.
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.controller.image import Image
from andiron.model.ids import NodeId, Offset

RACK_AWARE = "RackAwareReplicaSelector"
HERE = NodeId(-1)


def is_rack_aware(selector: str | None) -> bool:
    """Whether a setting names the selector that goes by racks, with its package or without."""
    return selector is not None and selector.rpartition(".")[2] == RACK_AWARE


def nearest(partition: Partition, rack: str, offset: Offset, image: Image, me: NodeId) -> NodeId:
    """The replica in a consumer's rack that it should read from; HERE if that is this one, the leader, or none is."""
    if not rack or not partition.leads or _rack(image, me) == rack:
        return HERE
    leader = partition.leader()
    near = [
        (seen.offset, seen.caught_up_at, node)
        for node, seen in leader.progress().items()
        if node in leader.isr and _rack(image, node) == rack and seen.start <= offset <= seen.offset
    ]
    return max(near)[2] if near else HERE


def _rack(image: Image, node: NodeId) -> str | None:
    broker = image.brokers.get(node)
    return None if broker is None or broker.fenced else broker.rack
