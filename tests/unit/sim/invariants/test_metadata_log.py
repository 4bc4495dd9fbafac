import pytest

from andiron.sim.invariants.metadata_log import MetadataAgrees
from andiron.sim.watcher import Violation


def test_all_nodes_have_the_same_history(trio):
    trio.create()
    trio.run(2_000)
    law = trio.law(MetadataAgrees)
    ends = {reading.end for reading in law._readings.values()}
    assert len({reading.hash for reading in law._readings.values() if reading.end == max(ends)}) == 1


def test_another_history_is_noticed(trio):
    trio.create()
    trio.run(2_000)
    law = trio.law(MetadataAgrees)
    law._readings[2].hash = b"another"
    with pytest.raises(Violation, match=r"node-. has other records than node-."):
        trio.create("other")


def test_a_leader_without_all_of_it_is_noticed(trio):
    law = trio.law(MetadataAgrees)
    leader = next(host for host in trio.hosts if host.node.broker.controller.is_active)
    law._end, law._epoch = 10_000, 0
    with pytest.raises(Violation, match="who leads the metadata has all of it"):
        law.stepped(leader)


def test_another_image_of_the_same_records_is_noticed(trio):
    trio.create()
    trio.run(2_000)
    law, host = trio.law(MetadataAgrees), trio.hosts[0]
    topic = host.node.broker.image.topics["orders"]
    topic.partitions[0] = topic.partitions[0]._replace(leader_epoch=7)
    law._applied.clear()
    with pytest.raises(Violation, match=r"the same metadata makes the same image: at \d+ node-1 has another"):
        law.stepped(host)
