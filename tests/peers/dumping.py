"""Kafka's own reader of log folders, DumpLogSegments, and what counts as a complaint of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from peers.kafka_tools import shared_tools

COMPLAINTS = re.compile(
    "mismatch|corrupt|exception|invalid bytes|isvalid: false|out of order|non-consecutive|ignoring|could not",
    re.IGNORECASE,
)
# Read deeply, any segment but the first "follows" offset -1 to this tool; that is no fault of the segment.
INNOCENT = re.compile(r"Non-consecutive offsets in .*\n  -1 is followed by \d+\n")


def dump(files: Sequence[Path], *options: str) -> str:
    """What the tool prints of some files; it ends in error only where it fails itself."""
    said = shared_tools().run("kafka-dump-log", "--files", ",".join(map(str, files)), *options)
    assert said.code == 0, (said.out + said.err)[-3000:]
    return said.out + said.err


def complaints(printed: str) -> list[str]:
    """The lines in which the tool finds fault."""
    return [line[:300] for line in INNOCENT.sub("", printed).splitlines() if COMPLAINTS.search(line)]
