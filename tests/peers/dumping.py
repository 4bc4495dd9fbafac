"""Kafka's own reader of log folders, DumpLogSegments, and what counts as a complaint of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from peers import jars

COMPLAINTS = re.compile(
    "mismatch|corrupt|exception|invalid bytes|isvalid: false|out of order|non-consecutive|ignoring|could not",
    re.IGNORECASE,
)
# Read deeply, any segment but the first "follows" offset -1 to this tool; that is no fault of the segment.
INNOCENT = re.compile(r"Non-consecutive offsets in .*\n  -1 is followed by \d+\n")


def dump(files: Sequence[Path], *options: str) -> str:
    """What the tool prints of some files; it ends in error only where it fails itself."""
    classpath = jars.server_jars().classpath
    tool = [jars.java(), "-Xmx512m", "-Dlog4j2.level=OFF", "-cp", classpath]
    names = ",".join(map(str, files))
    command = [*tool, "org.apache.kafka.tools.DumpLogSegments", "--files", names, *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed[-3000:]
    return printed


def complaints(printed: str) -> list[str]:
    """The lines in which the tool finds fault."""
    return [line[:300] for line in INNOCENT.sub("", printed).splitlines() if COMPLAINTS.search(line)]
