"""The metadata log is fetched from whoever leads it, record by record or by a snapshot.

    fetch ─▶ the leader ─▶ records ───────────▶ append, flush ─▶ fetch
                       ├─▶ they part here ────▶ cut back ──────▶ fetch
                       ├─▶ a snapshot's name ─▶ snapshot_fetch.py: begin again where it ends ─▶ fetch
                       └─▶ another leads ─────▶ the quorum is told

What a follower says it holds is on its disk: it fetches on when what it has fetched is flushed, so that a majority that
holds a record goes on holding it through a power loss. A fetch tells which watermark it knows, and the leader answers
as soon as it has a higher one (KIP-1166), so what is committed is known everywhere at once.

A node that is not a voter follows the log all the same, as an observer; while it knows no leader it asks the voters
one after the other, and each answers with the leader it knows.

Where the leader's log starts is the leader's business. A follower's starts where one of its own snapshots ends.

Read next: replication/follower.py; snapshot_fetch.py.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from andiron.broker.metadata.quorum_facts import Whole
from andiron.broker.metadata.quorum_messages import fetch_request
from andiron.broker.metadata.snapshot_fetch import SnapshotFetch
from andiron.broker.node.patience import QUORUM_REFUSED_MS
from andiron.broker.replicas.fetch_messages import fetched
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId, Offset
from andiron.quorum.events import LeaderAway, LeaderHeard, LeaderSeen
from andiron.quorum.snapshot import SnapshotId
from andiron.records.batch import iterate
from andiron.replication.follower import Position
from andiron.wire.messages.fetch import FetchResponse, PartitionData

if TYPE_CHECKING:
    from andiron.broker.metadata.quorum_member import QuorumMember

LANE = "metadata"  # fetches may wait, and the rest should not have to wait for them

log = logging.getLogger(__name__)


class QuorumFetch:
    """One question to the leader at a time. It is the member's own hand: what the answers say of the leader goes to the
    member at once, which may have it follow another before the answer is taken in."""

    def __init__(self, member: QuorumMember) -> None:
        self._member = member
        self._snapshot = SnapshotFetch(member)
        self._asking = False
        self._leaders = 0  # that it has followed: what an earlier one answers is of no interest
        self._fetch_at = NEVER  # when to try again
        self._turn = 0  # whom to ask next for the leader

    def next_deadline(self) -> Millis:
        return min(self._fetch_at, self._snapshot.given_up_until, self._snapshot.next_deadline())

    def tick(self, now: Millis) -> None:
        """Try again, or read on in a snapshot."""
        whole = self._snapshot.tick(now)
        if whole is not None:
            self._go_on_from(whole, now)
        if min(self._fetch_at, self._snapshot.given_up_until) <= now:
            self.fetch(now)

    def soon(self, now: Millis) -> None:
        """Look around for a leader."""
        self._fetch_at = now

    def leader_changed(self) -> None:
        """What was asked was asked of another."""
        self._leaders += 1
        self._asking = False
        self._snapshot.leader_changed()

    # ── asking ───────────────────────────────────────────────────────────────────────

    def fetch(self, now: Millis) -> None:
        """Ask the leader for what comes next, or somebody for the leader."""
        member, quorum = self._member, self._member.quorum
        self._fetch_at = self._snapshot.given_up_until = NEVER
        if self._asking or quorum.leads or self._snapshot.under_way:
            return
        position, to = self._position(), self._whom_to_ask()
        if position is None or to is None:
            return  # until it is flushed; until a leader is known
        self._asking = True
        timeout_ms = member.settings.quorum.controller_quorum_fetch_timeout_ms
        epoch, leader, leaders = quorum.epoch, quorum.leader, self._leaders
        watermark = member.partition.watermark
        wait_ms = 0 if leader is None else timeout_ms // 4
        request = fetch_request(
            member.directories.cluster_id, member.me, member.directories.metadata_id, epoch, position, watermark,
            wait_ms,
        )  # fmt: skip

        def answered(response: FetchResponse | None, now: Millis) -> None:
            if self._leaders == leaders and not quorum.leads:
                self._asking = False
                self._answered(response, epoch, leader, now)

        member.calls.call(to, LANE, request, timeout_ms, answered)

    def _position(self) -> Position | None:
        """A log that has nothing after its snapshot ends with the last record of that."""
        position = self._member.partition.position()
        if position is None:
            return None
        return position._replace(
            last_epoch=max(position.last_epoch, self._member.snapshots.table.latest_epoch)
        )

    def _whom_to_ask(self) -> Address | None:
        member = self._member
        if member.quorum.leader is not None:
            return member.voters.addresses.get(member.quorum.leader)
        if member.me in member.quorum.voters:
            return None  # the leader will tell, or this node will stand
        self._turn += 1
        known = [address for node, address in member.voters.addresses.items() if node != member.me]
        others = [*member.settings.bootstrap_controllers, *known]
        return others[self._turn % len(others)] if others else None

    # ── answers ──────────────────────────────────────────────────────────────────────

    def _answered(
        self, response: FetchResponse | None, epoch: LeaderEpoch, leader: NodeId | None, now: Millis
    ) -> None:
        try:
            wait_ms = self._take(response, epoch, leader, now)
        except ProtocolError as error:
            log.error("the metadata log cannot be written: %s", error.detail)
            wait_ms = QUORUM_REFUSED_MS
        if wait_ms:
            self._fetch_at = Millis(now + wait_ms)
        else:
            self.fetch(now)

    def _take(
        self, response: FetchResponse | None, epoch: LeaderEpoch, leader: NodeId | None, now: Millis
    ) -> int:
        """Take in an answer; returns how long to wait before the next question."""
        member = self._member
        retry_ms = member.settings.quorum.controller_quorum_retry_backoff_ms
        if response is None:
            member.step(LeaderAway(epoch), now)
            return retry_ms
        if response.error_code or not response.responses:
            member.refused(ErrorCode.of(response.error_code), now)
            return QUORUM_REFUSED_MS
        for node in response.node_endpoints:
            member.voters.addresses[NodeId(node.node_id)] = Address(node.host, node.port)
        said: PartitionData = response.responses[0].partitions[0]
        if said.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION.number:
            member.refused(ErrorCode.DUPLICATE_BROKER_REGISTRATION, now)
            return QUORUM_REFUSED_MS
        if said.error_code or leader is None:  # the leader itself says who it is, too
            seen = said.current_leader
            if seen is not None:
                member.step(LeaderSeen(LeaderEpoch(seen.leader_epoch), NodeId(seen.leader_id)), now)
            if leader is not None and (seen is None or seen.leader_id < 0):
                member.step(LeaderAway(epoch), now)  # it has been started anew, and leads no more
            return retry_ms
        if (epoch, leader) != (member.quorum.epoch, member.quorum.leader):
            return retry_ms  # of a leader that is none any more
        member.step(LeaderHeard(epoch), now)
        if said.snapshot_id is not None and said.snapshot_id.end_offset >= 0:
            id = SnapshotId(Offset(said.snapshot_id.end_offset), LeaderEpoch(said.snapshot_id.epoch))
            self._snapshot.begin(id, member.voters.addresses[leader], epoch, now)
            return 0 if self._snapshot.under_way else QUORUM_REFUSED_MS
        was, taken = member.partition.log.end, fetched(said)._replace(log_start=Offset(0))
        member.partition.take(taken, now)
        if member.voters.follow(iterate(taken.records), was, member.partition.log.end):
            member.voters_changed(now)
        member.node_step.metadata_grown(member.partition)
        return 0

    # ── snapshots ────────────────────────────────────────────────────────────────────

    def _go_on_from(self, whole: Whole, now: Millis) -> None:
        """A snapshot is here: forget the log, and go on from where it ends."""
        member, partition = self._member, self._member.partition
        try:
            if member.quorum.leads or whole.id.end <= partition.watermark:
                raise ErrorCode.INVALID_REQUEST.error(
                    f"snapshot {whole.id} says nothing that is not known here"
                )
            partition.log.restart_at(whole.id.end, now)
        except ProtocolError as error:
            log.error("the metadata log cannot be written: %s", error.detail)
            self._fetch_at = Millis(now + QUORUM_REFUSED_MS)
            return
        member.snapshots.drop_before(whole.id.end)
        partition.follow(partition.epoch, whole.id.end)
        member.voters.restart(whole.id.end, whole.voters)
        member.voters_changed(now)
        member.facts.note(whole)
        member.node_step.metadata_grown(partition)
        self.fetch(now)
