"""One segment against itself and its indexes."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from andiron.cli.dump import data_file
from andiron.cli.folder_findings import FolderFindings
from andiron.cli.verify_segment import Entries, OffsetEntries, SegmentCheck, TimeEntries
from unit.cli.folders import batch, write

SIZE = len(batch(0))


def check(
    tmp_path: Path,
    data: bytes,
    *,
    base: int = 0,
    offsets: Entries | None = None,
    times: Entries | None = None,
    sealed: bool = True,
    epochs: list[tuple[int, int]] | None = None,
) -> FolderFindings:
    findings = FolderFindings("p")
    segment = data_file(str(write(tmp_path, base, ".log", data)))
    index, timeindex = (data_file(f"{tmp_path}/{base:020d}{kind}") for kind in (".index", ".timeindex"))
    by_offset = None if offsets is None else OffsetEntries(index, offsets, findings)
    by_time = None if times is None else TimeEntries(timeindex, times, findings, sealed=sealed)
    findings.end = SegmentCheck(segment, findings, epochs or []).run(by_offset, by_time)
    return findings


def problems(findings: FolderFindings) -> list[str]:
    return [f"{Path(each.file).suffix}: {each.what}" for each in findings.problems]


def test_a_segment_that_holds_is_counted(tmp_path: Path) -> None:
    found = check(tmp_path, batch(0) + batch(3), offsets=[(5, SIZE)], times=[(1005, 5)], epochs=[(0, 0)])

    assert problems(found) == []
    assert (found.segments, found.batches, found.records, found.bytes) == (1, 2, 6, 2 * SIZE)
    assert (found.start, found.end) == (0, 6)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (batch(0)[:-1] + b"?", "byte 0: the batch of offsets 0 to 2 fails its checksum"),
        (batch(3) + batch(0), "begins before offset 6"),
        (batch(0) + batch(2), "begins before offset 3"),
        (batch(0, epoch=2) + batch(3, epoch=1), "leader epoch 1 after 2"),
        (batch(0) + batch(3)[:-1], f"byte {SIZE}: no batch from here on"),
        (batch(0) + bytes(80), f"byte {SIZE}: no batch from here on"),
        (batch(0) + b"garbage", f"byte {SIZE}: no batch from here on"),
    ],
    ids=["crc", "order", "overlap", "epoch", "torn", "zeros", "garbage"],
)
def test_what_is_wrong_with_a_batch_is_told_with_its_place(
    tmp_path: Path, data: bytes, complaint: str
) -> None:
    (problem,) = problems(check(tmp_path, data))

    assert complaint in problem


def test_a_segment_begins_at_its_name(tmp_path: Path) -> None:
    (problem,) = problems(check(tmp_path, batch(3), base=5))

    assert "begins before offset 5" in problem


def test_an_offset_too_far_from_the_base_is_a_problem(tmp_path: Path) -> None:
    (problem,) = problems(check(tmp_path, batch(1 << 32)))

    assert "too far" in problem


def test_gaps_between_batches_are_fine(tmp_path: Path) -> None:
    assert problems(check(tmp_path, batch(0) + batch(100))) == []


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([(5, SIZE + 1)], f"entry for offset 5: no batch begins at byte {SIZE + 1}"),
        ([(2, SIZE)], "entry for offset 2: the batch at byte"),
        ([(5, 2 * SIZE)], "lies beyond the end of the log"),
        ([(5, SIZE), (5, SIZE)], "its entries do not rise"),
        ([(5, SIZE), (4, 2 * SIZE)], "its entries do not rise"),
    ],
)
def test_an_index_entry_leads_to_its_batch(tmp_path: Path, entries: Entries, complaint: str) -> None:
    (problem,) = problems(check(tmp_path, batch(0) + batch(3), offsets=entries))

    assert problem.startswith(".index: ")
    assert complaint in problem


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([(1001, 2), (1005, 5)], "timestamp 1002 comes before it and is later than 1001"),
        ([(1002, 2)], "does not know of timestamp 1005"),
        ([], "does not know of timestamp 1005"),
        ([(1005, 5), (1005, 6)], "its entries do not rise"),
    ],
)
def test_a_time_index_knows_the_latest_times(tmp_path: Path, entries: Entries, complaint: str) -> None:
    (problem,) = problems(check(tmp_path, batch(0) + batch(3), times=entries))

    assert problem.startswith(".timeindex: ")
    assert complaint in problem


def test_the_time_index_of_a_segment_in_use_may_be_behind(tmp_path: Path) -> None:
    assert problems(check(tmp_path, batch(0) + batch(3), times=[(1002, 2)], sealed=False)) == []


def test_records_without_a_time_need_no_time_index(tmp_path: Path) -> None:
    assert problems(check(tmp_path, batch(0, timestamp=-1), times=[])) == []


def test_an_epoch_that_the_table_has_otherwise_is_a_problem(tmp_path: Path) -> None:
    (problem,) = problems(check(tmp_path, batch(0, epoch=1), epochs=[(0, 0), (2, 9)]))

    assert "leader epoch 1, where the epochs file has 0" in problem


def test_an_epoch_that_the_table_has_not_heard_of_is_a_note(tmp_path: Path) -> None:
    found = check(tmp_path, batch(0, epoch=3), epochs=[(2, 0)])

    assert problems(found) == []
    assert "leader epoch 3 is not in the epochs file yet" in found.notes[0].what


def test_an_epoch_from_before_the_table_is_fine(tmp_path: Path) -> None:
    assert problems(check(tmp_path, batch(0, epoch=1), epochs=[(1, 2)])) == []


def test_a_count_that_cannot_be_is_a_problem(tmp_path: Path) -> None:
    data = bytearray(batch(0))
    struct.pack_into(">i", data, 57, 9)

    assert any("says that it has 9 records" in problem for problem in problems(check(tmp_path, bytes(data))))
