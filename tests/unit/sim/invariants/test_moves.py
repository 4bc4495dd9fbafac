import pytest

from andiron.sim.invariants.moves import ReplicasMove
from andiron.sim.watcher import Violation
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from unit.sim.trio import ORDERS


def move(trio, replicas, at=None):
    wanted = ReassignableTopic("orders", [ReassignablePartition(0, replicas)])
    request = AlterPartitionReassignmentsRequest(timeout_ms=5_000, topics=[wanted])
    return trio.ask(request, 0, at or trio.hosts[0]).responses[0].partitions[0]


def replicas(trio):
    return list(trio.hosts[0].node.broker.image.topics["orders"].partitions[0].replicas)


def test_a_partition_comes_to_where_it_is_moved_and_back(trio):
    trio.create()
    trio.write(b"a")
    for wanted in ([1, 2], [2, 3], [3, 1, 2]):
        assert move(trio, wanted).error_code == 0
        trio.rest()
        assert replicas(trio) == wanted
        trio.write(b"b")


def test_a_log_that_was_dropped_is_forgotten_and_one_that_is_named_again_begins_anew(trio):
    trio.create()
    trio.write(b"a")
    move(trio, [1, 2])
    trio.rest()
    trio.run(1_000)
    topic_id = trio.hosts[0].node.broker.image.topics["orders"].id
    assert [key[0] for key in trio.mirrors if key[1] == topic_id] == [1, 2]
    move(trio, [1, 2, 3])
    trio.rest()
    assert trio.partition(trio.host(3)).log.end == 1


def test_a_log_that_was_dropped_in_the_step_that_was_cut_short_is_forgotten_too(trio):
    trio.create()
    trio.write(b"a")
    trio.rest()
    third, law = trio.host(3), trio.law(ReplicasMove)
    law.stepped = lambda host: None  # it does not come to that
    move(trio, [1, 2])
    trio.run(until=lambda: not trio.host(3).node.broker.replica_manager.peek(ORDERS))
    third.kill()
    topic_id = trio.hosts[0].node.broker.image.topics["orders"].id
    assert [key[0] for key in trio.mirrors if key[1] == topic_id] == [1, 2]


def test_another_place_than_the_one_that_was_promised_is_noticed(trio):
    trio.create()
    move(trio, [1, 2])
    trio.rest()
    law = trio.law(ReplicasMove)
    law._wanted = {place: [2, 3] for place in law._wanted}
    with pytest.raises(Violation, match=r"\[1, 2\] are replicas, and \[2, 3\] was promised"):
        law.rested(trio.hosts[0])


def test_a_replica_that_is_gone_without_being_told_is_noticed(trio):
    trio.create()
    trio.rest()
    host = trio.followers()[0]
    partitions = host.node.broker.replica_manager
    law = trio.law(ReplicasMove)
    law._applied.clear()
    del partitions._partitions[ORDERS]
    with pytest.raises(Violation, match="a replica is there until it is told to go: orders-0 is not on"):
        law.stepped(host)
