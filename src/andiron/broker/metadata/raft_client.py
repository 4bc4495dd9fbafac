"""RaftClient: this node's part in the metadata quorum (KIP-595), its copy of the log and its voice in who leads it.

    quorum/quorum.py       who leads?   ── AskVote, BeginEpoch, EndEpoch ─▶ Calls ─▶ the other voters
         ▲                                                                             │
         └────────── VoteAnswered, LeaderNamed, LeaderHeard, VoterFetched ◀────────────┘
    metadata_fetcher.py    what is in the log?   a follower fetches it from the leader, as followers of any partition do

A log that was kept short does not begin at 0 but where a snapshot ends (snapshot_files.py). So what a node has in its
snapshots counts as if it were still in its log: it is committed, and of an epoch that its vote goes by.

Kafka's KafkaRaftClient has all of this in one class; here elections are quorum/quorum.py's, and fetching is
metadata_fetcher.py's.

Read next: metadata_fetcher.py; raft_facts.py, by which quorum_controller.py learns that this node begins to lead, and
that it leads no more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from andiron.broker.metadata.metadata_fetcher import MetadataFetcher
from andiron.broker.metadata.metadata_log import MetadataLog
from andiron.broker.metadata.observers import Observers
from andiron.broker.metadata.raft_facts import LeadershipGained, LeadershipLost, RaftFacts
from andiron.broker.metadata.raft_requests import (
    METADATA,
    TOPIC_ID,
    begin_request,
    end_request,
    vote_request,
)
from andiron.broker.metadata.snapshot_files import SnapshotFiles, align_log_with_snapshots
from andiron.broker.metadata.standalone_format import format_standalone, may_format_standalone
from andiron.broker.metadata.voter_tracker import VoterTracker
from andiron.broker.node.calls import Calls
from andiron.broker.node.patience import QUORUM_POSTPONED_MS
from andiron.broker.node.step import Step
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Address, LeaderEpoch, Millis, NodeId, Offset
from andiron.model.invariant import invariant
from andiron.model.line import Line
from andiron.model.settings import MAX_LONG
from andiron.quorum.election_state import NOBODY, ElectionStateFile
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
    LogEnd,
    LostLeader,
    NodeStarted,
    NodeStopping,
    VoteAnswered,
    VoterFetched,
)
from andiron.quorum.quorum import Quorum
from andiron.quorum.records import VotersRecord
from andiron.quorum.snapshot_format import SnapshotId
from andiron.quorum.voter_set import NOWHERE, VoterSet
from andiron.replication.commit_rule import (
    CommitRule,
    in_own_epoch,
    majority_of_followers,
    majority_watermark,
)
from andiron.replication.leader import LeaderAndIsr

FOLLOWER_LAG_MS_MAX = MAX_LONG  # voters are not dropped for being slow
LANE = "quorum"
DOUBTED_FOR = 3  # times the fetch timeout: by then the others have noticed who is gone, and elected another
# What a voter says who leaves the vote undecided, or gives none, but says who leads: to one of an old epoch, and to one
# that votes no more and has not heard of it.
ANSWERS = (ErrorCode.NONE, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INCONSISTENT_VOTER_SET)

log = logging.getLogger(__name__)


class RaftClient:
    """The metadata log at this node, and its voice in who leads it."""

    partition: Partition
    quorum: Quorum
    fetching: MetadataFetcher

    def __init__(
        self, settings: NodeSettings, directories: LogDirectories, chance: Chance, calls: Calls,
        flush_queue: FlushQueue, step: Step,
    ) -> None:  # fmt: skip
        self.settings, self.directories, self._chance = settings, directories, chance
        self.calls, self.flush_queue, self.node_step = calls, flush_queue, step
        self._directory = f"{settings.metadata_log_dir}/{METADATA}"
        self.snapshots = SnapshotFiles(directories.disk, self._directory)
        self._files = MetadataLog(settings, directories.disk, self._directory)
        self.me = NodeId(settings.node_id)
        self.voters = VoterTracker(settings, directories)
        self.observers = Observers()
        self.facts = RaftFacts(step)
        self.leader_before = NOBODY  # the last one that was followed
        self._high_watermark = LeaderEpoch(0), Offset(0)  # of the last epoch that was led here
        self.trouble: str | None = None  # why the others will have nothing to do with this node
        self._doubted_at: Millis | None = None  # since when they take it for a second one of its id

    # ── starting and stopping ────────────────────────────────────────────────────────

    def open(self, now: Millis) -> None:
        """Open the log and its snapshots; raises before anything is changed where what was committed is damaged or
        gone. A node by itself that has none begins with what makes it a cluster."""
        self.snapshots.open()
        held = self._files.open(self.snapshots, self.directories, now)
        self.partition = Partition(METADATA, TOPIC_ID, held)
        is_new = not held.end and not self.snapshots.table
        if is_new and may_format_standalone(self.settings):
            format_standalone(
                self.settings, self.directories.disk, self.snapshots, self.directories.metadata_id, now
            )

    def start(self, voters: VotersRecord | None, now: Millis) -> None:
        """Take part in the quorum, with what the log and the snapshots have; the newest of these names `voters`."""
        self.snapshots.sweep()
        align_log_with_snapshots(self.partition.log, self.snapshots.table, now)
        self.voters.load(self.partition, self.snapshots.table.committed, voters)
        self.quorum = Quorum(
            self.me, self.voters.latest.ids, ElectionTimeouts(self.settings.quorum, self._chance), self,
            ElectionStateFile(self.directories.disk, self._directory), voters_in_log=self.voters.history.is_in_log,
        )  # fmt: skip
        self.fetching = MetadataFetcher(self)
        self._carry_out(self.quorum.step(NodeStarted(), now), now)  # a disk that is full now ends the start
        self.log_changed()
        self.fetch(now)

    def log_changed(self) -> None:
        """The metadata log has grown, was cut, or goes on from a snapshot: note it for the end of the step. Where this
        node leads, the high watermark of the quorum never goes back in its epoch."""
        held, committed, epoch = self.partition.log, self.partition.watermark, self.quorum.epoch
        bounds = held.start, committed, held.end
        invariant(held.start <= committed <= held.end, "log start <= high watermark <= log end", *bounds)
        if self.quorum.leads:
            led, before = self._high_watermark
            is_ahead = epoch > led or committed >= before
            invariant(
                is_ahead, "the quorum's high watermark never goes back in an epoch", epoch, before, committed
            )
            self._high_watermark = epoch, committed
        self.node_step.metadata_grown(self.partition)

    def log_end(self) -> LogEnd:
        """How much this node has: the epoch of its last record, be it in the log or before its start, and the end."""
        epoch = max(0, self.partition.log.epochs.latest, self.snapshots.table.latest_epoch)
        return LogEnd(LeaderEpoch(epoch), self.partition.log.end)

    def may_stand(self) -> bool:
        """Whether this node, if it is no voter any more, stands for election: the record that removed it (KIP-853) may
        not be committed, and nobody else may have it."""
        return self.voters.history.needs(self.me, self.partition.watermark)

    def stop(self, now: Millis) -> None:
        """Give the lead up, if this node has it, to the voter whose log is the longest."""
        if self.quorum.leads and self.partition.leads and not self.partition.leader().alone:
            progress = self.partition.leader().progress()
            order = sorted(progress, key=lambda voter: -progress[voter].offset)
            self.step(NodeStopping(order), now)

    def next_deadline(self) -> Millis:
        return min(self.quorum.next_deadline(), self.fetching.next_deadline())

    def tick(self, now: Millis) -> None:
        """Let the timeouts of elections and fetches pass that are due."""
        self.step(DeadlineReached(), now)
        self.fetching.tick(now)

    def flushed(self, now: Millis) -> None:
        """The log is on the disk as far as it says: a follower may ask for more."""
        self.note_flushed()
        self.fetch(now)

    def note_flushed(self) -> None:
        """Write down how far the log is on the disk, for the next start."""
        self._files.flushed(self.partition.log.flushed_end)

    def fetch(self, now: Millis) -> None:
        """Ask for what comes next, if this node follows and is not about to."""
        self.fetching.fetch(now)

    @property
    def leads(self) -> bool:
        return self.quorum.leads

    @property
    def patience_ms(self) -> int:
        """How long ago one may have fetched that is said to be there."""
        return self.settings.quorum.controller_quorum_fetch_timeout_ms

    @property
    def broken(self) -> str | None:
        """Why this node is of no use to the others any more: its copy of the log cannot be trusted to its disk."""
        is_alone = list(self.quorum.voters) == [self.me] and not self.observers
        failure = None if is_alone else self.partition.failure
        return None if failure is None else f"the metadata log cannot be written: {failure}"

    @property
    def leader(self) -> NodeId:
        """Who leads, -1 if nobody is known to."""
        return NOBODY if self.quorum.leader is None else self.quorum.leader

    def address_of(self, node: NodeId) -> Address | None:
        """Where a node's controller listens."""
        return self.voters.addresses.get(node)

    # ── what others say ──────────────────────────────────────────────────────────────

    def step(self, event: Event, now: Millis) -> None:
        """Let the quorum know of something, and do what it says. What cannot be written down has not happened."""
        if isinstance(event, LeaderHeard):
            self._trusted()
        try:
            effects = self.quorum.step(event, now)
        except OSError as error:
            log.error(Line(
                "Quorum state cannot be written: this node neither votes nor is elected; check the disk",
                error=error,
            ))  # fmt: skip
            self.quorum.postpone(Millis(now + QUORUM_POSTPONED_MS))
            return
        self._carry_out(effects, now)

    def vote(
        self, candidate: NodeId, epoch: LeaderEpoch, end: LogEnd, *, pre_vote: bool, now: Millis
    ) -> Ballot:
        """Answer who asks for a vote."""
        try:
            ballot = self.quorum.vote(candidate, epoch, end, pre_vote=pre_vote, now=now)
        except OSError as error:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(f"a vote cannot be written: {error}") from error
        self._carry_out(ballot.effects, now)
        return ballot

    def fetched_by(self, node: NodeId, offset: Offset, now: Millis) -> None:
        """A node has fetched from here, where the log is led."""
        leader = self.partition.leader()
        self.heard_of(node, now)
        if node in self.quorum.voters:
            leader.fetched(node, offset, now)
            self._resign_if_removed(now)
        else:
            self.observers.fetched(node, offset, leader.end, now)

    def check_identity(self, node: NodeId, directory: bytes, now: Millis) -> None:
        """A voter that fetches from here does so out of one folder: were two processes of one id counted as one voter,
        a majority could be one node and two copies of another."""
        known, seen = self.voters.directories.get(node), self.partition.leader().progress().get(node)
        is_other = known is not None and NOWHERE not in (known, directory) and known != directory
        if is_other and seen is not None and now - seen.fetched_at < self.patience_ms:
            raise ErrorCode.DUPLICATE_BROKER_REGISTRATION.error(f"another process fetches as node {node}")
        self.voters.directories[node] = directory

    def heard_of(self, node: NodeId, now: Millis) -> None:
        """A node fetches from here, be it records or a snapshot."""
        if node in self.quorum.voters:
            self.step(VoterFetched(node), now)

    def is_followed_by(self, node: NodeId) -> bool:
        """Whether a node has the log from here, where it is led, or from itself."""
        return node == self.me or node in self.quorum.voters or node in self.observers

    def offer(self, offset: Offset, last_epoch: LeaderEpoch) -> SnapshotId | None:
        """The snapshot for a node whose log, which ends so, this one does not reach."""
        return self.snapshots.table.offer(self.partition.log.start, offset, last_epoch)

    def refused(self, code: ErrorCode, now: Millis) -> None:
        """Another controller will have nothing to do with this node."""
        if code is ErrorCode.DUPLICATE_BROKER_REGISTRATION:
            self._doubt(now)
            return
        trouble = f"the controllers will have nothing to do with this node: {code.meaning}"
        if code is ErrorCode.INCONSISTENT_CLUSTER_ID:
            own = self.directories.cluster_id
            trouble = (
                f"the controllers are of another cluster, and the folder of this node is of {own}; "
                "a new node joins theirs with an empty folder and --cluster-id"
            )
        if trouble != self.trouble:
            log.error(Line("Controllers refuse this node", error=trouble))
        self.trouble = trouble

    def _doubt(self, now: Millis) -> None:
        """The others know another process under this node's id. It may be this node before it lost its disk, or the
        one that it replaces: then they forget it soon. Only one that they go on hearing of is there."""
        advice = "stop it, or give this one a node.id of its own"
        if self._doubted_at is None:
            self._doubted_at = now
            self.trouble = (
                f"the controllers remember another process as node {self.me}: if it is gone they forget it in some "
                f"seconds; if not, {advice}"
            )
            log.info(Line("Controllers know another process by the id of this node", error=self.trouble))
        elif now - self._doubted_at >= DOUBTED_FOR * self.patience_ms:
            trouble = f"another process is node {self.me}; {advice}"
            if trouble != self.trouble:
                log.error(Line("Controllers hear of two processes with the id of this node", error=trouble))
            self.trouble = trouble

    def _trusted(self) -> None:
        self.trouble = self._doubted_at = None

    # ── what the quorum wants ────────────────────────────────────────────────────────

    def _carry_out(self, effects: Sequence[Effect], now: Millis) -> None:
        for effect in effects:
            match effect:
                case AskVote():
                    self._ask_vote(effect)
                case BeginEpoch(voter, epoch):
                    endpoints = self.settings.controller_endpoints
                    self._tell(
                        voter, begin_request(self.directories.cluster_id, voter, self.me, epoch, endpoints)
                    )
                case EndEpoch(voter, epoch, successors):
                    self._tell(voter, end_request(self.directories.cluster_id, self.me, epoch, successors))
                case BecameLeader():
                    self._lead(effect, now)
                case BecameFollower(epoch, leader):
                    log.info(Line(
                        "Controller {leader} leads the metadata quorum",
                        leader=leader, quorum_epoch=epoch,
                    ))  # fmt: skip
                    self.leader_before = leader
                    self._follow(epoch)
                    self.fetch(now)
                case LostLeader(epoch):
                    self._follow(epoch)
                    self.fetching.soon(now)

    def _lead(self, effect: BecameLeader, now: Millis) -> None:
        log.info(Line(
            "Controller {leader} leads the metadata quorum: this node is the active controller",
            leader=self.me, quorum_epoch=effect.epoch,
        ))  # fmt: skip
        self._trusted()
        voters = frozenset([*self.quorum.voters, self.me])
        self.partition.lead(
            LeaderAndIsr(self.me, effect.epoch, voters, voters), watermark=self.snapshots.table.committed,
            now=now, lag_ms_max=FOLLOWER_LAG_MS_MAX,
            rule=self._commit_rule(self.partition.log.end),
        )  # fmt: skip
        self.observers.clear()
        if self.voters.begin(effect.first_record, self.partition, now):
            self.voters_changed(now)
        self.log_changed()
        self.facts.note(LeadershipGained(effect.epoch))

    def _follow(self, epoch: LeaderEpoch) -> None:
        self.fetching.leader_changed()
        self.partition.follow(epoch, self.snapshots.table.committed)
        self.facts.note(LeadershipLost())

    def _ask_vote(self, ask: AskVote) -> None:
        def counted(response: Any, now: Millis) -> None:
            if response is not None and response.error_code:
                self.refused(ErrorCode.of(response.error_code), now)
            if response is None or not response.topics:
                return
            said = response.topics[0].partitions[0]
            never_did = said.leader_id == self.me and said.leader_epoch > self.quorum.epoch
            if never_did:
                self.refused(ErrorCode.DUPLICATE_BROKER_REGISTRATION, now)
            if ErrorCode.of(said.error_code) in ANSWERS:
                self.step(
                    VoteAnswered(
                        ask.voter, ask.epoch, ask.pre_vote, said.vote_granted, LeaderEpoch(said.leader_epoch),
                        NodeId(said.leader_id),
                    ),
                    now,
                )  # fmt: skip

        named = self.voters.latest.get(ask.voter)
        directory = NOWHERE if named is None else named.directory
        self._send(ask.voter, vote_request(self.directories.cluster_id, self.me, ask, directory), counted)

    def _tell(self, voter: NodeId, request: Any) -> None:
        def heard(response: Any, now: Millis) -> None:
            if response is not None and response.topics:
                said = response.topics[0].partitions[0]
                self.step(LeaderNamed(LeaderEpoch(said.leader_epoch), NodeId(said.leader_id)), now)

        self._send(voter, request, heard)

    def _send(self, voter: NodeId, request: Any, then: Callable[[Any, Millis], None]) -> None:
        timeout_ms = self.settings.quorum.controller_quorum_request_timeout_ms
        address = self.address_of(voter)
        if address is not None:
            self.calls.call(address, LANE, request, timeout_ms, then)

    # ── voters come and go ───────────────────────────────────────────────────────────

    def change_voters(self, voters: VoterSet, now: Millis) -> Offset:
        """As the leader: let these vote from now on. Returns where the log then ends."""
        end = self.voters.change(voters, self.partition, now)
        self.voters_changed(now)
        self.log_changed()
        return end

    def voters_changed(self, now: Millis) -> None:
        """The log names other voters than before."""
        voters = self.voters.latest.ids
        log.info(Line("Voters of the metadata quorum are {voters}", voters=list(voters)))
        self.quorum.change_voters(voters, now, in_log=self.voters.history.is_in_log)
        if self.quorum.leads:
            counted, leader = frozenset([*voters, self.me]), self.partition.leader()
            leader.reassigned(counted, now)
            leader.rule = self._commit_rule(leader.epoch_start)
            leader.confirmed(counted)
            for node in voters:
                self.observers.pop(node, None)

    def _commit_rule(self, epoch_start: Offset) -> CommitRule:
        """What a majority of the voters holds is committed, from a record of this leader's epoch on."""
        votes = self.me in self.quorum.voters
        return in_own_epoch(majority_watermark if votes else majority_of_followers, epoch_start)

    def _resign_if_removed(self, now: Millis) -> None:
        """A leader that is no voter any more has done its last deed once that is committed."""
        if self.me not in self.quorum.voters and self.voters.history.changed_at < self.partition.watermark:
            log.info(Line("Controller {controller} is no voter any more and resigns", controller=self.me))
            self.stop(now)
