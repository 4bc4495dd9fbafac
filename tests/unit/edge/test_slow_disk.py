"""A disk with a brake: slow while the file says so, and never for the metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron.edge.slow_disk import SlowDisk, set_rate


class Clock:
    """A clock that sleeping moves, and who reads it a little."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, 0.0

    def read(self) -> float:
        self.now += 0.1
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def disk(tmp_path: Path, clock: Clock) -> SlowDisk:
    for name in ("data", "metadata"):
        (tmp_path / name).mkdir()
    return SlowDisk(str(tmp_path / "brake"), str(tmp_path / "metadata"), 10, clock.sleep, clock.read)


def test_without_a_brake_it_is_as_quick_as_any(disk: SlowDisk, clock: Clock, tmp_path: Path) -> None:
    disk.open(f"{tmp_path}/data/a").append(bytes(1_000_000))

    assert clock.slept == 0


def test_an_append_takes_as_long_as_the_rate_says(disk: SlowDisk, clock: Clock, tmp_path: Path) -> None:
    set_rate(str(tmp_path / "brake"), 1000.0)
    file = disk.open(f"{tmp_path}/data/a")

    file.append(bytes(500))

    assert clock.slept == pytest.approx(0.5)
    assert file.size == 500


def test_no_append_takes_longer_than_a_second(disk: SlowDisk, clock: Clock, tmp_path: Path) -> None:
    set_rate(str(tmp_path / "brake"), 1000.0)

    disk.open(f"{tmp_path}/data/a").append(bytes(50_000))

    assert clock.slept == pytest.approx(1.0)


def test_it_is_quick_again_when_the_brake_is_let_go(disk: SlowDisk, clock: Clock, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/data/a")
    set_rate(str(tmp_path / "brake"), 1000.0)
    file.append(bytes(500))
    set_rate(str(tmp_path / "brake"), None)
    file.append(bytes(500))

    assert clock.slept == pytest.approx(0.5)


def test_the_metadata_are_spared(disk: SlowDisk, clock: Clock, tmp_path: Path) -> None:
    set_rate(str(tmp_path / "brake"), 1.0)

    disk.open(f"{tmp_path}/metadata/a").append(bytes(500))

    assert clock.slept == 0


def test_an_fsync_waits_for_what_is_being_written(disk: SlowDisk, clock: Clock, tmp_path: Path) -> None:
    set_rate(str(tmp_path / "brake"), 1000.0)
    file = disk.open(f"{tmp_path}/data/a")
    file.append(bytes(300))
    disk._due = clock.now + 0.7

    disk.sync(file.fd())

    assert clock.slept == pytest.approx(0.3 + 0.6)


@pytest.mark.parametrize("text", ["", "soon", "-5", "0"])
def test_what_is_no_rate_is_no_brake(disk: SlowDisk, clock: Clock, tmp_path: Path, text: str) -> None:
    (tmp_path / "brake").write_text(text)

    disk.open(f"{tmp_path}/data/a").append(bytes(500))

    assert clock.slept == 0
