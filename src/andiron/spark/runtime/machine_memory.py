"""How much memory there is for this process: the machine's, or less where a container says so."""

from __future__ import annotations

import os

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_bytes(limits: tuple[str, ...] = CGROUP_LIMITS) -> int:
    """The machine's memory, or the smallest limit set on it."""
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *map(_limit, limits)])


def _limit(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):  # not there, or the word "max"
        return 1 << 62
