"""What the tests of the simulator begin with."""

import pytest

from unit.sim.quiet import Quiet
from unit.sim.trio import Trio


@pytest.fixture
def quiet():
    return Quiet()


@pytest.fixture
def trio():
    return Trio()
