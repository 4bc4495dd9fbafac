"""A disk that stands still, and one that does not."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from chaos import canary as module
from chaos.canary import Canary


def test_a_disk_that_works_never_stood_still(tmp_path: Path) -> None:
    synced = threading.Event()
    canary = Canary(tmp_path, lambda number: (os.fsync(number), synced.set())[0])
    canary.start()
    assert synced.wait(30)
    canary.stop()

    assert canary.stood_s == 0


def test_what_it_stands_still_for_counts_while_it_does_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOW_S", 0.01)
    begun, goes_on = threading.Event(), threading.Event()
    canary = Canary(tmp_path, lambda _: (begun.set(), goes_on.wait(30))[0])
    canary.start()
    assert begun.wait(30)
    time.sleep(0.02)

    assert canary.stood_s > 0.01
    goes_on.set()
    canary.stop()
    assert canary.stood_s > 0.01
