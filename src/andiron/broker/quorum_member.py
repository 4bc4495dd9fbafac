"""This node's part in the metadata quorum: its copy of the log, and who leads.

    quorum/quorum.py   who leads?   ── AskVote, BeginEpoch, EndEpoch ─▶ Calls ─▶ the other voters
         ▲                                                                         │
         └────────── VoteAnswered, LeaderSeen, LeaderHeard, FetchedBy ◀────────────┘
    replication/       what is in the log?  a follower fetches from the leader, as followers of any partition do

What a follower says it holds is on its disk: it fetches on when what it has fetched is flushed, so that a majority that
holds a record goes on holding it through a power loss. A fetch tells which watermark it knows, and the leader answers
as soon as it has a higher one (KIP-1166), so what is committed is known everywhere at once.

A node that is not a voter follows the log all the same, as an observer; while it knows no leader it asks the voters
one after the other, and each answers with the leader it knows.

Read next: metadata.py, which is told when this node begins to lead and when that ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from andiron.broker.calls import Calls
from andiron.broker.fetcher import fetched
from andiron.broker.node_settings import NodeSettings
from andiron.broker.partition import Partition
from andiron.broker.quorum_messages import (
    METADATA,
    TOPIC_ID,
    begin_request,
    end_request,
    fetch_request,
    vote_request,
)
from andiron.log.disk import Disk
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId, Offset
from andiron.model.settings import MAX_LONG
from andiron.quorum.events import (
    AskVote,
    Ballot,
    BecameFollower,
    BecameLeader,
    BeginEpoch,
    Effect,
    EndEpoch,
    Event,
    FetchedBy,
    LeaderAway,
    LeaderHeard,
    LeaderSeen,
    LogEnd,
    LostLeader,
    Started,
    Stopping,
    VoteAnswered,
    Woken,
)
from andiron.quorum.quorum import Quorum
from andiron.quorum.records import encode_control
from andiron.quorum.state import NOBODY
from andiron.quorum.voters import Voters
from andiron.records.control import control_batch
from andiron.replication.commit_rule import in_own_epoch, majority_watermark
from andiron.replication.leader import Progress
from andiron.wire.messages.fetch import FetchResponse, PartitionData

SETTINGS = LogSettings(flush_messages=1, retention_ms=-1, retention_bytes=-1, max_message_bytes=8 << 20)
FOLLOWER_LAG_MS_MAX = MAX_LONG  # voters are not dropped for being slow
POLL, QUORUM = "metadata", "quorum"  # the lanes of fetches, which may wait, and of the rest
REFUSED_MS = 1_000  # before a node that will have nothing to do with this one is asked again

log = logging.getLogger(__name__)


class Told(NamedTuple):
    """Who is told of what: the node begins to lead, it does not lead any more, its log has grown."""

    leads: Callable[[LeaderEpoch, Millis], None]
    lost: Callable[[], None]
    grown: Callable[[Partition], None]


class QuorumMember:
    """The metadata log at this node, and its voice in who leads it."""

    partition: Partition
    quorum: Quorum

    def __init__(
        self, settings: NodeSettings, disk: Disk, chance: Chance, calls: Calls, cluster_id: Callable[[], str],
        told: Told,
    ) -> None:  # fmt: skip
        self._settings, self._disk, self._chance, self._calls = settings, disk, chance, calls
        self._cluster_id, self._told = cluster_id, told
        self._me = NodeId(settings.node_id)
        self._addresses = {NodeId(v.node_id): Address(v.host, v.port) for v in settings.voters.values()}
        self.observers: dict[NodeId, Progress] = {}
        self._fetching = False
        self._follows_since = 0  # counts whom it followed: what a leader of before answers is of no interest
        self._fetch_at = NEVER  # when to try again
        self._turn = 0  # whom to ask next for the leader

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, now: Millis) -> None:
        """Open the log, and take part."""
        directory = f"{self._settings.metadata_log_dir}/{METADATA}"
        held = PartitionLog.open(self._disk, directory, METADATA, TOPIC_ID, SETTINGS, now=now)
        self.partition = Partition(METADATA, TOPIC_ID, held)
        self.quorum = Quorum(
            self._me, Voters(self._settings.voters), self._settings.quorum, self._chance,
            lambda: LogEnd(LeaderEpoch(max(0, held.epochs.latest)), held.end), self._disk, directory,
        )  # fmt: skip
        self._carry_out(self.quorum.step(Started(), now), now)  # a disk that is full now ends the start
        self._told.grown(self.partition)
        self.fetch(now)

    def stop(self, now: Millis) -> None:
        """Give the lead up, if this node has it, to the voter whose log is the longest."""
        if self.quorum.leads and not self.partition.leader().alone:
            progress = self.partition.leader().progress()
            order = sorted(progress, key=lambda voter: -progress[voter].offset)
            self.step(Stopping(order), now)

    def next_deadline(self) -> Millis:
        return min(self.quorum.next_deadline(), self._fetch_at)

    def tick(self, now: Millis) -> None:
        """Do what time has brought."""
        self.step(Woken(), now)
        if self._fetch_at <= now:
            self.fetch(now)

    @property
    def leads(self) -> bool:
        return self.quorum.leads

    @property
    def broken(self) -> str | None:
        """Why this node is of no use to the others any more: its copy of the log cannot be trusted to its disk."""
        is_alone = list(self.quorum.voters) == [self._me]
        return None if is_alone else self.partition.failure

    @property
    def leader(self) -> NodeId:
        """Who leads, -1 if nobody is known to."""
        return NOBODY if self.quorum.leader is None else self.quorum.leader

    def address_of(self, node: NodeId) -> Address | None:
        """Where a node's controller listens."""
        return self._addresses.get(node)

    # ── what others say ──────────────────────────────────────────────────────────────

    def step(self, event: Event, now: Millis) -> None:
        """Let the quorum know of something, and do what it says. What cannot be written down has not happened."""
        try:
            effects = self.quorum.step(event, now)
        except OSError as error:
            log.error("the state of the quorum cannot be written: %s", error)
            self.quorum.postpone(Millis(now + REFUSED_MS))
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
        if node in self.quorum.voters:
            self.step(FetchedBy(node), now)
            leader.fetched(node, offset, now)
        else:
            seen = self.observers.setdefault(node, Progress(offset, now, now, leader.end))
            seen.offset, seen.fetched_at = offset, now
            if offset >= leader.end:
                seen.caught_up_at = now

    # ── what the quorum wants ────────────────────────────────────────────────────────

    def _carry_out(self, effects: Sequence[Effect], now: Millis) -> None:
        for effect in effects:
            match effect:
                case AskVote():
                    self._ask_vote(effect)
                case BeginEpoch(voter, epoch):
                    request = begin_request(self._cluster_id(), voter, self._me, epoch)
                    self._tell(voter, request)
                case EndEpoch(voter, epoch, successors):
                    self._tell(voter, end_request(self._cluster_id(), self._me, epoch, successors))
                case BecameLeader():
                    self._lead(effect, now)
                case BecameFollower(epoch, leader):
                    log.info("node %d leads the metadata in epoch %d", leader, epoch)
                    self._follow(epoch)
                    self.fetch(now)
                case LostLeader(epoch):
                    self._follow(epoch)
                    self._fetch_at = now

    def _lead(self, effect: BecameLeader, now: Millis) -> None:
        log.info("this node leads the metadata in epoch %d", effect.epoch)
        voters = frozenset(self.quorum.voters)
        self.partition.lead(
            self._me, effect.epoch, voters, voters, watermark=Offset(0), now=now,
            lag_ms_max=FOLLOWER_LAG_MS_MAX, rule=in_own_epoch(majority_watermark, self.partition.log.end),
        )  # fmt: skip
        self.observers.clear()
        self.partition.append_own(control_batch([encode_control(effect.first_record)], timestamp=now), now)
        self._told.grown(self.partition)
        self._told.leads(effect.epoch, now)

    def _follow(self, epoch: LeaderEpoch) -> None:
        self._follows_since += 1
        self._fetching = False
        self.partition.follow(epoch, Offset(0))
        self._told.lost()

    def _ask_vote(self, ask: AskVote) -> None:
        def counted(response: Any, now: Millis) -> None:
            if response is None or response.error_code or not response.topics:
                return
            said = response.topics[0].partitions[0]
            if not said.error_code:
                self.step(
                    VoteAnswered(
                        ask.voter, ask.epoch, ask.pre_vote, said.vote_granted, LeaderEpoch(said.leader_epoch),
                        NodeId(said.leader_id),
                    ),
                    now,
                )  # fmt: skip

        self._send(ask.voter, vote_request(self._cluster_id(), self._me, ask), counted)

    def _tell(self, voter: NodeId, request: Any) -> None:
        def heard(response: Any, now: Millis) -> None:
            if response is not None and response.topics:
                said = response.topics[0].partitions[0]
                self.step(LeaderSeen(LeaderEpoch(said.leader_epoch), NodeId(said.leader_id)), now)

        self._send(voter, request, heard)

    def _send(self, voter: NodeId, request: Any, then: Callable[[Any, Millis], None]) -> None:
        timeout_ms = self._settings.quorum.controller_quorum_request_timeout_ms
        self._calls.call(self._addresses[voter], QUORUM, request, timeout_ms, then)

    # ── following ────────────────────────────────────────────────────────────────────

    def fetch(self, now: Millis) -> None:
        """Ask the leader for what comes next, or somebody for the leader; one question at a time."""
        self._fetch_at = NEVER
        if self._fetching or self.quorum.leads:
            return
        position, to = self.partition.position(), self._whom_to_ask()
        if position is None or to is None:
            return  # until it is flushed; until a leader is known
        self._fetching = True
        timeout_ms = self._settings.quorum.controller_quorum_fetch_timeout_ms
        epoch, leader, since = self.quorum.epoch, self.quorum.leader, self._follows_since
        watermark = self.partition.watermark
        wait_ms = 0 if leader is None else timeout_ms // 4
        request = fetch_request(self._cluster_id(), self._me, epoch, position, watermark, wait_ms)

        def answered(response: FetchResponse | None, now: Millis) -> None:
            if self._follows_since == since and not self.quorum.leads:
                self._fetching = False
                self._fetched(response, epoch, leader, now)

        self._calls.call(to, POLL, request, timeout_ms, answered)

    def _whom_to_ask(self) -> Address | None:
        if self.quorum.leader is not None:
            return self._addresses.get(self.quorum.leader)
        if self._me in self.quorum.voters:
            return None  # the leader will tell, or this node will stand
        self._turn += 1
        others = [*self._settings.bootstrap_controllers, *self._addresses.values()]
        return others[self._turn % len(others)]

    def _fetched(
        self, response: FetchResponse | None, epoch: LeaderEpoch, leader: NodeId | None, now: Millis
    ) -> None:
        try:
            wait_ms = self._take(response, epoch, leader, now)
        except ProtocolError as error:
            log.error("the metadata log cannot be written: %s", error.detail)
            wait_ms = REFUSED_MS
        if wait_ms:
            self._fetch_at = Millis(now + wait_ms)
        else:
            self.fetch(now)

    def _take(
        self, response: FetchResponse | None, epoch: LeaderEpoch, leader: NodeId | None, now: Millis
    ) -> int:
        """Take in an answer; returns how long to wait before the next question."""
        retry_ms = self._settings.quorum.controller_quorum_retry_backoff_ms
        if response is None:
            self.step(LeaderAway(epoch), now)
            return retry_ms
        if response.error_code or not response.responses:
            code = ErrorCode.of(response.error_code)
            log.error("the leader of the metadata would not be fetched from: %s", code.meaning)
            return REFUSED_MS
        for node in response.node_endpoints:
            self._addresses[NodeId(node.node_id)] = Address(node.host, node.port)
        said: PartitionData = response.responses[0].partitions[0]
        if said.error_code or leader is None:  # the leader itself says who it is, too
            if said.current_leader is not None:
                seen = said.current_leader
                self.step(LeaderSeen(LeaderEpoch(seen.leader_epoch), NodeId(seen.leader_id)), now)
            return retry_ms
        if (epoch, leader) != (self.quorum.epoch, self.quorum.leader):
            return retry_ms  # of a leader that is none any more
        self.step(LeaderHeard(epoch), now)
        self.partition.take(fetched(said), now)
        self._told.grown(self.partition)
        return 0
