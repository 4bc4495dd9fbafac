"""A follower or observer of the quorum fetches the metadata log from its leader, by records or by a snapshot (KIP-595).

    fetch ─▶ the leader ─▶ records ───────────▶ append, flush ─▶ fetch
                       ├─▶ they part here ────▶ cut back ──────▶ fetch
                       ├─▶ a snapshot's name ─▶ snapshot_fetcher.py: begin again where it ends ─▶ fetch
                       └─▶ another leads ─────▶ the quorum is told

What a follower says it holds is on its disk: it fetches on when what it has fetched is flushed, so that a majority that
holds a record goes on holding it through a power loss. A fetch tells which watermark it knows, and the leader answers
as soon as it has a higher one (KIP-1166), so what is committed is known everywhere at once.

A node that is not a voter follows the log all the same, as an observer; while it knows no leader it asks the voters
one after the other, and each answers with the leader it knows.

Where the leader's log starts is the leader's business. A follower's starts where one of its own snapshots ends.

Read next: replication/follower.py; snapshot_fetcher.py.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from andiron.broker.metadata.raft_facts import SnapshotLoaded
from andiron.broker.metadata.raft_requests import ReplicaKey, fetch_request
from andiron.broker.metadata.snapshot_fetcher import SnapshotFetcher
from andiron.broker.metadata.voter_update import VoterUpdate
from andiron.broker.node.patience import QUORUM_REFUSED_MS
from andiron.broker.replicas.follower_fetch import fetch_partition_data
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId, Offset
from andiron.model.line import Line
from andiron.quorum.events import LeaderHeard, LeaderNamed, LeaderUnreachable
from andiron.quorum.snapshot_format import SnapshotId
from andiron.records.batch import iterate
from andiron.replication.follower import Position
from andiron.wire.messages.fetch import FetchResponse, PartitionData

if TYPE_CHECKING:
    from andiron.broker.metadata.raft_client import RaftClient

LANE = "metadata"  # fetches may wait, and the rest should not have to wait for them

log = logging.getLogger(__name__)


class MetadataFetcher:
    """One question to the leader at a time. It is the member's own hand: what the answers say of the leader goes to the
    raft at once, which may have it follow another before the answer is taken in."""

    def __init__(self, raft: RaftClient) -> None:
        self._raft = raft
        self._snapshot = SnapshotFetcher(raft)
        self._voter_update = VoterUpdate(raft)
        self._asking = False
        self._leaders = 0  # that it has followed: what an earlier one answers is of no interest
        self._fetch_at = NEVER  # when to try again
        self._turn = 0  # whom to ask next for the leader

    def next_deadline(self) -> Millis:
        return min(self._fetch_at, self._snapshot.given_up_until, self._snapshot.next_deadline())

    def tick(self, now: Millis) -> None:
        """Fetch again, or read on in a snapshot that was fetched."""
        whole = self._snapshot.tick(now)
        if whole is not None:
            self._go_on_from(whole, now)
        if min(self._fetch_at, self._snapshot.given_up_until) <= now:
            self.fetch(now)

    def soon(self, now: Millis) -> None:
        """Ask the voters for the leader at the next tick."""
        self._fetch_at = now

    def leader_changed(self) -> None:
        """Another node leads the quorum: what the last leader still answers to a fetch does not count."""
        self._leaders += 1
        self._asking = False
        self._snapshot.leader_changed()

    # ── asking ───────────────────────────────────────────────────────────────────────

    def fetch(self, now: Millis) -> None:
        """Ask the leader for what comes next, or somebody for the leader."""
        raft, quorum = self._raft, self._raft.quorum
        self._fetch_at = self._snapshot.given_up_until = NEVER
        if self._asking or quorum.leads or self._snapshot.under_way:
            return
        position, to = self._position(), self._whom_to_ask()
        if position is None or to is None:
            return  # until it is flushed; until a leader is known
        self._asking = True
        timeout_ms = raft.settings.quorum.controller_quorum_fetch_timeout_ms
        epoch, leader, leaders = quorum.epoch, quorum.leader, self._leaders
        watermark = raft.partition.watermark
        wait_ms = 0 if leader is None else timeout_ms // 4
        me = ReplicaKey(raft.me, raft.directories.metadata_id)
        request = fetch_request(raft.directories.cluster_id, me, epoch, position, watermark, wait_ms)

        def answered(response: FetchResponse | None, now: Millis) -> None:
            if self._leaders == leaders and not quorum.leads:
                self._asking = False
                self._answered(response, epoch, leader, now)

        raft.calls.call(to, LANE, request, timeout_ms, answered)

    def _position(self) -> Position | None:
        """A log that has nothing after its snapshot ends with the last record of that."""
        position = self._raft.partition.position()
        if position is None:
            return None
        return position._replace(last_epoch=max(position.last_epoch, self._raft.snapshots.table.latest_epoch))

    def _whom_to_ask(self) -> Address | None:
        raft = self._raft
        if raft.quorum.leader is not None:
            return raft.voters.addresses.get(raft.quorum.leader)
        if raft.me in raft.quorum.voters:
            return None  # the leader will tell, or this node will stand
        self._turn += 1
        known = [address for node, address in raft.voters.addresses.items() if node != raft.me]
        others = [*raft.settings.bootstrap_controllers, *known]
        return others[self._turn % len(others)] if others else None

    # ── answers ──────────────────────────────────────────────────────────────────────

    def _answered(
        self, response: FetchResponse | None, epoch: LeaderEpoch, leader: NodeId | None, now: Millis
    ) -> None:
        try:
            wait_ms = self._take(response, epoch, leader, now)
        except ProtocolError as error:
            log.error(Line(
                "Metadata log cannot be written: this node falls behind its controllers; check the disk",
                error=error.detail,
            ))  # fmt: skip
            wait_ms = QUORUM_REFUSED_MS
        if wait_ms:
            self._fetch_at = Millis(now + wait_ms)
        else:
            self.fetch(now)

    def _take(
        self, response: FetchResponse | None, epoch: LeaderEpoch, leader: NodeId | None, now: Millis
    ) -> int:
        """Take in an answer; returns how long to wait before the next question."""
        raft = self._raft
        retry_ms = raft.settings.quorum.controller_quorum_retry_backoff_ms
        if response is None:
            raft.step(LeaderUnreachable(epoch), now)
            return retry_ms
        if response.error_code or not response.responses:
            raft.refused(ErrorCode.of(response.error_code), now)
            return QUORUM_REFUSED_MS
        for node in response.node_endpoints:
            raft.voters.addresses[NodeId(node.node_id)] = Address(node.host, node.port)
        said: PartitionData = response.responses[0].partitions[0]
        if said.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION.number:
            raft.refused(ErrorCode.DUPLICATE_BROKER_REGISTRATION, now)
            return QUORUM_REFUSED_MS
        if said.error_code or leader is None:  # the leader itself says who it is, too
            seen = said.current_leader
            if seen is not None:
                raft.step(LeaderNamed(LeaderEpoch(seen.leader_epoch), NodeId(seen.leader_id)), now)
            if leader is not None and (seen is None or seen.leader_id < 0):
                raft.step(LeaderUnreachable(epoch), now)  # it has been started anew, and leads no more
            return retry_ms
        if (epoch, leader) != (raft.quorum.epoch, raft.quorum.leader):
            return retry_ms  # of a leader that is none any more
        raft.step(LeaderHeard(epoch), now)
        if said.snapshot_id is not None and said.snapshot_id.end_offset >= 0:
            id = SnapshotId(Offset(said.snapshot_id.end_offset), LeaderEpoch(said.snapshot_id.epoch))
            self._snapshot.begin(id, raft.voters.addresses[leader], epoch, now)
            return 0 if self._snapshot.under_way else QUORUM_REFUSED_MS
        was, taken = raft.partition.log.end, fetch_partition_data(said)._replace(log_start=Offset(0))
        raft.partition.take(taken, now)
        if raft.voters.follow(iterate(taken.records), was, raft.partition.log.end):
            raft.voters_changed(now)
        raft.log_changed()
        self._voter_update.look(raft.voters.addresses[leader], now)
        return 0

    # ── snapshots ────────────────────────────────────────────────────────────────────

    def _go_on_from(self, whole: SnapshotLoaded, now: Millis) -> None:
        """A snapshot is here: forget the log, and go on from where it ends."""
        raft, partition = self._raft, self._raft.partition
        try:
            if raft.quorum.leads or whole.id.end <= partition.watermark:
                raise ErrorCode.INVALID_REQUEST.error(
                    f"snapshot {whole.id} says nothing that is not known here"
                )
            self._restart_log(whole.id.end, now)
        except ProtocolError as error:
            log.error(Line(
                "Metadata log cannot go on from snapshot {snapshot}, which is fetched again",
                snapshot=whole.id, error=error.detail,
            ))  # fmt: skip
            self._fetch_at = Millis(now + QUORUM_REFUSED_MS)
            return
        raft.snapshots.drop_before(whole.id.end)
        partition.follow(partition.epoch, whole.id.end)
        raft.voters.restart(whole.id.end, whole.voters)
        raft.voters_changed(now)
        raft.facts.note(whole)
        raft.log_changed()
        self.fetch(now)

    def _restart_log(self, end: Offset, now: Millis) -> None:
        """Let the log begin anew where the snapshot ends. Once it has, the image must follow, even if the disk did not
        take the note of how far the log is flushed (flushed_mark.py): the next flush writes that anew."""
        held = self._raft.partition.log
        try:
            held.restart_at(end, now)
        except ProtocolError:
            if (held.start, held.end) != (end, end):
                raise
