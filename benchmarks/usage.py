"""What a server used: CPU seconds and memory of its process and of any it started, from /proc."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
MB = 1 << 20
GROUP, SESSION = 2, 3  # fields of /proc/PID/stat after the name


def cpu_seconds(pid: int) -> float:
    """User and system time of the whole process group."""
    return sum(_ticks(member) for member in _group(pid)) / TICKS


def resident_mb(pid: int) -> float:
    """Memory held now."""
    return sum(_status(member, "VmRSS") for member in _group(pid)) / 1024


def peak_mb(pid: int) -> float:
    """The most memory held so far."""
    return sum(_status(member, "VmHWM") for member in _group(pid)) / 1024


def session_cpu_seconds(pid: int) -> float:
    """User and system time of a whole session, whichever groups its processes made."""
    return sum(_ticks(member) for member in _members(pid, SESSION)) / TICKS


def session_memory_mb(pid: int) -> float:
    """What the processes of a session hold, with what several of them share counted once."""
    return sum(_rollup(member, "Pss:") for member in _members(pid, SESSION)) / 1024


def _group(pid: int) -> list[int]:
    return _members(pid, GROUP)


def _members(pid: int, field: int) -> list[int]:
    entries = (entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [int(name) for name in entries if _fields(int(name))[field : field + 1] == [str(pid)]]


def _ticks(pid: int) -> int:
    return sum(map(int, _fields(pid)[11:15]))  # own and waited-for children's, user and system


def _fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on: the name before it may hold blanks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _status(pid: int, name: str) -> int:
    return _number(f"/proc/{pid}/status", name)


def _rollup(pid: int, name: str) -> int:
    return _number(f"/proc/{pid}/smaps_rollup", name)


def _number(path: str, name: str) -> int:
    """Kilobytes, by the name of their line."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)
