"""Arrays by their memory are what pyarrow's own conversions give, and pandas is left alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from andiron.columns.arrays import empty_blob, numbers, repeated


@pytest.mark.parametrize("values", [[], [1, 2, 3]])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_numbers_are_those_of_numpy(values: list[int], kind: type) -> None:
    given = np.array(values, kind)

    assert numbers(given).equals(pa.array(given))
    assert numbers(given[::2]).equals(pa.array(given[::2]))


def test_numbers_may_be_times() -> None:
    times = np.array([5, 6], np.int64)

    assert numbers(times, pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist() == [5, 6]


@pytest.mark.parametrize("text", ["", "orders", "größe"])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_text_is_repeated(text: str, rows: int) -> None:
    made = repeated(text, rows)
    made.validate(full=True)

    assert made.to_pylist() == [text] * rows


def test_no_bytes_are_a_value() -> None:
    assert empty_blob().as_py() == b""


def test_who_reads_and_writes_columns_does_not_import_pandas() -> None:
    program = (
        "import sys, numpy as np, andiron.columns.decode, andiron.columns.encode\n"
        "from andiron.columns.arrays import *\n"
        "numbers(np.arange(3)), repeated('orders', 3), empty_blob()\n"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
