"""What `log verify` found in one folder: problems, notes, and how much it looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from andiron.cli.output import human_bytes, plural

PER_FILE_MAX = 20  # a broken file complains in every line; the first ones tell


class Finding(NamedTuple):
    """One problem or note about one file."""

    file: str
    what: str


@dataclass
class FolderFindings:
    """The findings of `log verify` about one partition's folder, and how much was looked at."""

    path: str
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    segments: int = 0
    batches: int = 0
    records: int = 0
    bytes: int = 0
    start: int = -1  # the first offset seen; -1 while there is none
    end: int = 0  # the offset after the last one

    def problem(self, file: str, what: str) -> None:
        """Note a problem: something that misleads a reader, or is lost."""
        told = sum(each.file == file for each in self.problems)
        if told < PER_FILE_MAX:
            self.problems.append(Finding(file, what))
        elif told == PER_FILE_MAX:
            self.problems.append(Finding(file, "and more of this kind"))

    def note(self, file: str, what: str) -> None:
        """Note something that a start puts right by itself."""
        self.notes.append(Finding(file, what))

    def as_text(self) -> str:
        """A line, and one more for each finding."""
        parts = [self.path]
        if self.segments:
            span = (
                f"offsets {self.start} to {self.end - 1}"
                if self.start >= 0
                else f"empty at offset {self.end}"
            )
            counts = [
                plural(self.segments, "segment"),
                plural(self.batches, "batch", "batches"),
            ]
            counts += [plural(self.records, "record"), human_bytes(self.bytes), span]
            parts.append(", ".join(counts))
        parts.append(plural(len(self.problems), "problem") if self.problems else "fine")
        lines = [": ".join(parts)]
        lines += [f"  ! {each.file}: {each.what}" for each in self.problems]
        lines += [f"  - {each.file}: {each.what}" for each in self.notes]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The findings as JSON."""
        return {
            "path": self.path,
            "segments": self.segments,
            "batches": self.batches,
            "records": self.records,
            "bytes": self.bytes,
            "start": self.start,
            "end": self.end,
            "problems": [each._asdict() for each in self.problems],
            "notes": [each._asdict() for each in self.notes],
        }
