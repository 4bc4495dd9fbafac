"""Voters come and go while the quorum runs (KIP-853): what the leader does about it.

    may they change? has this leader committed something? is the last change committed? ── no ─▶ refused
          │ yes
    to come: it reads the log, and has all of it ─ not yet ─▶ a little later, again, until time is up
          │
    the record of the new voters is appended, and they are the voters ─▶ committed by them ─▶ answered
                                                                    to go, and the leader ─▶ it resigns

One at a time, and one voter each time: so a majority before and a majority after have somebody in common. That the
leader has committed something in its own epoch means that no other can be about to change them.

Who is to vote has to have caught up: a voter with an empty log would hold everything up until it has.

Read next: voter_tracker.py; handlers/add_raft_voter.py.
"""

from __future__ import annotations

from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.node.patience import VOTER_LOOK_MS
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, NodeId, Offset
from andiron.quorum.voter_set import NOWHERE, VoterNode, VoterSet
from andiron.replication.leader import LeaderReplica


class VoterChanges:
    """Changes the voters, where this node leads."""

    def __init__(self, raft: RaftClient, step: Step) -> None:
        self._raft, self._step = raft, step

    def add(self, voter: VoterNode, deadline: Millis, *, committed: bool = True) -> Wait:
        """Let a node vote that has caught up. The Wait is over when that is committed, or only written if not
        `committed`."""
        voters = self._may_change()
        if voters.get(voter.id) is not None:
            raise ErrorCode.DUPLICATE_VOTER.error(f"node {voter.id} is a voter already")
        if voter.address is None:
            raise ErrorCode.INVALID_REQUEST.error(
                "a voter must be reached somewhere, and no listener is named"
            )
        if not self._has_caught_up(voter):
            return self._look_again(voter, deadline, committed)
        end = self._raft.change_voters(voters.with_voter(voter), self._step.now)
        return self._committed(end, deadline) if committed else Wait.over(lambda: None)

    def remove(self, id: NodeId, directory: bytes, deadline: Millis) -> Wait:
        """Take a node's vote away. The Wait is over when that is committed."""
        voters = self._may_change()
        voter = voters.get(id)
        if voter is None or not voter.is_called(id, directory):
            raise ErrorCode.VOTER_NOT_FOUND.error(f"no voter is node {id} with that directory")
        if len(voters) == 1:
            raise ErrorCode.INVALID_REQUEST.error(f"node {id} is the last voter, and somebody has to vote")
        end = self._raft.change_voters(voters.without(id), self._step.now)
        return self._committed(end, deadline)

    def update(self, voter: VoterNode, deadline: Millis) -> Wait:
        """A voter is reached elsewhere. The Wait is over when that is committed; where the log does not name the
        voters, it is noted only which disk this one has."""
        voters = self._raft.voters
        known = voters.latest.get(voter.id)
        if known is None or not known.is_called(voter.id, voter.directory):
            raise ErrorCode.VOTER_NOT_FOUND.error(f"no voter is node {voter.id} with that directory")
        if not voters.history.is_in_log:
            voters.directories[voter.id] = voter.directory
            return Wait.over(lambda: None)
        if known == voter:
            return Wait.over(lambda: None)
        return self.write_down(self._may_change().with_voter(voter), deadline)

    def from_settings(self) -> VoterSet:
        """The voters that all settings name, as the log is to name them: each with the disk it is known by."""
        voters, found = self._raft.voters, self._raft.voters.latest
        for voter in found:
            if voters.directory_of(voter.id) == NOWHERE:
                raise ErrorCode.INVALID_UPDATE_VERSION.error(
                    f"voter {voter.id} has not been heard of by this leader, and nobody knows its disk"
                )
            found = found.with_voter(voter._replace(directory=voters.directory_of(voter.id)))
        return found

    def write_down(self, voters: VoterSet, deadline: Millis) -> Wait:
        """Let the log name these voters. The Wait is over when that is committed."""
        self._check_settled()
        return self._committed(self._raft.change_voters(voters, self._step.now), deadline)

    # ── whether ──────────────────────────────────────────────────────────────────────

    def _may_change(self) -> VoterSet:
        """The voters, if they may be changed now."""
        voters = self._raft.voters
        if not voters.may_change:
            raise ErrorCode.UNSUPPORTED_VERSION.error(
                "the voters of this quorum are fixed by controller.quorum.voters in the settings of its nodes, "
                "until kraft.version is raised to 1"
            )
        self._check_settled()
        return voters.latest

    def _check_settled(self) -> None:
        """One change at a time, by a leader that has committed something."""
        voters, leader = self._raft.voters, self._raft.partition.leader()
        if leader.watermark <= leader.epoch_start:
            raise ErrorCode.REQUEST_TIMED_OUT.error("the leader is new, and has committed nothing yet")
        if voters.history.changed_at >= leader.watermark:
            raise ErrorCode.REQUEST_TIMED_OUT.error("the last change of the voters is not committed yet")

    def _has_caught_up(self, voter: VoterNode) -> bool:
        raft = self._raft
        leader: LeaderReplica = raft.partition.leader()
        seen = raft.observers.get(voter.id)
        is_here = seen is not None and self._step.now - seen.fetched_at < raft.patience_ms
        return (
            is_here
            and seen is not None
            and seen.offset >= leader.watermark
            and raft.voters.directories.get(voter.id) == voter.directory
        )

    def _look_again(self, voter: VoterNode, deadline: Millis, committed: bool) -> Wait:
        now = self._step.now
        if now >= deadline:
            raise ErrorCode.REQUEST_TIMED_OUT.error(
                f"node {voter.id}, with that directory, does not read the log, or has not caught up with it"
            )

        def look() -> Wait:
            return self.add(voter, deadline, committed=committed)

        return Wait((), lambda: False, Millis(min(deadline, now + VOTER_LOOK_MS)), look, look)

    # ── when it counts ───────────────────────────────────────────────────────────────

    def _committed(self, end: Offset, deadline: Millis) -> Wait:
        partition, quorum = self._raft.partition, self._raft.quorum
        epoch = quorum.epoch

        def given() -> None:
            if partition.watermark < end:
                raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error("another leads, and it may come to nothing")

        def too_late() -> None:
            raise ErrorCode.REQUEST_TIMED_OUT.error("not committed in time; it may be yet")

        def is_over() -> bool:
            return partition.watermark >= end or not quorum.leads or quorum.epoch != epoch

        return Wait((partition, self._raft), is_over, deadline, given, too_late)
