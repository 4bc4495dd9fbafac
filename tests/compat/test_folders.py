"""Data folders pass from hand to hand, and everybody who opens one finds what was there: every row of the matrix.

Each row makes a folder, ends its maker in one way, and lets others open it with the same server.properties; what they
tell clients is compared, and the matrix printed. See peers/folders.py for the rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from peers.folders import ROWS, Row, journey

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=str(row), marks=[pytest.mark.long] if row.long else []) for row in ROWS]
)
def test_a_folder_is_the_same_to_all_who_open_it(
    row: Row, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    legs = journey(row, tmp_path)

    with capsys.disabled():
        print("", *legs, sep="\n")
    assert [leg.differences for leg in legs] == [[] for _ in row.opened_by]
