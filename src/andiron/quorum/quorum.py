"""One voter of the metadata quorum: who leads, in which epoch. Raft, as KRaft (KIP-595) has it.

    VoteAnswered, LeaderNamed, VoterFetched, … ─▶ step ─▶ a turn of roles.py ─▶ AskVote, BeginEpoch, BecameLeader, …
                                                    │
                                             election_state.py: the epoch, the vote, the leader, on the disk

Followers pull: what a leader of Raft would push, they fetch. So a leader hears of its followers, and they of it, by
their fetches alone, and a leader that a majority has not asked for anything for a while steps down: it may be the
only one who does not know that there is another.

A prospective asks "would you vote for me?" before it really stands (pre-vote, KIP-996): a voter that was cut off and
comes back cannot depose a leader whom the others still hear, since asking costs nobody an epoch.

Who votes may change while the quorum runs (`change_voters`): from the moment that the log says so, who is asked and
what a majority is go by it. A leader that is not among them any more leads on until that is committed. If it dies
before, it may be the only one to have a record that the others need to go on; so it stands again, though it votes no
more (`may_stand`).

Whatever is said about an epoch or a vote is on the disk first (election_state.py). Time and chance are arguments; what
has to be asked of others goes out as effects, and each answer comes back as an event, or never.

Read next: roles.py; trust.py, for who is listened to; election_state.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, LeaderEpoch, Millis, NodeId
from andiron.model.invariant import invariant
from andiron.quorum.election_state import EPOCH_MAX, NOBODY, ElectionState, ElectionStateFile
from andiron.quorum.election_timeouts import ElectionTimeouts
from andiron.quorum.events import (
    AskVote,
    Ballot,
    BecameFollower,
    BecameLeader,
    BeginEpoch,
    DeadlineReached,
    Effect,
    EndEpoch,
    Event,
    LeaderHeard,
    LeaderNamed,
    LeaderResigned,
    LeaderUnreachable,
    LogEnd,
    LostLeader,
    NodeStarted,
    NodeStopping,
    VoteAnswered,
    VoterFetched,
)
from andiron.quorum.records import LeaderChangeMessage, LeaderChangeVoter
from andiron.quorum.roles import Role, Turn
from andiron.quorum.voter_set import VoterIds


class RaftLog(Protocol):
    """What a voter asks of its own copy of the metadata log (broker/metadata/raft_client.py)."""

    def log_end(self) -> LogEnd:
        """The epoch of the log's last record, and the log end offset: a vote goes by them."""

    def may_stand(self) -> bool:
        """Whether this node stands for election though it is no voter any more: the record that removed it (KIP-853)
        may not be committed."""


class Quorum:
    """One node's part in the quorum; one that is not a voter follows and never stands."""

    def __init__(
        self, me: NodeId, voters: VoterIds, timeouts: ElectionTimeouts, log: RaftLog, file: ElectionStateFile, *,
        voters_in_log: bool = False,
    ) -> None:  # fmt: skip
        """`voters_in_log`: the voters are those of the log (kraft.version 1), not of controller.quorum.voters."""
        self.me, self.voters, self._voters_in_log = me, voters, voters_in_log
        self.role = Role.UNATTACHED
        self._timeouts, self._log, self._file = timeouts, log, file
        self._state = file.load()
        if voters and not voters_in_log and self._state.voters not in (None, voters):
            raise ErrorCode.INCONSISTENT_VOTER_SET.error(
                f"the voters are {voters}, and {file.directory} was last used with {self._state.voters}"
            )
        self._deadline: Millis = NEVER
        self._granted: list[NodeId] = []
        self._rejected: list[NodeId] = []
        self._fetched_at: dict[NodeId, Millis] = {}  # as the leader: when another voter last fetched
        self._hears_leader = False  # as a follower: the leader has answered since it was found

    # ── what is known ────────────────────────────────────────────────────────────────

    @property
    def epoch(self) -> LeaderEpoch:
        """The highest epoch that is known."""
        return self._state.epoch

    @property
    def leader(self) -> NodeId | None:
        """Who leads in this epoch, if that is known and nothing speaks against it."""
        return self._state.leader if self.role in (Role.LEADER, Role.FOLLOWER) else None

    @property
    def leads(self) -> bool:
        return self.role is Role.LEADER

    @property
    def knows_all_voters(self) -> bool:
        """Whether none can have been let in without its knowing: it leads, or hears who does, or votes alone."""
        return self.leads or self._is_sole_voter or (self.role is Role.FOLLOWER and self._hears_leader)

    def next_deadline(self) -> Millis:
        """When to come back if nothing happens."""
        return self._deadline

    def postpone(self, until: Millis) -> None:
        """The election state could not be written: the deadline that was due comes again at `until`."""
        self._deadline = max(self._deadline, until)

    def change_voters(self, voters: VoterIds, now: Millis, *, in_log: bool) -> None:
        """These vote from now on, as the log says; or the settings, if it says nothing (any more)."""
        self.voters, self._voters_in_log = voters, in_log
        if self.leads:
            self._fetched_at = {voter: self._fetched_at.get(voter, now) for voter in self._others}
            look_at = Millis(now + self._timeouts.check_ms)
            self._deadline = NEVER if self._is_sole_voter else min(self._deadline, look_at)

    # ── what happens ─────────────────────────────────────────────────────────────────

    def step(self, event: Event, now: Millis) -> list[Effect]:
        """Take in one event; return what the node must now do about it."""
        match event:
            case NodeStarted():
                return self._start(now)
            case DeadlineReached():
                return self._wake(now) if now >= self._deadline else []
            case VoteAnswered():
                return self._count(event, now)
            case LeaderNamed(epoch, leader):
                return self._see(epoch, leader, now)
            case LeaderResigned(epoch, successors):
                return self._succeed(epoch, list(successors), now)
            case LeaderHeard(epoch):
                return self._hear(epoch, now)
            case LeaderUnreachable(epoch):
                self._miss(epoch, now)
                return []
            case VoterFetched(voter):
                self._fetched_at[voter] = now
                return []
            case NodeStopping(successors):
                return self._resign(tuple(successors), now) if self.leads else []

    def vote(
        self, candidate: NodeId, epoch: LeaderEpoch, log: LogEnd, *, pre_vote: bool, now: Millis
    ) -> Ballot:
        """Answer who asks for a vote; one that is granted is on the disk when this returns."""
        effects = self._unattach(epoch, now) if epoch > self.epoch else []
        granted = epoch == self.epoch and self._may_grant(candidate, log, pre_vote=pre_vote)
        if granted and not pre_vote:
            self._keep(replace(self._state, voted=candidate))
            self._turn(Turn.VOTE_GIVEN, self._timeouts.election_ms(), now)
        if granted and pre_vote and self.role is Role.PROSPECTIVE and candidate < self.me:
            # Both ask around: if both stood, neither would win. The one with the lower number goes first.
            self._turn(Turn.PRE_VOTE_GIVEN, self._timeouts.election_ms(), now)
        return Ballot(granted, self.epoch, self._state.leader, effects)

    def _may_grant(self, candidate: NodeId, log: LogEnd, *, pre_vote: bool) -> bool:
        if self.role in (Role.LEADER, Role.RESIGNED) or log < self._log.log_end():
            return False
        if pre_vote:
            return not (self.role is Role.FOLLOWER and self._hears_leader)
        return self._state.leader == NOBODY and self._state.voted in (NOBODY, candidate)

    # ── time ─────────────────────────────────────────────────────────────────────────

    def _start(self, now: Millis) -> list[Effect]:
        if (seen := self._log.log_end().epoch) > self.epoch:  # the file was lost
            self._keep(ElectionState(seen, voters=self._voters_given))
        if self._is_sole_voter:
            return self._stand(now)
        if self._state.leader == self.me:  # it led when it last ran, so its vote in this epoch is its own
            self._turn(Turn.LED_BEFORE_RESTART, self._timeouts.election_ms(), now)
            return []
        if self._state.leader != NOBODY:
            return self._follow(self.epoch, self._state.leader, now)
        self._deadline = Millis(now + self._timeouts.moment_ms())  # whoever knows a leader will name it
        return []

    def _wake(self, now: Millis) -> list[Effect]:
        match self.role:
            case Role.LEADER:
                return self._check_quorum(now)
            case Role.RESIGNED if self._stands:
                return self._unattach(LeaderEpoch(self.epoch + 1), now)
            case _ if self._stands:
                return self._ask_around(now)
            case _:
                self._turn(Turn.OBSERVER_TIMEOUT, self._timeouts.fetch_ms, now)
                return [LostLeader(self.epoch)]

    def _check_quorum(self, now: Millis) -> list[Effect]:
        """Step down if a majority has been silent too long; tell those who are silent that we lead."""
        patience = self._timeouts.majority_ms
        near = [voter for voter, at in self._fetched_at.items() if now - at < patience]
        if not self.voters.is_majority([self.me, *near]):
            return self._resign((), now)
        self._deadline = Millis(now + self._timeouts.check_ms)
        silent = [voter for voter in self._others if now - self._fetched_at[voter] >= patience // 3]
        return [BeginEpoch(voter, self.epoch) for voter in silent]

    # ── elections ────────────────────────────────────────────────────────────────────

    def _ask_around(self, now: Millis) -> list[Effect]:
        """Would a majority vote for this node? Nothing is promised, and no epoch is used up."""
        lost: list[Effect] = [LostLeader(self.epoch)] if self.role is Role.FOLLOWER else []
        if self._is_sole_voter:
            return lost + self._stand(now)
        self._turn(Turn.ELECTION_TIMEOUT, self._timeouts.election_ms(), now)
        return lost + self._ask(pre_vote=True)

    def _stand(self, now: Millis) -> list[Effect]:
        self._keep(ElectionState(LeaderEpoch(self.epoch + 1), voted=self.me, voters=self._voters_given))
        self._turn(Turn.STANDS, self._timeouts.election_ms(), now)
        asked = self._ask(pre_vote=False)
        return self._lead(now) if self._is_sole_voter else asked

    def _ask(self, *, pre_vote: bool) -> list[Effect]:
        self._granted, self._rejected = [self.me], []
        log = self._log.log_end()
        return [AskVote(voter, self.epoch, pre_vote, log) for voter in self._others]

    def _count(self, answer: VoteAnswered, now: Millis) -> list[Effect]:
        if news := self._see(answer.epoch, answer.leader, now, by=answer.voter):
            return news
        expected = Role.PROSPECTIVE if answer.pre_vote else Role.CANDIDATE
        if self.role is not expected or answer.asked_epoch != self.epoch:
            return []  # of an election that is over
        (self._granted if answer.granted else self._rejected).append(answer.voter)
        if self.voters.is_majority(self._granted):
            return self._stand(now) if answer.pre_vote else self._lead(now)
        if self.voters.is_majority(self._rejected):
            lost = Turn.PRE_VOTE_LOST if answer.pre_vote else Turn.ELECTION_LOST
            self._turn(lost, self._timeouts.backoff_ms(), now)
        return []

    def _lead(self, now: Millis) -> list[Effect]:
        invariant(self._state.voted == self.me, "a leader has its own vote", self.me, self._state)
        self._keep(ElectionState(self.epoch, leader=self.me, voters=self._voters_given))
        self._fetched_at = dict.fromkeys(self._others, now)
        self._turn(Turn.ELECTION_WON, self._timeouts.check_ms, now)
        if self._is_sole_voter:
            self._deadline = NEVER
        record = LeaderChangeMessage(
            leader_id=self.me,
            voters=[LeaderChangeVoter(voter) for voter in self.voters],
            granting_voters=[LeaderChangeVoter(voter) for voter in sorted(self._granted)],
        )
        begun: list[Effect] = [BeginEpoch(voter, self.epoch) for voter in self._others]
        return [BecameLeader(self.epoch, record), *begun]

    # ── leaders come and go ──────────────────────────────────────────────────────────

    def _see(self, epoch: LeaderEpoch, leader: NodeId, now: Millis, by: NodeId = NOBODY) -> list[Effect]:
        if not self.epoch <= epoch <= EPOCH_MAX or leader == self.me:
            return []
        if leader == NOBODY:
            return self._unattach(epoch, now) if epoch > self.epoch else []
        if epoch == self.epoch and self._state.leader not in (NOBODY, leader):
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"two leaders of the metadata in epoch {epoch}: {self._state.leader} and {leader}"
            )
        # Voters wait to hear it from the leader itself; an observer has lost nothing by asking it in vain. Who asks a
        # leader for its vote has heard it: it may vote no more, and not have been told, and nobody else tells it.
        is_lost = self.role is not Role.FOLLOWER and (self.me not in self.voters or by == leader)
        is_news = is_lost or (epoch, leader) != (self.epoch, self._state.leader)
        return self._follow(epoch, leader, now) if is_news else []

    def _hear(self, epoch: LeaderEpoch, now: Millis) -> list[Effect]:
        if epoch != self.epoch or self._state.leader in (NOBODY, self.me):
            return []
        back = [] if self.role is Role.FOLLOWER else self._follow(epoch, self._state.leader, now)
        self._deadline = Millis(now + self._timeouts.fetch_ms)
        self._hears_leader = True
        return back

    def _miss(self, epoch: LeaderEpoch, now: Millis) -> None:
        """The leader cannot be asked: unless it is heard again very soon, ask around. Those who hear it will say no."""
        if epoch == self.epoch and self.role is Role.FOLLOWER:
            self._hears_leader = False
            self._deadline = min(self._deadline, Millis(now + self._timeouts.moment_ms()))

    def _follow(self, epoch: LeaderEpoch, leader: NodeId, now: Millis) -> list[Effect]:
        if (epoch, leader) != (self.epoch, self._state.leader):
            self._keep(ElectionState(epoch, leader=leader, voters=self._voters_given))
        self._turn(Turn.LEADER_FOUND, self._timeouts.fetch_ms, now)
        self._hears_leader = False
        return [BecameFollower(epoch, leader)]

    def _unattach(self, epoch: LeaderEpoch, now: Millis) -> list[Effect]:
        """Go on in a later epoch, of which no leader is known."""
        self._keep(ElectionState(epoch, voters=self._voters_given))
        self._turn(Turn.LATER_EPOCH, self._timeouts.election_ms(), now)
        return [LostLeader(epoch)]

    def _succeed(self, epoch: LeaderEpoch, successors: list[NodeId], now: Millis) -> list[Effect]:
        """The leader has said that it goes: its chosen successor asks around at once, the others a little later."""
        if epoch != self.epoch or self.role is not Role.FOLLOWER or not self._stands:
            return []
        self._hears_leader = False
        if successors[:1] == [self.me]:
            return self._ask_around(now)
        place = successors.index(self.me) if self.me in successors else len(successors)
        self._turn(Turn.LEADER_RESIGNED, self._timeouts.successor_ms(place), now)
        return [LostLeader(epoch)]

    def _resign(self, successors: tuple[NodeId, ...], now: Millis) -> list[Effect]:
        self._turn(Turn.RESIGNS, self._timeouts.election_ms(), now)
        told: list[Effect] = [EndEpoch(voter, self.epoch, successors) for voter in self._others]
        return [LostLeader(self.epoch), *told]

    # ── parts ────────────────────────────────────────────────────────────────────────

    @property
    def _stands(self) -> bool:
        return self.epoch < EPOCH_MAX and (self.me in self.voters or self._log.may_stand())

    @property
    def _voters_given(self) -> VoterIds | None:
        return None if self._voters_in_log else self.voters

    @property
    def _others(self) -> list[NodeId]:
        return [voter for voter in self.voters if voter != self.me]

    @property
    def _is_sole_voter(self) -> bool:
        return self.me in self.voters and not self._others

    def _turn(self, turn: Turn, for_ms: int, now: Millis) -> None:
        """The one place where the role changes, as roles.py has it; unless something happens, it lasts `for_ms`."""
        role = self.role.after(turn)
        invariant(role is not None, "a role changes as the table of roles says", self.role, turn, self._state)
        self.role, self._deadline = role or self.role, Millis(now + for_ms)

    def _keep(self, state: ElectionState) -> None:
        """Write the election state down: nothing is said or done about one that is not on the disk."""
        state.check_follows(self._state)
        self._file.store(state)
        self._state = state
