from __future__ import annotations

import pytest

from andiron.edge import paced_disk
from andiron.edge.paced_disk import PacedDisk


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(paced_disk, "time", clock)
    return clock


def test_reads_and_appends_together_keep_to_the_rate(clock, tmp_path):
    disk = PacedDisk(1000)
    file = disk.open(f"{tmp_path}/a")

    for _ in range(10):
        file.append(bytes(500))
        file.read(0, 500)

    assert clock.now - 1000.0 == pytest.approx(10.0)
    disk.close_all()


def test_time_not_used_is_not_saved_up(clock, tmp_path):
    disk = PacedDisk(1000)
    file = disk.open(f"{tmp_path}/a")
    file.append(bytes(1000))
    clock.now += 3600

    file.append(bytes(2000))

    assert clock.now == pytest.approx(1000 + 1 + 3600 + 2)
    disk.close_all()


def test_without_a_rate_nothing_waits(clock, tmp_path):
    disk = PacedDisk()
    disk.open(f"{tmp_path}/a").append(bytes(1 << 20))

    assert clock.now == 1000.0
    disk.close_all()
