from types import SimpleNamespace

import pytest

from andiron.broker.telemetry.census import Kept
from andiron.sim.invariants import memory
from andiron.sim.invariants.memory import MemoryFollowsState
from andiron.sim.watcher import End, Violation


@pytest.fixture
def keeping(monkeypatch):
    """A host whose node keeps what it is told to."""

    def told(entries, living, is_open=True):
        monkeypatch.setattr(memory, "census", lambda broker: [Kept("timers", entries, living)])
        return SimpleNamespace(name="node-1", node=SimpleNamespace(broker=None), is_open=is_open)

    return told


def test_what_there_is_may_be_kept_and_as_much_again(keeping):
    MemoryFollowsState().rested(keeping(30, 10))


def test_what_was_is_noticed(keeping):
    with pytest.raises(Violation, match="node-1 has 300 timers, and there are 10"):
        MemoryFollowsState().rested(keeping(300, 10))


def test_one_that_dies_while_it_reads_its_logs_is_not_judged(keeping):
    MemoryFollowsState().went_down(keeping(300, 10, is_open=False), End.KILLED)

    with pytest.raises(Violation):
        MemoryFollowsState().went_down(keeping(300, 10), End.KILLED)
