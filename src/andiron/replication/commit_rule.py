"""The two commit rules: who must hold a record before it counts.

    partitions    all in-sync replicas      ends 9 7 8     committed below 7
    metadata      a majority of the voters  ends 9 7 8     committed below 8

A rule takes the ends of all logs that count, the leader's first, and gives the end of what is committed. It is a
function of these and asks nobody. Everything else about replication is the same for both.

    CommitTerms    a rule, and what else a record has to come to
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from andiron.model.ids import Offset

CommitRule: TypeAlias = Callable[[Sequence[Offset]], Offset]

NOTHING = Offset(0)


def isr_watermark(ends: Sequence[Offset]) -> Offset:
    """What every in-sync replica holds: whichever of them leads next has it."""
    return min(ends)


def majority_watermark(ends: Sequence[Offset]) -> Offset:
    """What more than half of the voters hold: every majority that elects a leader has one of them in it."""
    return sorted(ends)[(len(ends) - 1) // 2]


def majority_of_followers(ends: Sequence[Offset]) -> Offset:
    """The same where the leader is no voter any more (KIP-853): its own log does not count."""
    return majority_watermark(ends[1:])


def in_own_epoch(rule: CommitRule, epoch_start: Offset) -> CommitRule:
    """The rule for a leader whose epoch begins at `epoch_start`: nothing counts until a record of its own.

    A majority may hold an older epoch's record and yet elect a leader without it, who has seen a later epoch.
    It is safe once a record of this epoch stands behind it, and then all before it are committed too.
    """

    def watermark(ends: Sequence[Offset]) -> Offset:
        end = rule(ends)
        return end if end > epoch_start else NOTHING

    return watermark


class CommitTerms(NamedTuple):
    """What a record has to come to before it is committed."""

    rule: CommitRule = isr_watermark
    durable: bool = False  # what the leader itself holds counts as far as it is on its disk
    least: int = 1  # that have to be in sync: min.insync.replicas
