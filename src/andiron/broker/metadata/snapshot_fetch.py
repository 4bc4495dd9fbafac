"""A snapshot is fetched from the leader, by a node that the leader's log does not reach any more.

    FetchSnapshot(position) ─▶ a piece ─▶ .part ─▶ … ─▶ fsync ─▶ read into an image ─▶ rename ─▶ whole
          ▲                                │
          └──── the next, from its end ────┘

Pieces end anywhere, so that nothing can be said of a snapshot before all of it is here. Once it is, it is good whoever
leads by then: what it stands for is committed. Until then it belongs to its leader, and is given up with it.

It is read a little at a time. If it is not whole, or the leader has it no more, the node asks for records again, and is
told of another.

Read next: quorum_member.py, which goes on from where the snapshot ends.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from andiron.broker.metadata.quorum_facts import Whole
from andiron.broker.metadata.quorum_messages import snapshot_request
from andiron.broker.metadata.snapshot_files import SnapshotLoading
from andiron.broker.node.patience import SNAPSHOT_REFUSED_MS
from andiron.controller.image import Image
from andiron.log.disk import File
from andiron.model.errors import AndironError, ErrorCode
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId
from andiron.quorum.events import LeaderAway, LeaderHeard, LeaderSeen
from andiron.quorum.snapshot import SnapshotId
from andiron.wire.messages.fetch_snapshot import FetchSnapshotResponse, FetchSnapshotResponsePartition

if TYPE_CHECKING:
    from andiron.broker.metadata.quorum_member import QuorumMember

LANE = "metadata"  # that of fetches
RECORDS_A_TURN = 500

log = logging.getLogger(__name__)


class _Coming:
    """The snapshot that is being fetched."""

    def __init__(self, id: SnapshotId, of: Address, epoch: LeaderEpoch, file: File) -> None:
        self.id, self.of, self.epoch, self.file = id, of, epoch, file
        self.is_here = False  # all of its bytes
        self.loading: SnapshotLoading | None = None


class SnapshotFetch:
    """At most one snapshot on its way here."""

    def __init__(self, member: QuorumMember) -> None:
        self._member, self._files, self._settings = member, member.snapshots, member.settings.quorum
        self.given_up_until = NEVER  # when to ask for records again, where nothing came of it
        self._coming: _Coming | None = None
        self._turn_at = NEVER

    @property
    def under_way(self) -> bool:
        return self._coming is not None

    def begin(self, id: SnapshotId, of: Address, epoch: LeaderEpoch, now: Millis) -> None:
        """Fetch a snapshot of the leader of this epoch."""
        assert self._coming is None, "one at a time"
        log.info("the metadata log of this node is far behind: fetching the snapshot %s", id)
        try:
            self._coming = coming = _Coming(id, of, epoch, self._files.begin(id))
        except OSError as error:
            log.error("a snapshot cannot be written: %s", error)
            self.given_up_until = Millis(now + SNAPSHOT_REFUSED_MS)
            return
        self._ask(coming)

    def leader_changed(self) -> None:
        """Whoever it came from leads no more."""
        if self._coming is not None and not self._coming.is_here:
            self._files.abandon(self._coming.id)
            self._coming, self._turn_at = None, NEVER

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return self._turn_at

    def tick(self, now: Millis) -> Whole | None:
        """Ask again, or read on; returns the snapshot once it is here."""
        coming = self._coming
        if coming is None or self._turn_at > now:
            return None
        self._turn_at = NEVER
        if coming.loading is not None:
            return self._load(coming, coming.loading, now)
        self._ask(coming)
        return None

    # ── pieces ───────────────────────────────────────────────────────────────────────

    def _ask(self, coming: _Coming) -> None:
        settings = self._settings
        request = snapshot_request(
            self._member.directories.cluster_id, self._member.me, coming.epoch, coming.id, coming.file.size,
            settings.controller_quorum_fetch_snapshot_max_bytes,
        )  # fmt: skip

        def answered(response: FetchSnapshotResponse | None, now: Millis) -> None:
            if self._coming is coming:
                self._answered(coming, response, now)

        self._member.calls.call(
            coming.of, LANE, request, settings.controller_quorum_request_timeout_ms, answered
        )

    def _answered(self, coming: _Coming, response: FetchSnapshotResponse | None, now: Millis) -> None:
        if response is None:
            self._turn_at = Millis(now + self._settings.controller_quorum_retry_backoff_ms)
            self._member.step(LeaderAway(coming.epoch), now)
            return
        if response.error_code or not response.topics:
            self._give_up(ErrorCode.of(response.error_code).meaning, now)
            return
        said: FetchSnapshotResponsePartition = response.topics[0].partitions[0]
        if said.error_code:
            self._give_up(ErrorCode.of(said.error_code).meaning, now)
            if said.current_leader is not None:
                seen = said.current_leader
                self._member.step(LeaderSeen(LeaderEpoch(seen.leader_epoch), NodeId(seen.leader_id)), now)
            return
        self._member.step(LeaderHeard(coming.epoch), now)
        self._take(coming, said, now)

    def _take(self, coming: _Coming, said: FetchSnapshotResponsePartition, now: Millis) -> None:
        piece, id = cast(Any, said.unaligned_records), said.snapshot_id
        if (id.end_offset, id.epoch) != coming.id or said.position != coming.file.size or not len(piece):
            self._give_up("the leader has sent something else", now)
            return
        try:
            coming.file.append(piece)
        except OSError as error:
            self._give_up(str(error), now)
            return
        if coming.file.size < said.size:
            self._ask(coming)
        else:
            coming.is_here = True
            self._member.flushing.sync(coming.file, lambda error, now: self._synced(coming, error, now))

    # ── all of them ──────────────────────────────────────────────────────────────────

    def _synced(self, coming: _Coming, error: str | None, now: Millis) -> None:
        if error is not None:
            self._give_up(error, now)
            return
        entries = self._files.entries(coming.id, part=True)
        coming.loading = SnapshotLoading(entries, coming.id, Image(noting=False))
        self._turn_at = now

    def _load(self, coming: _Coming, loading: SnapshotLoading, now: Millis) -> Whole | None:
        try:
            if not loading.go_on(RECORDS_A_TURN):
                self._turn_at = now
                return None
            self._files.finish(coming.id, coming.file, loading.timestamp)
        except (AndironError, OSError) as error:
            self._give_up(str(error), now)
            return None
        self._coming = None
        return Whole(coming.id, loading.image, loading.voters)

    def _give_up(self, reason: str, now: Millis) -> None:
        assert self._coming is not None
        log.error("the snapshot %s cannot be had: %s", self._coming.id, reason)
        self._files.abandon(self._coming.id)
        self._coming, self._turn_at = None, NEVER
        self.given_up_until = Millis(now + SNAPSHOT_REFUSED_MS)
