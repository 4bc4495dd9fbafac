"""The states of a classic group, and which follows which upon what.

                      ┌────────── a member comes, goes, or wants something else ───────────┐
                      ▼                                                                    │
    Empty ──▶ PreparingRebalance ── all have joined ──▶ CompletingRebalance ── assigned ──▶ Stable
      ▲               │
      └── none left ──┘                   Dead, from anywhere: the group has been deleted

A group of the log, and one that comes over from the consumer protocol (KIP-848), has its members and their assignments
already: it is Stable at once. A consumer group has no such table: its state is computed from its epochs
(consumer/group.py).
"""

from __future__ import annotations

from enum import Enum, StrEnum


class ClassicState(StrEnum):
    """Where a classic group stands between two generations, in Kafka's words for it."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class GroupEvent(Enum):
    """What moves a classic group."""

    REBALANCE = "a member comes, goes or wants something else: all are asked to join again"
    JOINED = "all have joined, or the rebalance timeout is over: there is a generation"
    LEFT = "nobody has joined: the generation has no members"
    ASSIGNED = "the leader has said who gets what"
    RESTORED = "its members and their assignments are known from the log, or from the protocol it had before"
    DELETED = "the group is removed, or goes on under the consumer protocol"


_EMPTY, _PREPARING, _COMPLETING, _STABLE, _DEAD = ClassicState

# The state that follows each state upon each event; a pair that is not here is a fault of ours.
TRANSITIONS: dict[tuple[ClassicState, GroupEvent], ClassicState] = {
    (_EMPTY, GroupEvent.REBALANCE): _PREPARING,
    (_EMPTY, GroupEvent.RESTORED): _STABLE,
    (_EMPTY, GroupEvent.DELETED): _DEAD,
    (_PREPARING, GroupEvent.JOINED): _COMPLETING,
    (_PREPARING, GroupEvent.LEFT): _EMPTY,
    (_PREPARING, GroupEvent.DELETED): _DEAD,
    (_COMPLETING, GroupEvent.REBALANCE): _PREPARING,
    (_COMPLETING, GroupEvent.ASSIGNED): _STABLE,
    (_COMPLETING, GroupEvent.DELETED): _DEAD,
    (_STABLE, GroupEvent.REBALANCE): _PREPARING,
    (_STABLE, GroupEvent.DELETED): _DEAD,
}
