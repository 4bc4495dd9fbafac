"""Replicas are moved from disk to disk, and nobody but their folders notices."""

from andiron.sim.clients.mover import Mover
from unit.sim.trio import COMMON, Trio


def test_replicas_are_moved_and_all_is_well_in_the_end(monkeypatch):
    monkeypatch.setitem(COMMON, "log.dirs", "/data/a,/data/b")
    trio = Trio()
    trio.create()
    trio.write(b"a")
    mover = Mover(trio.world, trio.network, "mover", ["orders"], ["/data/a", "/data/b"], 400)
    mover.begin()
    seen = {}
    for _ in range(40):
        trio.run(500)
        for host in trio.hosts:
            partition = host.node.broker.replica_manager.peek(("orders", 0))
            if partition is not None:
                seen[partition.log.directory] = None
    mover.is_closing = True
    trio.run(until=lambda: mover.is_done)
    trio.rest()
    assert seen.keys() == {"/data/a/orders-0", "/data/b/orders-0"}
