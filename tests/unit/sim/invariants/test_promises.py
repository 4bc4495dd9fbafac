import pytest

from andiron.sim.invariants.promises import AckedStays
from andiron.sim.watcher import Violation


def test_what_was_acknowledged_is_there_on_the_next_leader(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.write(b"b", acks=1)
    law = trio.law(AckedStays)
    assert list(law._canons.of(trio.partition(trio.leader())).promised) == [0]
    trio.rest()


def test_a_promise_that_is_not_kept_is_noticed(trio):
    trio.create()
    trio.write(b"a")
    law, leader = trio.law(AckedStays), trio.leader()
    trio.mirrors.of(leader, trio.partition(leader)).records.clear()
    law._leads.clear()
    with pytest.raises(Violation, match="can be read from every later leader: orders-0: 0 is not"):
        law.stepped(leader)


def test_an_early_acknowledgement_is_noticed(trio, monkeypatch):
    trio.create()
    for follower in trio.followers():
        follower.pause(10_000)
    monkeypatch.setattr(type(trio.partition(trio.leader())), "acknowledged", lambda self, written, acks: True)
    with pytest.raises(Violation, match="acks=all is said of what is committed"):
        trio.write(b"a")
