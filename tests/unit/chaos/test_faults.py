"""Every fault has its remedy."""

from __future__ import annotations

from typing import Any, cast

import pytest

from andiron.chaos.cluster import ChaosCluster
from andiron.chaos.faults import FAULTS


class Noted:
    """A cluster to which nothing happens."""

    def __init__(self) -> None:
        self.slowed: list[tuple[int, float]] = []

    def slow_down(self, node: int, rate: float) -> None:
        self.slowed.append((node, rate))


def test_a_disk_is_slowed_to_a_rate() -> None:
    noted = Noted()
    FAULTS["slow"].strike(cast(Any, noted), 2)

    assert noted.slowed == [(2, 16_384.0)]


@pytest.mark.parametrize(
    ("name", "strike", "mend"),
    [
        ("kill", ChaosCluster.kill, ChaosCluster.start),
        ("pause", ChaosCluster.pause, ChaosCluster.resume),
        ("cut", ChaosCluster.cut_off, ChaosCluster.heal),
        ("restart", ChaosCluster.stop, ChaosCluster.start),
    ],
)
def test_what_is_done_is_undone_by_its_opposite(name: str, strike: object, mend: object) -> None:
    assert (FAULTS[name].strike, FAULTS[name].mend) == (strike, mend)
