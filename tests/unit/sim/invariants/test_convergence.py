import pytest

from andiron.sim.invariants.convergence import ReplicasConverge
from andiron.sim.watcher import Violation


def test_a_node_that_comes_back_is_waited_for(trio):
    trio.create()
    trio.write(b"a")
    follower = trio.followers()[0]
    follower.kill()
    trio.run(3_000)
    trio.write(b"b")
    law = trio.law(ReplicasConverge)
    assert law.is_restless(trio.leader())
    follower.start()
    trio.run(30_000, until=trio.is_at_rest)
    assert not any(law.is_restless(host) for host in trio.hosts)
    trio.rest()


def test_a_replica_that_stays_behind_is_noticed(trio):
    trio.create()
    follower = trio.followers()[0]
    follower.kill()
    trio.run(5_000)
    law = trio.law(ReplicasConverge)
    with pytest.raises(Violation, match=r"all replicas come to be in sync: node-.: orders-0: .* are in sync"):
        law.rested(trio.leader())
    with pytest.raises(Violation, match="it is down"):
        law.rested(follower)


def test_logs_that_differ_in_the_end_are_noticed(trio):
    trio.create()
    trio.write(b"a")
    trio.run(5_000, until=trio.is_at_rest)
    follower = trio.followers()[0]
    mirror = trio.mirrors.of(follower, trio.partition(follower))
    mirror.records[0] = mirror.records[0]._replace(value=b"z")
    with pytest.raises(Violation, match="all logs come to be equal: orders-0 at 0"):
        trio.law(ReplicasConverge).rested(follower)
