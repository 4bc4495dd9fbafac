"""A snapshot is fetched from the quorum's leader, by a node that the leader's log does not reach any more (KIP-630).

    FetchSnapshot(position) ─▶ a piece ─▶ .part ─▶ … ─▶ fsync ─▶ read into an image ─▶ rename ─▶ whole
          ▲                                │
          └──── the next, from its end ────┘

Pieces end anywhere, so that nothing can be said of a snapshot before all of it is here. Once it is, it is good whoever
leads by then: what it stands for is committed. Until then it belongs to its leader, and is given up with it.

It is read a little at a time. If it is not whole, or the leader has it no more, the node asks for records again, and is
told of another.

Read next: raft_client.py, which goes on from where the snapshot ends.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from andiron.broker.metadata.raft_facts import SnapshotLoaded
from andiron.broker.metadata.raft_requests import snapshot_request
from andiron.broker.metadata.snapshot_files import SnapshotReader
from andiron.broker.node.patience import SNAPSHOT_REFUSED_MS
from andiron.controller.image import Image
from andiron.log.disk import File
from andiron.model.errors import AndironError, ErrorCode
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId
from andiron.model.invariant import invariant
from andiron.model.line import Line
from andiron.quorum.events import LeaderHeard, LeaderNamed, LeaderUnreachable
from andiron.quorum.snapshot_format import SnapshotId
from andiron.wire.messages.fetch_snapshot import FetchSnapshotResponse, FetchSnapshotResponsePartition

if TYPE_CHECKING:
    from andiron.broker.metadata.raft_client import RaftClient

LANE = "metadata"  # that of fetches
RECORDS_A_TURN = 500

log = logging.getLogger(__name__)


class _SnapshotDownload:
    """The snapshot that is being fetched."""

    def __init__(self, id: SnapshotId, of: Address, epoch: LeaderEpoch, file: File) -> None:
        self.id, self.of, self.epoch, self.file = id, of, epoch, file
        self.is_here = False  # all of its bytes
        self.loading: SnapshotReader | None = None


class SnapshotFetcher:
    """At most one snapshot on its way here."""

    def __init__(self, raft: RaftClient) -> None:
        self._raft, self._files, self._settings = raft, raft.snapshots, raft.settings.quorum
        self.given_up_until = NEVER  # when to ask for records again, where nothing came of it
        self._coming: _SnapshotDownload | None = None
        self._turn_at = NEVER

    @property
    def under_way(self) -> bool:
        return self._coming is not None

    def begin(self, id: SnapshotId, of: Address, epoch: LeaderEpoch, now: Millis) -> None:
        """Fetch a snapshot of the leader of this epoch."""
        invariant(self._coming is None, "one snapshot is fetched at a time", id)
        log.info(Line("Metadata log of this node is far behind: snapshot {snapshot} is fetched", snapshot=id))
        try:
            self._coming = coming = _SnapshotDownload(id, of, epoch, self._files.begin(id))
        except OSError as error:
            log.error(Line(
                "Metadata snapshot {snapshot} cannot be written; tried again; check the disk",
                snapshot=id, error=error,
            ))  # fmt: skip
            self.given_up_until = Millis(now + SNAPSHOT_REFUSED_MS)
            return
        self._ask(coming)

    def leader_changed(self) -> None:
        """The leader that the snapshot was fetched from leads no more: what is not all here is given up."""
        if self._coming is not None and not self._coming.is_here:
            self._files.abandon(self._coming.id)
            self._coming, self._turn_at = None, NEVER

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return self._turn_at

    def tick(self, now: Millis) -> SnapshotLoaded | None:
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

    def _ask(self, coming: _SnapshotDownload) -> None:
        settings = self._settings
        request = snapshot_request(
            self._raft.directories.cluster_id, self._raft.me, coming.epoch, coming.id, coming.file.size,
            settings.controller_quorum_fetch_snapshot_max_bytes,
        )  # fmt: skip

        def answered(response: FetchSnapshotResponse | None, now: Millis) -> None:
            if self._coming is coming:
                self._answered(coming, response, now)

        self._raft.calls.call(
            coming.of, LANE, request, settings.controller_quorum_request_timeout_ms, answered
        )

    def _answered(
        self, coming: _SnapshotDownload, response: FetchSnapshotResponse | None, now: Millis
    ) -> None:
        if response is None:
            self._turn_at = Millis(now + self._settings.controller_quorum_retry_backoff_ms)
            self._raft.step(LeaderUnreachable(coming.epoch), now)
            return
        if response.error_code or not response.topics:
            self._give_up(ErrorCode.of(response.error_code).meaning, now)
            return
        said: FetchSnapshotResponsePartition = response.topics[0].partitions[0]
        if said.error_code:
            self._give_up(ErrorCode.of(said.error_code).meaning, now)
            if said.current_leader is not None:
                seen = said.current_leader
                self._raft.step(LeaderNamed(LeaderEpoch(seen.leader_epoch), NodeId(seen.leader_id)), now)
            return
        self._raft.step(LeaderHeard(coming.epoch), now)
        self._take(coming, said, now)

    def _take(self, coming: _SnapshotDownload, said: FetchSnapshotResponsePartition, now: Millis) -> None:
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
            self._raft.flush_queue.sync(coming.file, lambda error, now: self._synced(coming, error, now))

    # ── all of them ──────────────────────────────────────────────────────────────────

    def _synced(self, coming: _SnapshotDownload, error: str | None, now: Millis) -> None:
        if error is not None:
            self._give_up(error, now)
            return
        entries = self._files.entries(coming.id, part=True)
        coming.loading = SnapshotReader(entries, coming.id, Image(noting=False))
        self._turn_at = now

    def _load(self, coming: _SnapshotDownload, loading: SnapshotReader, now: Millis) -> SnapshotLoaded | None:
        try:
            if not loading.go_on(RECORDS_A_TURN):
                self._turn_at = now
                return None
            self._files.finish(coming.id, coming.file, loading.timestamp)
        except (AndironError, OSError) as error:
            self._give_up(str(error), now)
            return None
        self._coming = None
        return SnapshotLoaded(coming.id, loading.image, loading.voters)

    def _give_up(self, reason: str, now: Millis) -> None:
        assert self._coming is not None
        log.warning(Line(
            "Metadata snapshot {snapshot} cannot be fetched; tried again",
            snapshot=self._coming.id, error=reason,
        ))  # fmt: skip
        self._files.abandon(self._coming.id)
        self._coming, self._turn_at = None, NEVER
        self.given_up_until = Millis(now + SNAPSHOT_REFUSED_MS)
