"""What stays is put aside once, when it is there."""

from __future__ import annotations

import gc

import pytest

from andiron.spark.runtime import worker


def test_the_second_task_of_a_kind_puts_aside_what_the_first_has_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frozen: list[str] = []
    monkeypatch.setattr(worker, "_tasks", {})
    for number, kind in enumerate(["read", "read", "read", "write", "write", "read"]):
        monkeypatch.setattr(gc, "freeze", lambda at=f"{kind} {number}": frozen.append(at))
        worker.begin_task(kind)

    assert frozen == ["read 1", "write 4"]
