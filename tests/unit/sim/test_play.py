import logging

import pytest

from andiron.sim import play as playing
from andiron.sim.play import play
from andiron.sim.watcher import Violation, Watcher


@pytest.fixture(autouse=True)
def silence():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_a_seed_is_played_to_its_end():
    outcome = play(18)
    assert outcome.violation is None
    assert outcome.simulated_ms > 10_000
    assert outcome.boots > 1
    assert outcome.lines > 100


def test_the_same_seed_is_the_same_history():
    lines = []
    first = play(18, lines.append)
    assert play(18) == first
    assert len(lines) == first.lines
    assert play(44).digest != first.digest


def test_a_violation_is_an_outcome(monkeypatch):
    class Grumpy(Watcher):
        def came_up(self, host):
            raise Violation("nothing ever starts", "it did")

    monkeypatch.setattr(playing, "all_invariants", lambda *args, **how: [Grumpy()])
    outcome = play(18)
    assert str(outcome.violation) == "nothing ever starts: it did"


def test_a_law_that_cannot_be_asked_is_no_law_that_holds(monkeypatch):
    class Confused(Watcher):
        def rested(self, host):
            raise KeyError(94)

    monkeypatch.setattr(playing, "all_invariants", lambda *args, **how: [Confused()])
    assert str(play(18, nodes=1).violation) == "every law can be asked: KeyError(94)"
