"""The snapshots that a node has (KIP-630): which of them a follower is given, and which are kept.

    snapshot 100         snapshot 250              snapshot 400
    │ the log starts here, or at 0                 │ the newest: a start, a new follower read this one
    ├────────────────────┼─────────────────────────┼──────────▶ log

The law: a log that does not start at 0 starts where a snapshot ends. So whatever is not in the log any more is in a
snapshot, and a follower that the log does not reach is given the newest one. That is one whose log

* ends before this one starts;
* ends where it starts, and with a record of another epoch than the snapshot says;
* ends with a record of an epoch before that: where the two part cannot be told any more.

Those that are too old, or too many, go with the log that leads up to the next; the newest never goes.

Read next: broker/metadata/snapshot_files.py, where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from andiron.model.ids import NO_EPOCH, LeaderEpoch, Millis, Offset
from andiron.quorum.settings import MetadataLogSettings
from andiron.quorum.snapshot_format import SnapshotId


class StoredSnapshot(NamedTuple):
    """A snapshot on the disk: its size, and when the last record was written that it stands for."""

    id: SnapshotId
    size: int
    timestamp: Millis


class SnapshotTable:
    """The snapshots of a node, the oldest first."""

    def __init__(self, held: Iterable[StoredSnapshot] = ()) -> None:
        self._held = {each.id: each for each in sorted(held)}

    def __iter__(self) -> Iterator[SnapshotId]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def get(self, id: SnapshotId) -> StoredSnapshot | None:
        return self._held.get(id)

    @property
    def newest(self) -> SnapshotId | None:
        return next(reversed(self._held), None)

    @property
    def committed(self) -> Offset:
        """Up to where the log is known to be committed."""
        return Offset(0) if self.newest is None else self.newest.end

    @property
    def latest_epoch(self) -> LeaderEpoch:
        """The log has come at least to this epoch."""
        return NO_EPOCH if self.newest is None else self.newest.epoch

    def add(self, held: StoredSnapshot) -> None:
        """Another snapshot is on the disk."""
        self._held = {each.id: each for each in sorted([*self._held.values(), held])}

    def discard(self, id: SnapshotId) -> None:
        """A snapshot cannot be used, or is removed."""
        self._held.pop(id, None)

    def ending_at(self, end: Offset) -> SnapshotId | None:
        return next((id for id in self._held if id.end == end), None)

    def reaching(self, start: Offset) -> SnapshotId | None:
        """The oldest that a log can follow that has nothing before `start`."""
        return next((id for id in self._held if id.end >= start), None)

    # ── what follows ─────────────────────────────────────────────────────────────────

    def offer(self, log_start: Offset, offset: Offset, last_epoch: LeaderEpoch) -> SnapshotId | None:
        """What a follower is given whose log ends at `offset` with a record of `last_epoch`; None: records.

        `log_start` is where the log of this node starts.
        """
        first = self.ending_at(log_start)
        if first is None or log_start == 0:
            return None
        is_told = offset > log_start or (offset == log_start and last_epoch == first.epoch)
        return None if is_told and last_epoch >= first.epoch else self.newest

    def keep_from(
        self, settings: MetadataLogSettings, start: Offset, log_bytes: Callable[[Offset], int], now: Millis
    ) -> SnapshotId | None:
        """The snapshot before which nothing is to be kept, of a log that starts at `start`; None if nothing need go.

        `log_bytes` tells how large the log would be if it started at a later offset.
        """
        held = list(self._held.values())
        at = -1 if held and start < held[0].id.end else 0  # -1: all that there is is kept
        while at + 1 < len(held):
            kept = held[max(at, 0) :]
            size = log_bytes(start if at < 0 else kept[0].id.end) + sum(each.size for each in kept)
            if not _is_too_much(settings, size, now - kept[0].timestamp):
                break
            at += 1
        return held[at].id if 0 <= at < len(held) and held[at].id.end > start else None


def _is_too_much(settings: MetadataLogSettings, size: int, age_ms: int) -> bool:
    bytes_max, ms_max = settings.metadata_max_retention_bytes, settings.metadata_max_retention_ms
    return 0 <= bytes_max < size or 0 <= ms_max < age_ms
