"""The two commit rules: who must hold a record before it counts.

    partitions    all in-sync replicas      ends 9 7 8     committed below 7
    metadata      a majority of the voters  ends 9 7 8     committed below 8

A rule takes the ends of all logs that count, the leader's among them, and gives the end of what is
committed. Everything else about replication is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from andiron.model.ids import Offset

CommitRule: TypeAlias = Callable[[Sequence[Offset]], Offset]

NOTHING = Offset(0)


def isr_watermark(ends: Sequence[Offset]) -> Offset:
    """What every in-sync replica holds: whichever of them leads next has it."""
    return min(ends)


def majority_watermark(ends: Sequence[Offset]) -> Offset:
    """What more than half of the voters hold: every majority that elects a leader has one of them in it."""
    return sorted(ends)[(len(ends) - 1) // 2]


def in_own_epoch(rule: CommitRule, epoch_start: Offset) -> CommitRule:
    """The rule for a leader whose epoch begins at `epoch_start`: nothing counts until a record of its own.

    A majority may hold an older epoch's record and yet elect a leader without it, who has seen a later epoch.
    It is safe once a record of this epoch stands behind it, and then all before it are committed too.
    """

    def watermark(ends: Sequence[Offset]) -> Offset:
        end = rule(ends)
        return end if end > epoch_start else NOTHING

    return watermark
