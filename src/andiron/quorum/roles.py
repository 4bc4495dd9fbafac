"""The roles of a voter in its epoch, and which turn of events leads from which role to which.

    unattached ──timeout──▶ prospective ──majority would──▶ candidate ──majority did──▶ leader
        ▲   ▲                   │    ▲                          │                         │
        │   └──── rejected ─────┘    └── timeout, rejected ─────┘                         ├──▶ resigned
        └───────────────────── a higher epoch, from anybody ──────────────────────────────┘
    follower ──nothing heard for the fetch timeout, or a moment after it could not be asked──▶ prospective
    anybody  ──a leader of this epoch or a later one──▶ follower

They are Kafka's EpochStates: UnattachedState, ProspectiveState (pre-vote, KIP-996), CandidateState, LeaderState,
FollowerState and ResignedState. An observer has no role of its own: it is unattached or follows, and never stands.

`TRANSITIONS` is all there is to it. What is not in the table does not happen: quorum.py asserts it at the one place
where a role changes.

Read next: quorum.py.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class Role(Enum):
    """What a voter is in its epoch."""

    UNATTACHED = "unattached"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    FOLLOWER = "follower"
    RESIGNED = "resigned"

    def after(self, turn: Turn) -> Role | None:
        """The role that follows upon a turn of events; None if that cannot happen to this one."""
        return TRANSITIONS[turn][self]


class Turn(Enum):
    """What changes the role of a voter, in the words of Raft."""

    LED_BEFORE_RESTART = "the epoch of its file is one that it led: its vote there is its own"
    LATER_EPOCH = "there is a later epoch, whose leader is not known"
    LEADER_FOUND = "the leader of its epoch, or of a later one, is known"
    LEADER_RESIGNED = "its leader has given the epoch up, and others come first as successors"
    OBSERVER_TIMEOUT = "no leader is heard, and it may not stand for election"
    ELECTION_TIMEOUT = "no leader is heard, or its leader has chosen it: it asks for pre-votes"
    PRE_VOTE_GIVEN = "it asked for pre-votes itself, and lets a voter with a lower id go first"
    PRE_VOTE_LOST = "a majority would not vote for it"
    STANDS = "a majority would vote for it, or it is the only voter"
    VOTE_GIVEN = "another candidate has its vote in this epoch"
    ELECTION_LOST = "a majority has not voted for it: it waits until it asks again"
    ELECTION_WON = "a majority has voted for it"
    RESIGNS = "it stops, or a majority has not fetched for too long"


U, P, C, L, F, R = Role
o: None = None  # cannot happen

# fmt: off
TRANSITIONS: Final[dict[Turn, dict[Role, Role | None]]] = {
    turn: dict(zip(Role, after, strict=True))
    for turn, after in {
        # from                    unattached  prospective  candidate  leader  follower  resigned
        Turn.LED_BEFORE_RESTART: (R,          o,           o,         o,      o,        o),
        Turn.LATER_EPOCH:        (U,          U,           U,         U,      U,        U),
        Turn.LEADER_FOUND:       (F,          F,           F,         F,      F,        F),
        Turn.LEADER_RESIGNED:    (o,          o,           o,         o,      U,        o),
        Turn.OBSERVER_TIMEOUT:   (U,          U,           U,         o,      U,        U),
        Turn.ELECTION_TIMEOUT:   (P,          P,           P,         o,      P,        o),
        Turn.PRE_VOTE_GIVEN:     (o,          U,           o,         o,      o,        o),
        Turn.PRE_VOTE_LOST:      (o,          U,           o,         o,      o,        o),
        Turn.STANDS:             (C,          C,           C,         o,      C,        o),
        Turn.VOTE_GIVEN:         (U,          U,           o,         o,      o,        o),
        Turn.ELECTION_LOST:      (o,          o,           C,         o,      o,        o),
        Turn.ELECTION_WON:       (o,          o,           L,         o,      o,        o),
        Turn.RESIGNS:            (o,          o,           o,         R,      o,        o),
    }.items()
}
# fmt: on
