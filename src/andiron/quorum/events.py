"""What a voter hears, and what it wants done: the events and effects of quorum.py.

    VoteAnswered, LeaderNamed, VoterFetched, … ──▶ quorum.step(event, now)
    AskVote, BeginEpoch, BecameLeader, …   ◀── [effects]

Asking is an effect, and whatever is answered comes back as an event; what is not answered does not come back, and a
timeout of the voter's own takes care of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from andiron.model.ids import LeaderEpoch, NodeId, Offset
from andiron.quorum.records import LeaderChangeMessage


class LogEnd(NamedTuple):
    """Where a log ends: the epoch of its last record, and the offset after it. The larger has more."""

    epoch: LeaderEpoch
    offset: Offset


# ── events ───────────────────────────────────────────────────────────────────────────


class NodeStarted(NamedTuple):
    """The node is up."""


class DeadlineReached(NamedTuple):
    """The deadline has come."""


class VoteAnswered(NamedTuple):
    """A voter's answer to AskVote."""

    voter: NodeId
    asked_epoch: LeaderEpoch
    pre_vote: bool
    granted: bool
    epoch: LeaderEpoch
    leader: NodeId


class LeaderNamed(NamedTuple):
    """Somebody says who leads, itself perhaps; NOBODY: there is such an epoch, and its leader is not known."""

    epoch: LeaderEpoch
    leader: NodeId


class LeaderResigned(NamedTuple):
    """The leader of an epoch gives it up; those who should follow it, the best first."""

    epoch: LeaderEpoch
    successors: Sequence[NodeId]


class LeaderHeard(NamedTuple):
    """The leader of this epoch itself was heard: it answered a fetch, or said that it leads."""

    epoch: LeaderEpoch


class LeaderUnreachable(NamedTuple):
    """The leader of this epoch could not be asked, or has not answered."""

    epoch: LeaderEpoch


class VoterFetched(NamedTuple):
    """A voter has fetched from this node, which leads."""

    voter: NodeId


class NodeStopping(NamedTuple):
    """The node is about to stop; these voters should lead after it, the best first."""

    successors: Sequence[NodeId]


Event: TypeAlias = (
    NodeStarted
    | DeadlineReached
    | VoteAnswered
    | LeaderNamed
    | LeaderResigned
    | LeaderHeard
    | LeaderUnreachable
    | VoterFetched
    | NodeStopping
)


# ── effects ──────────────────────────────────────────────────────────────────────────


class AskVote(NamedTuple):
    """Ask a voter for its vote in an epoch, or whether it would give it."""

    voter: NodeId
    epoch: LeaderEpoch
    pre_vote: bool
    log: LogEnd


class BeginEpoch(NamedTuple):
    """Tell a voter that this node leads."""

    voter: NodeId
    epoch: LeaderEpoch


class EndEpoch(NamedTuple):
    """Tell a voter that this node leads no more."""

    voter: NodeId
    epoch: LeaderEpoch
    successors: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True)
class BecameLeader:
    """This node leads: append `first_record` in `epoch`, before anything else."""

    epoch: LeaderEpoch
    first_record: LeaderChangeMessage


class BecameFollower(NamedTuple):
    """Another node leads: fetch from it."""

    epoch: LeaderEpoch
    leader: NodeId


class LostLeader(NamedTuple):
    """Nobody is known to lead in this epoch; if this node did, it does no more."""

    epoch: LeaderEpoch


Effect: TypeAlias = AskVote | BeginEpoch | EndEpoch | BecameLeader | BecameFollower | LostLeader


class Ballot(NamedTuple):
    """An answer to a request for a vote: granted or not, and what this voter knows."""

    granted: bool
    epoch: LeaderEpoch
    leader: NodeId
    effects: list[Effect]
