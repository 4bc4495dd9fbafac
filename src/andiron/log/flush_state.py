"""How much of a log is on the disk, and what is missing there.

    ├──────────── flushed ────────────┼──── page cache ────▶
                                      end                  log end

A write survives the death of the process at once, and that of the machine once its file was synced
and, if the file is new, its directory too. What recovery trusts is the end of that.

Not synced before the recovery point passes: the indexes of the active segment. A start after a crash
scans the segment that holds the last flushed record anyway and makes them anew, so a flush of the usual
kind is one fsync, of one file. Once sealed they are written, and go with the next flush.

The law: a flush vouches for what was there when it began. If the log was truncated meanwhile it
vouches for nothing beyond the cut, whatever has been appended there since.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from andiron.log.disk import Disk, File
from andiron.log.layout import DRAFT, LEADER_EPOCHS
from andiron.log.leader_epochs import LeaderEpochs
from andiron.log.segments import Segments
from andiron.log.settings import LogSettings
from andiron.model.ids import NEVER, Millis, Offset


class UnsyncedFiles(NamedTuple):
    """What a log has written and must see on the disk before it can be trusted."""

    files: list[File]
    draft: File | None  # of the leader epochs: it takes their name when it is synced
    directories: list[str]


class FlushState:
    """The recovery point of one log, and the files that must be synced before it moves."""

    __slots__ = ("_ceiling", "_directory", "_disk", "_loose", "_names_changed", "end", "since")

    def __init__(self, disk: Disk, directory: str, end: Offset) -> None:
        self._disk, self._directory = disk, directory
        self.end = end
        self.since = Millis(0)  # when the oldest append was made that is not flushed
        self._ceiling: int = NEVER  # of what a flush under way vouches for
        self._loose: dict[str, File] = {}  # written to beside the active segment's log, by path
        self._names_changed = True  # for all we know, by whoever was here before us

    def note_files(self, files: Iterable[File]) -> None:
        """These were written to; their names may be new."""
        self._loose.update((file.path, file) for file in files)
        self._names_changed = True

    def note_names(self) -> None:
        """Files were made or renamed."""
        self._names_changed = True

    def fall_to(self, end: Offset) -> None:
        """The log was cut at `end`."""
        self.end = min(self.end, end)
        self._ceiling = min(self._ceiling, end)

    def is_due(self, segments: Segments, log_end: Offset, settings: LogSettings, now: Millis) -> bool:
        """Is it time to flush: by count, by age, or because a segment was sealed?"""
        unflushed = log_end - self.end
        return unflushed > 0 and (
            unflushed >= settings.flush_messages
            or now - self.since >= settings.flush_ms
            or segments.active.base > self.end
        )

    def deadline(self, log_end: Offset, settings: LogSettings) -> Millis:
        """When flush.ms asks for a flush if nothing else does."""
        return Millis(min(self.since + settings.flush_ms, NEVER)) if log_end > self.end else NEVER

    def is_behind(self, log_end: Offset, epochs: LeaderEpochs) -> bool:
        """Is there anything that a flush would bring to the disk?"""
        return log_end > self.end or epochs.changed or bool(self._loose)

    def begin(self, segments: Segments, epochs: LeaderEpochs) -> list[File]:
        """The files to sync; what is not a matter of syncing files is brought to the disk here."""
        if epochs.changed:
            self.write_epochs(epochs)
        if self._names_changed:
            self._disk.sync_directory(self._directory)
            self._disk.sync_directory(self._directory.rpartition("/")[0])
            self._names_changed = False
        return self._begin(segments)

    def write_epochs(self, epochs: LeaderEpochs) -> None:
        """Bring the leader epochs to the disk."""
        self._disk.write_file(f"{self._directory}/{LEADER_EPOCHS}", epochs.encode())
        epochs.note_written()

    def settle(self, segments: Segments, epochs: LeaderEpochs) -> UnsyncedFiles:
        """The same for a stop, where many logs are brought to the disk together: nothing is synced here."""
        draft = None
        if epochs.changed:
            draft = self._disk.open(f"{self._directory}/{LEADER_EPOCHS}{DRAFT}")
            draft.truncate(0)
            draft.append(epochs.encode())
            epochs.note_written()
            self._names_changed = True
        folders = [self._directory, self._directory.rpartition("/")[0]] if self._names_changed else []
        self._names_changed = False
        files = self._begin(segments)
        return UnsyncedFiles(files if draft is None else [*files, draft], draft, folders)

    def _begin(self, segments: Segments) -> list[File]:
        self._ceiling = NEVER
        files = {
            path: file
            for path, file in self._loose.items()
            if file.path == path and self._disk.exists(path)  # neither given up nor removed meanwhile
        }
        self._loose = {}
        for segment in segments.holding(self.end):
            held = [segment.file] if segment is segments.active else segment.files()
            files.update((file.path, file) for file in held)
        return list(files.values())

    def done(self, end: Offset) -> None:
        """The flush is done that began when the log ended at `end`."""
        self.end = max(self.end, Offset(min(end, self._ceiling)))
