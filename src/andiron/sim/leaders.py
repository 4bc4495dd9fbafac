"""Who leads a partition at the moment, as somebody sees it who can look into every node at once.

    node-1  orders-0  leads, epoch 4    ← deposed, and has not heard of it
    node-2  orders-0  leads, epoch 5    ← the leader
    node-3  orders-0  follows

Of several that think they lead, the one in the latest epoch does. Clients have to find that out by asking
(clients/signposts.py); watchers, and clients that want to know whether there is anything left to read, look here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from andiron.broker.replicas.partition import Partition
    from andiron.sim.host import Host
    from andiron.sim.world import World


class Replica(NamedTuple):
    """A partition, and the machine on which it is."""

    host: Host
    partition: Partition


def replicas(world: World, name: tuple[str, int]) -> list[Replica]:
    """Where a partition is, of the nodes that are ready."""
    found = []
    for host in world.hosts.values():
        partition = (
            None if host.node is None or not host.node.ready else host.node.broker.replica_manager.peek(name)
        )
        if partition is not None:
            found.append(Replica(host, partition))
    return found


def leading(world: World, name: tuple[str, int]) -> Replica | None:
    """The one that leads; a sole replica is asked for whatever there is, also when it fails."""
    found = replicas(world, name)
    if len(world.hosts) == 1:
        return found[0] if found else None
    leaders = [replica for replica in found if replica.partition.leads]
    return max(leaders, key=lambda replica: replica.partition.epoch, default=None)


def all_led(world: World) -> Iterator[Replica]:
    """Every partition, where it is led."""
    names = {
        partition.name: None
        for host in world.hosts.values()
        if host.node is not None
        for partition in host.node.broker.replica_manager
    }
    for name in names:
        replica = leading(world, name)
        if replica is not None:
            yield replica
