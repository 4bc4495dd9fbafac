"""The election side of the metadata quorum: who leads, in which epoch.

    unattached ──stands──▶ candidate ──majority──▶ leader
                            votes for itself        begins its epoch with a LeaderChange record

A node that starts has no leader. It stands for election in an epoch above any it has seen, in its vote or in
its log; its own vote is on the disk before it counts. Where it is the only voter, that vote is the majority,
and it leads at once.

A leader's first record is the LeaderChange of its epoch. Nothing of an earlier epoch is committed by the new
leader except through that record (replication/commit_rule.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, LeaderEpoch, Millis, NodeId
from andiron.quorum.records import LeaderChangeMessage, LeaderChangeVoter
from andiron.quorum.state import NOBODY, QuorumState, SmallFiles, load, store
from andiron.quorum.voters import Voters


@dataclass(frozen=True, slots=True)
class Started:
    """The node is up; its metadata log ends in `log_epoch` (0 if it is empty)."""

    log_epoch: LeaderEpoch


@dataclass(frozen=True, slots=True)
class BecameLeader:
    """This node leads: append `first_record` in `epoch`, before anything else."""

    epoch: LeaderEpoch
    first_record: LeaderChangeMessage


Event = Started
Effect = BecameLeader


class Quorum:
    """One voter."""

    def __init__(self, me: NodeId, voters: Voters, files: SmallFiles, directory: str) -> None:
        assert me in voters, "only voters stand for election"
        self.voters = voters
        self._me, self._files, self._directory = me, files, directory
        self._state = load(files, directory)
        self._granted: list[NodeId] = []
        if self._state.voters not in (None, voters):
            raise ErrorCode.INCONSISTENT_VOTER_SET.error(
                f"the voters are {voters}, and {directory} was last used with {self._state.voters}"
            )
        if self._state.leader == me:  # it led when it last ran, and has to be elected anew
            self._state = replace(self._state, leader=NOBODY)

    @property
    def epoch(self) -> LeaderEpoch:
        """The highest epoch that is known."""
        return self._state.epoch

    @property
    def leader(self) -> NodeId | None:
        """Who leads in this epoch, if that is known."""
        return None if self._state.leader == NOBODY else self._state.leader

    @property
    def leads(self) -> bool:
        return self._state.leader == self._me

    def step(self, event: Event, now: Millis) -> list[Effect]:
        """Take in one event; return what the node must now do about it."""
        match event:
            case Started(log_epoch):
                return self._stand(LeaderEpoch(max(self._state.epoch, log_epoch) + 1))

    def next_deadline(self) -> Millis:
        """When to come back if nothing happens: a sole voter waits for nobody."""
        return NEVER

    def _stand(self, epoch: LeaderEpoch) -> list[Effect]:
        self._keep(QuorumState(epoch, voted=self._me, voters=self.voters))
        self._granted = [self._me]
        return self._lead_if_elected()

    def _lead_if_elected(self) -> list[Effect]:
        if not self.voters.is_majority(self._granted):
            return []
        self._keep(QuorumState(self._state.epoch, leader=self._me, voters=self.voters))
        record = LeaderChangeMessage(
            leader_id=self._me,
            voters=[LeaderChangeVoter(voter) for voter in self.voters],
            granting_voters=[LeaderChangeVoter(voter) for voter in self._granted],
        )
        return [BecameLeader(self._state.epoch, record)]

    def _keep(self, state: QuorumState) -> None:
        """Nothing is said or done about a state that is not on the disk."""
        assert state.epoch >= self._state.epoch, "an epoch never goes back"
        store(self._files, self._directory, state)
        self._state = state
