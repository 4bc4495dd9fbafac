"""One voter of three, in each of its roles."""

from __future__ import annotations

import pytest

from andiron.quorum.events import (
    DeadlineReached,
    LeaderHeard,
    LeaderNamed,
    NodeStarted,
)
from andiron.quorum.quorum import Quorum
from andiron.quorum.roles import Role
from unit.quorum.memory import LATER, Memory, granted, quorum


@pytest.fixture
def files() -> Memory:
    return Memory()


@pytest.fixture
def voter(files: Memory) -> Quorum:
    """One of three, which has just started."""
    made = quorum(files)
    assert made.step(NodeStarted(), 0) == []
    return made


@pytest.fixture
def candidate(voter: Quorum) -> Quorum:
    voter.step(DeadlineReached(), LATER)
    voter.step(granted(2, 0, pre_vote=True), LATER)
    assert voter.role is Role.CANDIDATE
    return voter


@pytest.fixture
def leader(candidate: Quorum) -> Quorum:
    candidate.step(granted(2, 1, pre_vote=False), LATER)
    assert candidate.leads
    return candidate


@pytest.fixture
def follower(voter: Quorum) -> Quorum:
    """Of 2, in epoch 4, which it hears."""
    voter.step(LeaderNamed(4, 2), 0)
    voter.step(LeaderHeard(4), 0)
    return voter
