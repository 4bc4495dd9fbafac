"""What was found, in words."""

from __future__ import annotations

from andiron.cli.folder_findings import PER_FILE_MAX, FolderFindings


def test_a_folder_that_holds_is_one_line() -> None:
    findings = FolderFindings("orders-0", segments=1, batches=2, records=30, bytes=2048, start=5, end=35)

    assert findings.as_text() == (
        "orders-0: 1 segment, 2 batches, 30 records, 2.0 KiB, offsets 5 to 34: fine"
    )


def test_an_empty_log_says_where_it_is() -> None:
    assert "empty at offset 7" in FolderFindings("orders-0", segments=1, end=7).as_text()


def test_findings_follow_with_their_files() -> None:
    findings = FolderFindings("orders-0")
    findings.problem("x.log", "is broken")
    findings.note("x.index", "is missing")

    assert findings.as_text().splitlines() == [
        "orders-0: 1 problem",
        "  ! x.log: is broken",
        "  - x.index: is missing",
    ]
    assert findings.as_json()["problems"] == [{"file": "x.log", "what": "is broken"}]
    assert findings.as_json()["notes"] == [{"file": "x.index", "what": "is missing"}]


def test_a_file_that_complains_without_end_is_cut_short() -> None:
    findings = FolderFindings("orders-0")
    for number in range(1000):
        findings.problem("x.log", f"byte {number}")
    findings.problem("y.log", "too")

    assert len(findings.problems) == PER_FILE_MAX + 2
    assert findings.problems[PER_FILE_MAX].what == "and more of this kind"
