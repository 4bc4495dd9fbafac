"""What most tests of the broker begin with."""

import pytest

from worlds.node import SmallNode


@pytest.fixture
def node():
    return SmallNode()
