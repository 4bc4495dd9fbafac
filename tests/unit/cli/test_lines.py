"""Lines come in chunks as they arrive, and a pause is told."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from andiron.cli import lines
from andiron.cli.lines import LineError, read_blocks


def all_lines(path: Path) -> list[bytes]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        whole = b"".join(read_blocks(descriptor, 0))
        return whole.removesuffix(b"\n").split(b"\n") if whole else []
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"one", [b"one"]),
        (b"one\n", [b"one"]),
        (b"one\n\ntwo\r\nthree", [b"one", b"", b"two\r", b"three"]),
    ],
)
def test_lines_are_split_at_newlines(tmp_path: Path, data: bytes, expected: list[bytes]) -> None:
    path = tmp_path / "lines"
    path.write_bytes(data)

    assert all_lines(path) == expected


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_chunks_do_not_show_in_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    path = tmp_path / "lines"
    path.write_bytes(b"one\n\nthree\nfour")

    assert all_lines(path) == [b"one", b"", b"three", b"four"]


def test_a_pause_is_an_empty_chunk() -> None:
    reading, writing = os.pipe()
    chunks = read_blocks(reading, 0)
    os.write(writing, b"one\ntw")
    assert next(chunks) == b"one\n"
    assert next(chunks) == b""

    os.write(writing, b"o\n")
    assert next(chunks) == b"two\n"
    os.close(writing)
    assert b"".join(chunks) == b""
    os.close(reading)


def test_what_comes_soon_is_no_pause() -> None:
    reading, writing = os.pipe()
    chunks = read_blocks(reading, 30)
    os.write(writing, b"one\n")
    assert next(chunks) == b"one\n"

    threading.Thread(target=lambda: (os.write(writing, b"two\n"), os.close(writing))).start()
    assert list(chunks) == [b"two\n"]
    os.close(reading)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES_MAX", 10)
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 11)

    with pytest.raises(LineError, match="more than 10 bytes"):
        all_lines(path)
