"""Steps have names, and nothing happens at them."""

from __future__ import annotations

from andiron.spark import steps


def test_every_step_has_one_name() -> None:
    assert len(set(steps.STEPS)) == len(steps.STEPS) == 7
    assert (*steps.TASK_STEPS, *steps.DRIVER_STEPS) == steps.STEPS


def test_nothing_happens_at_a_step() -> None:
    for step in steps.STEPS:
        steps.reached(step, 0)
