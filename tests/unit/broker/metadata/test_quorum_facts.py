"""What the quorum has settled is noted for the end of the step, and taken once."""

from andiron.broker.metadata.quorum_facts import LostLead, QuorumFacts, TookLead
from worlds.noting import NotedStep


def test_facts_come_in_their_order_and_once():
    step = NotedStep()
    facts = QuorumFacts(step)
    facts.note(TookLead(5))
    facts.note(LostLead())

    assert step.has_facts
    assert facts.take() == [TookLead(5), LostLead()]
    assert facts.take() == []
