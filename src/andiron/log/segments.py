"""The segments of a log, oldest first: begun at one end, given up at both.

    │ sealed │ sealed │ sealed │ active │
      ▲ retention takes          ▲ appended to; rolled; truncation takes from here

A segment that is given up leaves the table at once, with its producer snapshot. Its files get the
suffix .deleted and stay for file.delete.delay.ms, since a fetch may still be sending from them; then
their paths are handed out, once, for the node to remove.

The law: there is always an active segment, and bases rise.

Read next: segment.py, producer_snapshots.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import overload

from andiron.log import layout
from andiron.log.disk import Disk, File
from andiron.log.producer_snapshots import ProducerSnapshots
from andiron.log.producers import Producers
from andiron.log.segment import Segment
from andiron.log.settings import LogSettings
from andiron.model.ids import NEVER, Millis


class Segments(Sequence[Segment]):
    """The live segments of one log, their snapshots, and the removals that are due later."""

    __slots__ = ("_bases", "_directory", "_disk", "_removals", "_segments", "active", "snapshots")

    def __init__(
        self, disk: Disk, directory: str, segments: Iterable[Segment], snapshots: ProducerSnapshots
    ) -> None:
        self._disk, self._directory = disk, directory
        self._removals: list[tuple[Millis, list[str]]] = []
        self.snapshots = snapshots
        self._settle(segments)

    def __len__(self) -> int:
        return len(self._segments)

    @overload
    def __getitem__(self, index: int) -> Segment: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Segment]: ...
    def __getitem__(self, index: int | slice) -> Segment | Sequence[Segment]:
        return self._segments[index]

    @property
    def bases(self) -> Sequence[int]:
        return self._bases

    def number_of(self, offset: int) -> int:
        """The number of the segment that holds `offset`, or would; the first for what lies before."""
        return max(bisect_right(self._bases, offset) - 1, 0)

    def holding(self, offset: int) -> Sequence[Segment]:
        """The segment that holds `offset`, and all after it."""
        return self._segments[self.number_of(offset) :]

    def end_of(self, number: int, log_end: int) -> int:
        """Where the offsets of a segment end."""
        return self._bases[number + 1] if number + 1 < len(self._bases) else log_end

    # ── beginning ────────────────────────────────────────────────────────────────────

    def roll(self, base: int, producers: Producers, settings: LogSettings, now: Millis) -> File:
        """Seal the active segment and begin one at `base`, with a snapshot, which is returned.

        An active one that is still empty goes. After an OSError the active one is still active.
        """
        active = self.active
        active.seal()
        try:
            segment = Segment.create(self._disk, self._directory, base, settings, now)
            snapshot = self.snapshots.take(producers, base)
        except OSError:
            self._unmake(base)
            raise
        self._settle([*self._segments, segment])
        if not active.size:
            self.give_up([active], now)
        return snapshot

    def restart(self, base: int, log_end: int, settings: LogSettings, now: Millis) -> None:
        """Give up everything, and begin at `base`.

        What ends there goes when the new one is there: should the node end in between, the log ends no lower.
        """
        due = Millis(now + settings.file_delete_delay_ms)
        self.give_up(
            [each for number, each in enumerate(self._segments) if self.end_of(number, log_end) > base], due
        )
        if self._segments and self.active.base == base:
            first = self.active  # an empty one
        else:
            first = Segment.create(self._disk, self._directory, base, settings, now)
        self.snapshots.keep((), -1)
        self.give_up([each for each in self._segments if each is not first], due)
        self._settle([first])

    # ── giving up ────────────────────────────────────────────────────────────────────

    def give_up(self, segments: Sequence[Segment], due: Millis) -> None:
        """Take these out of the table; their files may be removed when `due`."""
        for segment in list(segments):
            self._removals.append((due, segment.rename(layout.DELETED)))
            self._segments.remove(segment)
            self.snapshots.remove(segment.base)
        if self._segments:
            self._settle(self._segments)

    def give_up_beyond(self, offset: int, due: Millis) -> None:
        """Take out those that begin after `offset`."""
        self.give_up([segment for segment in self._segments if segment.base > offset], due)

    def swap(self, old: Sequence[int], new: int, settings: LogSettings, due: Millis) -> bool:
        """Put the compacted segment `new`, whose files are .cleaned, in the place of those it was made from.

        False if one of the old ones is gone or active by now: then the new one is removed. The order of the
        renames is what transitions.py relies on.
        """
        sealed = {segment.base: segment for segment in self._segments[:-1]}
        cleaned = Segment.open(self._disk, self._directory, new, settings, state=layout.CLEANED)
        if not all(base in sealed for base in old):
            for path in cleaned.rename(layout.DELETED):
                self._disk.remove(path)
            return False
        cleaned.rename(layout.SWAP)
        for base in old:
            self._removals.append((due, sealed[base].rename(layout.DELETED)))
            self._segments.remove(sealed[base])
            if base != new:
                self.snapshots.remove(base)
        cleaned.rename("")
        self._settle(sorted([*self._segments, cleaned], key=lambda segment: segment.base))
        return True

    def due_removals(self, now: Millis) -> list[str]:
        """The files whose time has come, handed out once."""
        due = [paths for at, paths in self._removals if at <= now]
        self._removals = [removal for removal in self._removals if removal[0] > now]
        return [path for paths in due for path in paths]

    def next_removal(self) -> Millis:
        """When there will be some."""
        return min((at for at, _ in self._removals), default=NEVER)

    def _unmake(self, base: int) -> None:
        """Remove what there is of a segment that could not be begun: an empty one, once others follow, is a gap."""
        for kind in (*layout.SEGMENT_FILES, layout.SNAPSHOT):
            self._disk.remove(f"{self._directory}/{layout.file_name(base, kind)}")

    def _settle(self, segments: Iterable[Segment]) -> None:
        self._segments = list(segments)
        self._bases = [segment.base for segment in self._segments]
        self.active = self._segments[-1]
