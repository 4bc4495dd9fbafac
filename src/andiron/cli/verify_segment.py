"""One segment: its batches against themselves, and its indexes against its batches, in one pass.

The batches are read once, in order. Index entries rise as they do, so each waits for the batch that it
speaks of: an entry of the offset index for the batch at its position, one of the time index for the first
batch beyond its offset. Nothing is kept, however large the segment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from andiron.cli.dump import DataFile, segment_batches
from andiron.cli.folder_findings import FolderFindings
from andiron.model.errors import ProtocolError
from andiron.records.batch import Batch

RELATIVE_OFFSET_MAX = (1 << 31) - 1

Entries = list[tuple[int, int]]


class SegmentCheck:
    """Checks one segment in one pass over its batches."""

    def __init__(self, file: DataFile, findings: FolderFindings, epochs: Sequence[tuple[int, int]]) -> None:
        self._file, self._findings = file, findings
        self._epochs, self._epoch_starts = [epoch for epoch, _ in epochs], [start for _, start in epochs]
        self._epochs_latest = self._epochs[-1] if epochs else -1
        self._next = file.base  # the least offset that may come
        self._epoch = -1
        self.max_timestamp = -1

    def run(self, offsets: OffsetEntries | None, times: TimeEntries | None) -> int:
        """Read the segment; return the offset after its last one."""
        findings, position = self._findings, 0
        findings.segments += 1
        try:
            for position, batch in segment_batches(self._file.path):
                self._check_batch(position, batch)
                if offsets is not None:
                    offsets.meet(position, batch)
                if times is not None:
                    times.meet(batch, self.max_timestamp)
                self._take(batch)
                position += batch.size
        except ProtocolError as error:
            self._problem(position, f"no batch from here on ({error.detail}); a start would cut the log")
        if offsets is not None:
            offsets.end(position)
        if times is not None:
            times.end(self.max_timestamp)
        return self._next

    def _check_batch(self, position: int, batch: Batch) -> None:
        span = f"the batch of offsets {batch.base_offset} to {batch.last_offset}"
        if not batch.is_intact():
            self._problem(position, f"{span} fails its checksum")
        if batch.base_offset < self._next:
            self._problem(position, f"{span} begins before offset {self._next}, where the one before it ends")
        if batch.last_offset_delta < 0 or not 0 <= batch.count <= batch.last_offset_delta + 1:
            self._problem(position, f"{span} says that it has {batch.count} records")
        if batch.last_offset - self._file.base > RELATIVE_OFFSET_MAX:
            self._problem(position, f"{span} is too far from the segment's base for an index")
        self._check_epoch(position, batch)

    def _check_epoch(self, position: int, batch: Batch) -> None:
        epoch, before = batch.leader_epoch, self._epoch
        self._epoch = max(epoch, before)
        if epoch < before:
            self._problem(position, f"leader epoch {epoch} after {before}")
            return
        at = bisect_right(self._epoch_starts, batch.base_offset) - 1
        known = self._epochs[at] if at >= 0 else epoch
        if known == self._epochs_latest < epoch:
            if epoch > before:
                news = f"leader epoch {epoch} is not in the epochs file yet; a start adds it"
                self._findings.note(self._file.name, news)
        elif known != epoch:
            self._problem(position, f"leader epoch {epoch}, where the epochs file has {known}")

    def _take(self, batch: Batch) -> None:
        findings = self._findings
        findings.batches += 1
        findings.records += batch.count
        findings.bytes += batch.size
        if findings.start < 0:
            findings.start = batch.base_offset
        self._next = max(self._next, batch.next_offset)
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)

    def _problem(self, position: int, what: str) -> None:
        self._findings.problem(self._file.name, f"byte {position}: {what}")


class OffsetEntries:
    """The entries of an offset index, each waiting for the batch at its position."""

    def __init__(self, file: DataFile, entries: Entries, findings: FolderFindings) -> None:
        self._file, self._findings = file, findings
        rising = all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(entries))
        if not rising:
            findings.problem(file.name, "its entries do not rise")
        self._waiting = iter(entries if rising else [])
        self._entry = next(self._waiting, None)

    def meet(self, position: int, batch: Batch) -> None:
        """A batch begins at `position`."""
        while self._entry is not None and self._entry[1] <= position:
            offset, at = self._entry
            if at != position:
                self._problem(offset, f"no batch begins at byte {at}")
            elif batch.base_offset > offset:
                self._problem(offset, f"the batch at byte {at} begins at {batch.base_offset}")
            self._entry = next(self._waiting, None)

    def end(self, position: int) -> None:
        """There are no more batches; the last one ended at `position`."""
        if self._entry is not None:
            offset, at = self._entry
            beyond = f"byte {at} lies beyond the end of the log"
            self._problem(offset, beyond if at >= position else f"no batch begins at byte {at}")

    def _problem(self, offset: int, what: str) -> None:
        self._findings.problem(self._file.name, f"entry for offset {offset}: {what}")


class TimeEntries:
    """The entries of a time index, each waiting for the first batch beyond its offset."""

    def __init__(self, file: DataFile, entries: Entries, findings: FolderFindings, *, sealed: bool) -> None:
        self._file, self._findings, self._sealed = file, findings, sealed
        rising = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(entries))
        if not rising:
            findings.problem(file.name, "its entries do not rise")
        self._last = entries[-1] if entries else None
        self._waiting = iter(entries if rising else [])
        self._entry = next(self._waiting, None)

    def meet(self, batch: Batch, latest: int) -> None:
        """A batch comes; before it the latest time was `latest`."""
        while self._entry is not None and self._entry[1] < batch.base_offset:
            self._settle(latest)

    def end(self, latest: int) -> None:
        """There are no more batches."""
        while self._entry is not None:
            self._settle(latest)
        if self._sealed and latest > (self._last[0] if self._last else -1):
            self._problem(f"it does not know of timestamp {latest}, the segment's latest")

    def _settle(self, latest: int) -> None:
        assert self._entry is not None
        timestamp, offset = self._entry
        if latest > timestamp:
            self._problem(
                f"entry for offset {offset}: timestamp {latest} comes before it and is later than {timestamp}"
            )
        self._entry = next(self._waiting, None)

    def _problem(self, what: str) -> None:
        self._findings.problem(self._file.name, what)
