"""What the quorum has settled is noted for the end of the step, and taken once."""

from andiron.broker.metadata.raft_facts import LeadershipGained, LeadershipLost, RaftFacts
from worlds.noting import NotedStep


def test_facts_come_in_their_order_and_once():
    step = NotedStep()
    facts = RaftFacts(step)
    facts.note(LeadershipGained(5))
    facts.note(LeadershipLost())

    assert step.has_facts
    assert facts.take() == [LeadershipGained(5), LeadershipLost()]
    assert facts.take() == []
