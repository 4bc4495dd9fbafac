"""How long a copy waits to be no faster than it was told."""

from __future__ import annotations

import pytest

from andiron.copying.pace import Pace


def test_whoever_is_faster_waits_and_a_pause_is_not_made_up_for() -> None:
    now = [100.0]
    pace = Pace(1000, lambda: now[0])

    assert pace.wait_s(500) == pytest.approx(0.5)
    now[0] += 0.5
    assert pace.wait_s(2000) == pytest.approx(2.0)
    now[0] += 60
    assert pace.wait_s(500) == 0  # of the second that is remembered
    assert pace.wait_s(1500) == pytest.approx(1.0)


def test_without_a_rate_nobody_waits() -> None:
    assert Pace(None).wait_s(1 << 40) == 0
