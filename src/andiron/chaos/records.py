"""What is known of every record: when it was sent, when it was acknowledged and as what, and whether it is there.

    Sent   writer 2, number 417, sent at 8.113 s, acknowledged at 8.121 s at offset 1660      what its writer was told
    Found  writer 2, number 417, at offset 1660                                               what a reader finds

Times are seconds since the cell began. A writer sends one record after the other, so its numbers say in which order
its records are to lie.
"""

from __future__ import annotations

from typing import NamedTuple

NO_OFFSET = -1


class SentRecord(NamedTuple):
    """A record as its writer knows it: `sent_at` is when it was due, `acked_at` is None if it was given up."""

    writer: int
    number: int
    sent_at: float
    acked_at: float | None
    offset: int

    @property
    def name(self) -> tuple[int, int]:
        return self.writer, self.number


class FoundRecord(NamedTuple):
    """A record as it lies in the log."""

    writer: int
    number: int
    offset: int

    @property
    def name(self) -> tuple[int, int]:
        return self.writer, self.number


def value_of(writer: int, number: int, size: int) -> bytes:
    """What is written."""
    return f"{writer}:{number}:".encode().ljust(size, b".")


def parse_value(value: bytes, offset: int) -> FoundRecord:
    """What was."""
    writer, number, _ = value.split(b":", 2)
    return FoundRecord(int(writer), int(number), offset)
