"""A leader dies under load, and nobody who was told that a record is there was told wrong.

One round of what `make chaos` plays by the hundred, with one library: an idempotent producer, transactions, and two
groups that read along. What is waited for is progress and not time, so that a slow machine only takes longer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.arena import Arena
from chaos.plan import Round


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "cut"])
def test_nothing_acknowledged_is_lost_repeated_or_out_of_order(tmp_path: Path, how: str) -> None:
    with Arena(tmp_path, rate=100.0) as arena:
        arena.wait_for_progress(50)
        arena.play(Round(1, "leader", how, partition=0, seconds=1.0))
        arena.wait_for_progress(50)
        verdict = arena.finish()

    assert verdict.is_good, str(verdict)
    assert verdict.checked["acknowledged"] >= 100
    assert verdict.checked["transactions"] > 0
