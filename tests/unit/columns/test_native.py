"""The compiled half: it can be turned off, and memory it is given is never read or written out of bounds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from array import array
from pathlib import Path

import pyarrow as pa
import pytest

from andiron.columns import native
from andiron.columns.bodies import bodies_of
from andiron.columns.rows import rows_of
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record

END = 1 << 62
ASK = (
    "from andiron.columns import native, decode, walk; print(native.walk is None, decode._walk is walk.walk)"
)


def test_it_can_be_turned_off():
    off = subprocess.run(
        [sys.executable, "-c", ASK],
        env=os.environ | {"ANDIRON_NATIVE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert off.stdout.split() == ["True", "True"]


def test_every_part_says_that_it_needs_no_interpreter_lock():
    """One that does not say so gives the lock back to a Python that was started without; `make pythons` tries it."""
    native_folder = Path(__file__).parents[3] / "native"
    modules = [text for each in native_folder.glob("*.c") if "PyModuleDef_Init" in (text := each.read_text())]

    assert len(modules) == 3
    assert all("{Py_mod_gil, Py_MOD_GIL_NOT_USED}" in each for each in modules)


@pytest.fixture
def extension():
    if native.walk is None:
        pytest.skip("the extension was not built here")
    return native._native


def bodies(count=3):
    headers = (("h", b"x"),)
    return bodies_of([Batch(build([Record(0, 5, b"k", b"v" * 9, headers) for _ in range(count)]))], 0, END)


def test_columns_are_slices_of_one_piece_of_memory_as_large_as_needed(extension):
    counts = extension.measure(*bodies(), 0, END, True)
    columns = native.walk(bodies(), 0, END, True)

    assert counts[1:] == (3, 3, 27, 3, 3, 3)
    assert columns.value.to_pylist() == [b"v" * 9] * 3
    begin = columns.key.buffers()[1].address
    assert begin <= columns.headers.values.buffers()[2].address < begin + counts[0]


def test_memory_that_is_too_small_or_not_to_be_written_is_refused(extension):
    counts = extension.measure(*bodies(), 0, END, True)

    for arena in (bytearray(counts[0] - 1), bytes(counts[0])):
        with pytest.raises((TypeError, BufferError)):
            extension.walk(*bodies(), 0, END, True, counts, arena)


def test_counts_of_other_records_are_refused(extension):
    counts = extension.measure(*bodies(3), 0, END, True)
    arena = bytearray(counts[0])

    for count in (2, 4):
        with pytest.raises(ValueError, match="change while they are read"):
            extension.walk(*bodies(count), 0, END, True, counts, arena)


def test_a_table_that_points_elsewhere_is_refused(extension):
    sources, table = bodies()
    for column, value in ((0, 1), (0, -1), (1, -1), (1, 10_000), (2, 10_000), (7, -1), (7, 1000)):
        wrong = array("q", table)
        wrong[column] = value
        with pytest.raises(ValueError, match=r".+"):
            extension.measure(sources, wrong, 0, END, True)


@pytest.mark.parametrize("change", [{3: 2}, {4: -1}, {5: 1000}, {6: 1000}, {1: None}, {0: b""}])
def test_a_column_that_is_not_what_it_says_is_refused(extension, change):
    value = native._column(rows_of(pa.record_batch({"value": [b"abc", None]}), 0).value)
    wrong = tuple(change.get(at, each) for at, each in enumerate(value))

    with pytest.raises(ValueError, match=r".+"):
        extension.pack(None, wrong, None, None, None, None, None, 0, 1000)
    with pytest.raises(ValueError, match=r".+"):
        extension.partitions(wrong, 3)


def test_columns_of_different_lengths_are_refused(extension):
    one, two = (native._column(pa.array([b"a"] * n)) for n in (1, 2))

    with pytest.raises(ValueError, match="belong together"):
        extension.pack(one, two, None, None, None, None, None, 0, 1000)


@pytest.mark.usefixtures("extension")
def test_a_row_that_is_not_there_is_an_error_of_the_protocol():
    rows = rows_of(pa.record_batch({"value": [b"a"]}), 0)

    for place in (-1, 1):
        with pytest.raises(ProtocolError) as caught:
            native.pack(rows, array("q", [place]), 1000)
        assert caught.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.usefixtures("extension")
def test_threads_walk_side_by_side():
    """Large enough that the interpreter's lock is let go."""
    large = bodies_of([Batch(build([Record(0, n, b"k", b"%d" % n * 50) for n in range(2000)]))], 0, END)
    expected = native.walk(large, 0, END, False).value
    found = []

    threads = [
        threading.Thread(target=lambda: found.append(native.walk(large, 0, END, False).value))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(each.equals(expected) for each in found)
    assert len(found) == 4
