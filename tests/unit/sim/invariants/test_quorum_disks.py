import pytest

from andiron.sim.invariants.quorum_disks import MetadataIsOnMostDisks
from andiron.sim.watcher import Violation


def controller(trio):
    return next(host for host in trio.hosts if host.node.broker.raft.partition.leads)


def test_what_a_quorum_commits_is_on_most_disks(trio):
    trio.create()
    law = trio.law(MetadataIsOnMostDisks)
    assert sorted(law._flushed.values())[1] >= law._watermarks[controller(trio).number] > 0


def test_what_is_on_one_disk_only_is_noticed(trio):
    trio.create()
    law, leader = trio.law(MetadataIsOnMostDisks), controller(trio)
    law._watermarks[leader.number] -= 1
    for number in law._flushed:
        law._flushed[number] = 0
    with pytest.raises(Violation, match=rf"of \[1, 2, 3\] only \[{leader.number}\] have synced it"):
        law.stepped(leader)
