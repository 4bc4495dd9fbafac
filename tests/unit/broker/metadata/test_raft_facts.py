"""What the quorum has settled is noted for the end of the step, and taken once."""

from andiron.broker.metadata.raft_facts import LeadershipGained, LeadershipLost, RaftFacts, SnapshotLoaded
from andiron.controller.image import Image
from andiron.quorum.snapshot_format import SnapshotId
from worlds.noting import NotedStep


def test_facts_come_in_their_order_and_once():
    step = NotedStep()
    facts = RaftFacts(step)
    facts.note(LeadershipGained(5))
    facts.note(LeadershipLost())

    assert step.has_facts
    assert facts.take_leadership() == [LeadershipGained(5), LeadershipLost()]
    assert facts.take_leadership() == []


def test_snapshots_are_taken_by_another_than_the_lead():
    facts, loaded = RaftFacts(NotedStep()), SnapshotLoaded(SnapshotId(7, 2), Image(), None)
    facts.note(loaded)
    facts.note(LeadershipLost())

    assert facts.take_snapshots() == [loaded]
    assert facts.take_snapshots() == []
    assert facts.take_leadership() == [LeadershipLost()]
