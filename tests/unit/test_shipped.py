"""What is shipped is found in a checkout and in a wheel; what a wheel holds: tests/installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron import shipped

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(
    not Path(shipped.__file__).is_relative_to(ROOT / "src"), reason="installed, not checked out"
)
@pytest.mark.parametrize("name", shipped.FOLDERS)
def test_in_a_checkout_they_lie_at_its_top(name: str) -> None:
    assert Path(shipped.folder(name)) == ROOT / name


def test_in_a_wheel_they_lie_in_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped, "SHARE", str(tmp_path))

    assert shipped.folder("docs") == str(tmp_path / "docs")
