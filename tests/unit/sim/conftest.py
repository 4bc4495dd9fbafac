"""What the tests of the simulator begin with."""

import pytest

from unit.sim.quiet import Quiet


@pytest.fixture
def quiet():
    return Quiet()
