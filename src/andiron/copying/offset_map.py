"""The offset map: which offset of a source partition is which on the target, in stretches that shift by gaps.

    source   100 ────── 180   ·   182 ── 190   ·  ·   [195  198  201]      gaps: markers, aborted records, compaction
    target   100 ────── 180  181 ── 189          189  190  191

A producer cannot leave an offset out, so behind a gap everything moves up. A stretch says where that begins. In a dense
one offsets go on together, until the next begins; a sparse one is a single batch with gaps inside, of which both ends
are known: what lies within is counted when somebody asks, since a map of every record would be as long as the log.

The law: a stretch is written down before its first record is sent, so it may be of something that never arrived.
Whoever begins again cuts the map at the target's end first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from andiron.copying.errors import CopyError

OPEN = -1


class Stretch(NamedTuple):
    """A range of source offsets and where it begins on the target: dense to the next stretch, or one sparse batch."""

    source: int
    target: int
    source_end: int = OPEN
    target_end: int = OPEN

    @property
    def is_dense(self) -> bool:
        return self.source_end == OPEN


class OffsetMap:
    """The stretches of one partition, in order; the first says where the copy begins."""

    def __init__(self, stretches: Iterable[Stretch] = ()) -> None:
        self.stretches = list(stretches)

    @property
    def first(self) -> Stretch:
        return self.stretches[0]

    @property
    def keeps_offsets(self) -> bool:
        """Whether each record has the offset that it had."""
        return all(each.is_dense and each.source == each.target for each in self.stretches)

    def place(self, source: int, source_end: int, target: int, records: int) -> Stretch | None:
        """A batch goes from the source's offsets to `target`; the stretch to be written down for that, if any."""
        dense = source_end - source == records
        last = self.stretches[-1] if self.stretches else None
        if dense and last is not None and last.is_dense and source - last.source == target - last.target:
            return None
        ends = (OPEN, OPEN) if dense else (source_end, target + records)
        stretch = Stretch(source, target, *ends)
        self.add(stretch)
        return stretch

    def add(self, stretch: Stretch) -> None:
        """A stretch behind the others, in place of one that begins at the same offset of the target."""
        if len(self.stretches) > 1 and self.stretches[-1].target == stretch.target:
            self.stretches.pop()  # nothing was ever written there
        self.stretches.append(stretch)

    def cut(self, target_end: int) -> bool:
        """Drop stretches behind the target's end, which never arrived; whether there were any. The first one stays."""
        kept = [self.first, *(each for each in self.stretches[1:] if each.target < target_end)]
        gone = len(kept) < len(self.stretches)
        self.stretches = kept
        return gone

    def resume_at(self, target_end: int) -> int:
        """The source's offset to go on with where the target ends, after a cut."""
        last = self.stretches[-1]
        if target_end <= last.target:
            return last.source
        if last.is_dense:
            return last.source + target_end - last.target
        if target_end != last.target_end:
            raise CopyError(
                f"the target ends at {target_end}, in the middle of a batch that was copied to {last.target} to "
                f"{last.target_end - 1}: somebody else has written to it"
            )
        return last.source_end

    def target_of(self, source: int, target_end: int) -> int:
        """The target's offset for a position on the source; inside of a sparse stretch, that of its beginning."""
        at = bisect_right(self.stretches, source, key=lambda each: each.source) - 1
        if at < 0:
            return min(self.first.target, target_end)
        found = self.stretches[at]
        following = self.stretches[at + 1].target if at + 1 < len(self.stretches) else target_end
        if found.is_dense:
            return min(found.target + source - found.source, following, target_end)
        return min(found.target if source < found.source_end else following, target_end)

    def sparse_at(self, source: int) -> Stretch | None:
        """The sparse stretch inside of which an offset lies, if it does."""
        at = bisect_right(self.stretches, source, key=lambda each: each.source) - 1
        found = self.stretches[at] if at >= 0 else None
        inside = found is not None and found.source < source < found.source_end
        return found if inside else None

    def aligned(self, source: int, target: int) -> tuple[int, int] | None:
        """The first pair of offsets of one record from which on neither side is before these; None if there is none."""
        following: list[Stretch | None] = [*self.stretches[1:], None]
        for each, after in zip(self.stretches, following, strict=True):
            if not each.is_dense:
                if each.source >= source and each.target >= target:
                    return each.source, each.target
                continue
            shift = max(source - each.source, target - each.target, 0)
            if after is None or each.target + shift < after.target:
                return each.source + shift, each.target + shift
        return None
