"""A partition and a data directory: each file against the others."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from andiron.cli.verify import Report, verify_directory, verify_partition
from andiron.controller.records import TopicRecord, encode_record
from andiron.records.builder import build
from andiron.records.record import Record
from unit.cli.folders import batch, snapshot, write, write_data, write_partition


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_partition(tmp_path / "orders-0")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def test_a_partition_that_holds(folder: Path) -> None:
    found = verify_partition(str(folder))

    assert (found.problems, found.notes) == ([], [])
    assert (found.segments, found.batches, found.records, found.start, found.end) == (2, 4, 12, 0, 12)


def test_a_data_directory_that_holds(data: Path) -> None:
    report = verify_directory(str(data))

    assert report.problems == []
    assert [Path(each.path).name for each in report.folders] == ["data", "orders-0"]
    assert report.as_text().endswith("all of it holds")
    assert report.as_json()["problems"] == 0


def test_a_partitions_folder_is_verified_by_itself(folder: Path) -> None:
    assert len(verify_directory(str(folder)).folders) == 1


BREAK: dict[str, tuple[Callable[[Path], object], str]] = {
    "segments overlap": (
        lambda folder: write(folder, 7, ".log", batch(7)),
        "it begins before offset 9, where the one before it ends",
    ),
    "torn index": (
        lambda folder: write(folder, 0, ".index", b"\1\2\3"),
        "part of an entry",
    ),
    "index of another log": (
        lambda folder: write(folder, 0, ".index", struct.pack(">ii", 5, 13)),
        "no batch begins at byte 13",
    ),
    "snapshot damaged": (
        lambda folder: write(folder, 9, ".snapshot", snapshot((7, 8))[:-1] + b"?"),
        "checksum",
    ),
    "snapshot of the future": (
        lambda folder: write(folder, 50, ".snapshot", snapshot()),
        "it is of offset 50, and the log ends at 12",
    ),
    "snapshot ahead of itself": (
        lambda folder: write(folder, 9, ".snapshot", snapshot((7, 9))),
        "producer 7 has offset 9, which is not below 9",
    ),
    "epochs unreadable": (
        lambda folder: (folder / "leader-epoch-checkpoint").write_text("1\n0\n"),
        "version",
    ),
    "epochs of another log": (
        lambda folder: (folder / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n1 3\n"),
        "leader epoch 0, where the epochs file has 1",
    ),
    "topic id unreadable": (
        lambda folder: (folder / "partition.metadata").write_text("version: 0\ntopic_id: x"),
        "is not an id",
    ),
    "aborted beyond the log": (
        lambda folder: write(folder, 0, ".txnindex", struct.pack(">hqqqq", 0, 7, 10, 20, 21)),
        "do not rise, or lie beyond the log",
    ),
}


@pytest.mark.parametrize("how", BREAK)
def test_what_is_broken_is_told(folder: Path, how: str) -> None:
    do, complaint = BREAK[how]
    do(folder)
    found = verify_partition(str(folder))

    assert any(complaint in each.what for each in found.problems), found.problems


def test_epochs_are_checked_where_they_change_within_a_segment(folder: Path) -> None:
    write(folder, 0, ".log", batch(0) + batch(3) + batch(6, epoch=1))
    found = verify_partition(str(folder))

    assert any("leader epoch 1, where the epochs file has 0" in each.what for each in found.problems)


def test_what_a_start_puts_right_is_a_note(folder: Path) -> None:
    (folder / f"{0:020d}.index").unlink()
    write(folder, 20, ".log.deleted", b"")
    found = verify_partition(str(folder))

    assert found.problems == []
    assert sorted(each.what for each in found.notes) == [
        "left in transition; a start finishes or removes it",
        "missing; a start builds it",
    ]


def test_a_folder_without_segments_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()

    assert verify_partition(str(tmp_path / "orders-0")).notes[0].what == "there are no segments"


def test_a_checkpoint_beyond_its_log_is_a_problem(data: Path) -> None:
    (data / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 13\n")
    (problem,) = verify_directory(str(data)).problems

    assert problem.what == "orders-0 at 13, and its log ends at 12"


def test_a_checkpoint_of_a_partition_that_is_gone_is_a_note(data: Path) -> None:
    (data / "log-start-offset-checkpoint").write_text("0\n1\nold 0 5\n")
    report = verify_directory(str(data))

    assert report.problems == []
    assert report.folders[0].notes[0].what == "it names old-0, which is not here"


@pytest.mark.parametrize("name", ["meta.properties", "recovery-point-offset-checkpoint"])
def test_an_unreadable_file_of_the_directory_is_a_problem(data: Path, name: str) -> None:
    (data / name).write_text("?")

    assert verify_directory(str(data)).problems[0].file == name


def test_an_unclean_stop_is_a_note(data: Path) -> None:
    (data / ".kafka_cleanshutdown").unlink()

    assert "not stopped cleanly" in verify_directory(str(data)).folders[0].notes[0].what


def test_metadata_must_make_sense(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    good = encode_record(TopicRecord("orders", b"a" * 16))
    unknown, broken = b"\x01\x7f\x00", good[:-1]
    values = [Record(0, 5, None, value) for value in (good, unknown, broken)]
    write(folder, 0, ".log", bytes(build(values)))
    (folder / f"{0:020d}-{0:010d}.checkpoint").write_bytes(batch(0)[:-1] + b"?")
    found = verify_partition(str(folder))

    assert [each.what for each in found.notes if "type 127" in each.what]
    assert [each.what.partition(":")[0] for each in found.problems if each.file.endswith(".log")] == [
        "offset 2"
    ]
    assert any("fails its checksum" in each.what for each in found.problems)


def test_a_torn_metadata_log_is_a_problem_like_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    value = encode_record(TopicRecord("orders", b"a" * 16))
    write(folder, 0, ".log", bytes(build([Record(0, 5, None, value)])) + b"torn")

    assert verify_partition(str(folder)).problems


def test_a_report_counts_over_all_folders(data: Path) -> None:
    write(data / "orders-0", 0, ".index", b"\1\2\3")
    (data / "meta.properties").write_text("?")
    report: Report = verify_directory(str(data))

    assert len(report.problems) == 2
    assert report.as_text().endswith("2 problems found")
