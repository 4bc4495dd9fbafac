"""What most tests of the broker begin with."""

import pytest

from worlds.coordinating import coordinating
from worlds.node import SmallNode


@pytest.fixture
def node():
    return SmallNode()


@pytest.fixture
def coordinator():
    """A node with topic t, on which groups and transactions find their coordinators."""
    return coordinating()
