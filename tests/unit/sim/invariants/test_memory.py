from types import SimpleNamespace

import pytest

from andiron.broker.census import Kept
from andiron.sim.invariants import memory
from andiron.sim.invariants.memory import MemoryFollowsState
from andiron.sim.watcher import Violation


@pytest.fixture
def keeping(monkeypatch):
    """A host whose node keeps what it is told to."""

    def told(entries, living):
        monkeypatch.setattr(memory, "census", lambda broker: [Kept("timers", entries, living)])
        return SimpleNamespace(name="node-1", node=SimpleNamespace(broker=None))

    return told


def test_what_there_is_may_be_kept_and_as_much_again(keeping):
    MemoryFollowsState().rested(keeping(30, 10))


def test_what_was_is_noticed(keeping):
    with pytest.raises(Violation, match="node-1 has 300 timers, and there are 10"):
        MemoryFollowsState().rested(keeping(300, 10))
