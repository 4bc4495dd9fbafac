import pytest

from andiron.sim.invariants.leadership import EpochsHaveOneLeader
from andiron.sim.watcher import Violation
from unit.sim.several import Puppets


class Replica:
    leads, name, topic_id = True, ("t", 0), b"t" * 16

    def __init__(self, epoch):
        self.epoch = epoch
        self.name = type("Name", (), {"partition": 0, "__str__": lambda self: "t-0"})()


def leading(puppets, number, epoch):
    replica = Replica(epoch)
    silent = type("Raft", (), {"partition": type("P", (), {"leads": False})})
    puppets.node(number).broker = type("Broker", (), {"raft": silent, "replica_manager": [replica]})
    return replica


def test_a_real_cluster_has_one_leader_at_a_time(trio):
    trio.create()
    first = trio.leader()
    first.pause(8_000)
    trio.run(10_000)
    assert len({host for (_, _, _), host in trio.law(EpochsHaveOneLeader)._leaders.items()}) >= 1


def test_two_in_one_epoch_are_noticed(monkeypatch):
    puppets, law = Puppets(monkeypatch), EpochsHaveOneLeader()
    leading(puppets, 1, 4)
    leading(puppets, 2, 5)
    law.stepped(puppets.host(1))
    law.stepped(puppets.host(2))
    leading(puppets, 1, 5)
    with pytest.raises(Violation, match="t-0: node-2 and node-1 lead in epoch 5"):
        law.stepped(puppets.host(1))


def test_an_epoch_does_not_go_back_within_a_life(monkeypatch):
    puppets, law = Puppets(monkeypatch), EpochsHaveOneLeader()
    leading(puppets, 1, 4)
    law.stepped(puppets.host(1))
    leading(puppets, 1, 3)
    with pytest.raises(Violation, match="leader epochs go forward"):
        law.stepped(puppets.host(1))
