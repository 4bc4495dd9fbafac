"""Lines as columns are the same records as lines one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

from andiron.cli.line_columns import LineColumns
from andiron.cli.line_writer import Plain
from andiron.cli.lines import LineError

TEXT = st.lists(st.sampled_from([b"a", b":", b"::", b"\n", b"", b"null", b"\r", b"\xff"]), max_size=30).map(
    b"".join
)


def one_by_one(block: bytes, plain: Plain) -> tuple[list[tuple[bytes | None, bytes | None]], int | None]:
    """The records, and the first line that is none."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    found: list[tuple[bytes | None, bytes | None]] = []
    for number, line in enumerate(lines):
        try:
            found.append(plain.read(line)[:2])
        except LineError:
            return found, number
    return found, None


@settings(deadline=None)
@given(TEXT.filter(bool), st.sampled_from([None, b":", b"::", b"aa"]), st.sampled_from([None, b"", b"null"]))
def test_they_are_what_they_are_one_by_one(block: bytes, separator: bytes | None, null: bytes | None) -> None:
    plain = Plain(separator, null)
    expected, bad = one_by_one(block, plain)
    columns = LineColumns(separator, null, None)
    if bad is not None:
        with pytest.raises(LineError, match="no key separator") as refused:
            columns.rows(block)
        assert refused.value.before == bad
        return
    rows = columns.rows(block).to_pydict()

    keys = rows.get("key", [None] * len(expected))
    assert list(zip(keys, rows["value"], strict=True)) == expected


def test_all_go_to_a_partition_that_is_given() -> None:
    assert LineColumns(None, None, 3).rows(b"a\nb\n").to_pydict() == {
        "value": [b"a", b"b"],
        "partition": [3, 3],
    }
