from andiron.sim.clients.operator import Operator
from andiron.sim.clustered import _growing
from unit.sim.trio import Trio


def operating(trio, **how):
    operator = Operator(
        trio.world, trio.network, "operator", ["orders"], 400, **{"changes_voters": False} | how
    )
    operator.begin()
    return operator


def test_partitions_are_moved_and_all_is_well_in_the_end(trio):
    trio.create()
    trio.write(b"a")
    operator = operating(trio)
    seen = {}
    for _ in range(60):
        trio.run(500)
        seen[tuple(trio.hosts[0].node.broker.image.topics["orders"].partitions[0].replicas)] = None
    operator.is_closing = True
    trio.run(until=lambda: operator.is_done)
    trio.rest()
    assert len(seen) > 3
    assert {len(replicas) for replicas in seen} == {2, 3}


def test_voters_come_and_go():
    trio = Trio(properties=_growing)
    operator = operating(trio, changes_voters=True)
    seen = {}
    for _ in range(60):
        trio.run(500)
        for host in trio.hosts:
            seen[tuple(host.node.broker.raft.voters.latest.ids)] = None
    operator.is_closing = True
    trio.run(until=lambda: operator.is_done)
    trio.rest()
    assert (1, 2, 3) in map(tuple, map(sorted, seen))
    assert {len(voters) for voters in seen if voters} == {1, 2, 3}, "who has read nothing yet knows none"
