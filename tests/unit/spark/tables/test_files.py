"""Files by name, wherever they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron.spark.tables.files import Files


@pytest.mark.parametrize("written", ["{}", "file://{}", "file:{}", "{}/"])
def test_a_path_and_a_file_uri_are_the_same_place(tmp_path: Path, written: str) -> None:
    files = Files(written.format(tmp_path))

    assert files.uri == f"file://{tmp_path}"
    assert str(files) == files.root == str(tmp_path)


def test_a_relative_path_is_made_absolute_for_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert Files("tables/orders").uri == f"file://{tmp_path}/tables/orders"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    files.make_directory("a/b")

    files.write("a/b/c.json", "{}")
    files.sync(["a/b/c.json"])

    assert files.read("a/b/c.json") == "{}"
    assert [(each.name, each.is_directory) for each in files.list("a")] == [("a/b", True)]


def test_what_is_not_there_is_none_and_nothing(tmp_path: Path) -> None:
    files = Files(str(tmp_path))

    assert files.read("a") is None
    assert list(files.list("a")) == []
    assert not files.exists("a")
    files.delete("a")


def test_a_directory_is_not_moved_onto_another(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    files.make_directory("a")
    files.make_directory("b")

    with pytest.raises(FileExistsError):
        files.move("a", "b")


def test_a_directory_is_removed_with_what_is_in_it(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    files.make_directory("a/b")
    files.write("a/b/c", "")

    files.delete("a")

    assert not files.exists("a")


def test_local_files_are_renamed_at_once(tmp_path: Path) -> None:
    assert Files(str(tmp_path)).renames_at_once
