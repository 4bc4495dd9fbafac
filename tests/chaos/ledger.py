"""What a writer has sent, and what it was told of each record.

A record is named by its writer and its number; numbers count up within a partition, and are sent in that order. Every
record ends as acknowledged, with an offset, or as failed; of what did neither, nothing is known.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple


class Acked(NamedTuple):
    """An acknowledgement; the offset is -1 where the library does not tell."""

    number: int
    offset: int


class Ledger:
    """One writer's records. Written by its thread, read by the auditor's."""

    def __init__(self, writer: str) -> None:
        self.writer = writer
        self.sent: dict[int, int] = defaultdict(int)  # partition → how many
        self.acked: dict[int, list[Acked]] = defaultdict(list)
        self.failed: list[tuple[int, int, str]] = []  # partition, number, why

    def next(self, partition: int) -> int:
        """The number of the next record."""
        number = self.sent[partition]
        self.sent[partition] += 1
        return number

    def value(self, number: int) -> bytes:
        return f"{self.writer}:{number}".encode()

    def acknowledged(self, partition: int, number: int, offset: int) -> None:
        self.acked[partition].append(Acked(number, offset))

    def refused(self, partition: int, number: int, why: str) -> None:
        self.failed.append((partition, number, why))

    def snapshot(self) -> dict[int, list[Acked]]:
        """What is acknowledged up to now."""
        return {partition: list(acked) for partition, acked in list(self.acked.items())}

    @property
    def total(self) -> int:
        return sum(self.sent.values())

    @property
    def total_acked(self) -> int:
        return sum(map(len, self.acked.values()))


def parse(value: bytes) -> tuple[str, int]:
    """Whose record it is, and its number."""
    writer, _, number = value.decode().rpartition(":")
    return writer, int(number)
