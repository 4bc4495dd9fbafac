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
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from andiron.broker.metadata.quorum_messages import snapshot_request
from andiron.broker.metadata.snapshot_files import SnapshotFiles, SnapshotLoading
from andiron.broker.node.calls import Calls
from andiron.broker.replicas.flushing import Sync
from andiron.controller.image import Image
from andiron.log.disk import File
from andiron.model.errors import AndironError, ErrorCode
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId
from andiron.quorum.events import Event, LeaderAway, LeaderHeard, LeaderSeen
from andiron.quorum.records import VotersRecord
from andiron.quorum.settings import QuorumSettings
from andiron.quorum.snapshot import SnapshotId
from andiron.wire.messages.fetch_snapshot import FetchSnapshotResponse, FetchSnapshotResponsePartition

LANE = "metadata"  # that of fetches
RECORDS_A_TURN = 500

log = logging.getLogger(__name__)


class Whole(NamedTuple):
    """A snapshot that is here, and what it says."""

    id: SnapshotId
    image: Image
    voters: VotersRecord | None


class Told(NamedTuple):
    """Who hears what comes of it: of the leader; that it is here; that nothing came of it."""

    step: Callable[[Event, Millis], None]
    whole: Callable[[Whole, Millis], None]
    given_up: Callable[[Millis], None]


class _Coming:
    """The snapshot that is being fetched."""

    def __init__(self, id: SnapshotId, of: Address, epoch: LeaderEpoch, file: File) -> None:
        self.id, self.of, self.epoch, self.file = id, of, epoch, file
        self.is_here = False  # all of its bytes
        self.loading: SnapshotLoading | None = None


class SnapshotFetch:
    """At most one snapshot on its way here."""

    def __init__(
        self, me: NodeId, settings: QuorumSettings, calls: Calls, cluster_id: Callable[[], str],
        files: SnapshotFiles, sync: Sync, told: Told,
    ) -> None:  # fmt: skip
        self._me, self._settings, self._calls, self._cluster_id = me, settings, calls, cluster_id
        self._files, self._sync, self._told = files, sync, told
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
            self._told.given_up(now)
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

    def tick(self, now: Millis) -> None:
        """Ask again, or read on."""
        coming = self._coming
        if coming is None or self._turn_at > now:
            return
        self._turn_at = NEVER
        if coming.loading is None:
            self._ask(coming)
        else:
            self._load(coming, coming.loading, now)

    # ── pieces ───────────────────────────────────────────────────────────────────────

    def _ask(self, coming: _Coming) -> None:
        settings = self._settings
        request = snapshot_request(
            self._cluster_id(), self._me, coming.epoch, coming.id, coming.file.size,
            settings.controller_quorum_fetch_snapshot_max_bytes,
        )  # fmt: skip

        def answered(response: FetchSnapshotResponse | None, now: Millis) -> None:
            if self._coming is coming:
                self._answered(coming, response, now)

        self._calls.call(coming.of, LANE, request, settings.controller_quorum_request_timeout_ms, answered)

    def _answered(self, coming: _Coming, response: FetchSnapshotResponse | None, now: Millis) -> None:
        if response is None:
            self._turn_at = Millis(now + self._settings.controller_quorum_retry_backoff_ms)
            self._told.step(LeaderAway(coming.epoch), now)
            return
        if response.error_code or not response.topics:
            self._give_up(ErrorCode.of(response.error_code).meaning, now)
            return
        said: FetchSnapshotResponsePartition = response.topics[0].partitions[0]
        if said.error_code:
            self._give_up(ErrorCode.of(said.error_code).meaning, now)
            if said.current_leader is not None:
                seen = said.current_leader
                self._told.step(LeaderSeen(LeaderEpoch(seen.leader_epoch), NodeId(seen.leader_id)), now)
            return
        self._told.step(LeaderHeard(coming.epoch), now)
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
            self._sync(coming.file, lambda error, now: self._synced(coming, error, now))

    # ── all of them ──────────────────────────────────────────────────────────────────

    def _synced(self, coming: _Coming, error: str | None, now: Millis) -> None:
        if error is not None:
            self._give_up(error, now)
            return
        entries = self._files.entries(coming.id, part=True)
        coming.loading = SnapshotLoading(entries, coming.id, Image(noting=False))
        self._turn_at = now

    def _load(self, coming: _Coming, loading: SnapshotLoading, now: Millis) -> None:
        try:
            if not loading.go_on(RECORDS_A_TURN):
                self._turn_at = now
                return
            self._files.finish(coming.id, coming.file, loading.timestamp)
        except (AndironError, OSError) as error:
            self._give_up(str(error), now)
            return
        self._coming = None
        self._told.whole(Whole(coming.id, loading.image, loading.voters), now)

    def _give_up(self, reason: str, now: Millis) -> None:
        assert self._coming is not None
        log.error("the snapshot %s cannot be had: %s", self._coming.id, reason)
        self._files.abandon(self._coming.id)
        self._coming, self._turn_at = None, NEVER
        self._told.given_up(now)
