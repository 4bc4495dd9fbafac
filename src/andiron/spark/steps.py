"""The steps of a commit, by name: where a crash would show whether the protocol holds.

    task     before_write ─▶ after_write ─▶ after_prepare
    driver   before_decision ─▶ after_decision ─▶ between_participants ─▶ after_commit
             ─▶ Spark writes its own commit log

`reached` does nothing. Tests that kill put another in its place, and whoever wants to watch a batch go by can.

Read next: sink/commit_protocol.py.
"""

from __future__ import annotations

TASK_STEPS = ("before_write", "after_write", "after_prepare")
DRIVER_STEPS = ("before_decision", "after_decision", "between_participants", "after_commit")
STEPS = (*TASK_STEPS, *DRIVER_STEPS)


def reached(step: str, batch: int) -> None:
    """A batch has come to this step."""
