"""The data directories of a node (LogDirectories): whose they are, what lies in which, how far each log had come.

    log.dirs=/disk1,/disk2
       /disk1/meta.properties                      cluster id, node id, directory id: checked at every start
       /disk1/recovery-point-offset-checkpoint     … and the other checkpoints, of the logs in this directory
       /disk1/orders-0/
       /disk2/orders-1/                            a new partition goes where the fewest are

A directory that is new gets its meta.properties; so a node needs no formatting step. One
that belongs to another cluster or node is refused before anything in it is touched.

A folder belongs to a topic's id and not to its name. One that is left over from a topic that was deleted goes with it,
though a crash came between; one of which no metadata speaks is kept as -stray, if its files show that it is a
partition's at all. And a checkpoint must not outlive its log: a new log of that name would be taken to be whole and
clean up to where the old one was, and to start where that one did. Nor may it say more than its log has: a log that is
cut, by its follower or as it is opened, brings down whatever it ends below (`_lower_checkpoints`).

A replica that moves to another directory is copied there first (replica_moves.py). Each name that a folder has on the
way tells a start what to do:

    orders-0   orders-0.<id>-future         the copy is not whole: it is made anew
    orders-0   orders-0.whole<id>-future    nobody has taken the log's place: the copy goes
               orders-0.whole<id>-future    the log was given up for it: it is the log

Read next: log/directory.py, which is one of them.
"""

from __future__ import annotations

import heapq
import logging
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Container, Iterable

from andiron.controller.topics import METADATA_TOPIC
from andiron.log import partition_metadata
from andiron.log.checkpoints import CLEANED_UPTO, LOG_STARTS, RECOVERY_POINTS, WATERMARKS, LogCheckpoint
from andiron.log.directory import Identity, LogDirectory
from andiron.log.directory import owners as owners_of
from andiron.log.disk import Disk, LogFolder
from andiron.log.layout import (
    DELETE,
    FUTURE,
    PARTITION_METADATA,
    STRAY,
    WHOLE,
    LayoutError,
    is_partition,
    moving_folder_name,
)
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, Offset, TopicId, TopicIdPartition, TopicPartition
from andiron.model.line import Line

log = logging.getLogger(__name__)

Offsets = dict[TopicPartition, Offset]
CHECKPOINTS = (RECOVERY_POINTS, LOG_STARTS, WATERMARKS, CLEANED_UPTO)


class LogDirectories:
    """All of log.dirs, open."""

    def __init__(self, disk: Disk, chance: Chance) -> None:
        self.disk, self._chance = disk, chance
        self._directories: dict[str, LogDirectory] = {}
        self._counts: dict[str, int] = {}  # partitions in each
        self._homes: dict[TopicPartition, LogDirectory] = {}
        self._saved: dict[str, dict[str, Offsets]] = {}  # what the checkpoints say
        self._stale: dict[tuple[str, str], None] = {}  # those that say more on disk: of logs that are gone
        self._removals: list[tuple[Millis, str]] = []
        self._preferred: dict[TopicPartition, LogDirectory] = {}  # where logs go that are not there yet
        self.unfinished: dict[TopicPartition, str] = {}  # moves that a stop interrupted, by where they lead
        self.clean = False
        self.clean_epoch = -1  # of the broker when it last stopped, and cleanly
        self.cluster_id = ""

    def open(self, paths: Iterable[str], metadata_path: str, node_id: int) -> None:
        """Open every directory, or raise DirectoryError with the one that is not ours."""
        paths = list(dict.fromkeys(paths))
        everywhere = list(dict.fromkeys([*paths, metadata_path]))
        owners = owners_of(self.disk, everywhere)
        self.cluster_id = next((owner.cluster_id for owner in owners if owner), "") or self._new_id()
        opened = {
            path: LogDirectory.open(self.disk, path, Identity(self.cluster_id, node_id, self._new_id()))
            for path in everywhere
        }
        self.metadata_id = _id_bytes(opened[metadata_path])
        self._directories = {path: opened[path] for path in paths}
        self.clean = all(directory.has_clean_mark for directory in self._directories.values())
        self._finish_moves()
        for directory in self._directories.values():
            self._take_stock(directory)

    def begin(self) -> None:
        """The node goes to work: from now on a stop is clean only if it says so."""
        marks = [directory.take_clean_mark() for directory in self._directories.values()]
        known = [mark for mark in marks if mark is not None]
        self.clean_epoch = known[0] if self.clean and known.count(known[0]) == len(known) else -1

    @property
    def partitions(self) -> list[str]:
        """The folders in which a partition lies."""
        folders = [home.folder_of(name) for name, home in self._homes.items()]
        return [folder for folder in folders if is_partition(self.disk.names(folder))]

    @property
    def ids(self) -> tuple[bytes, ...]:
        """The ids of the directories, as the metadata knows them."""
        return tuple(map(_id_bytes, self._directories.values()))

    def usages(self) -> dict[str, tuple[int, int]]:
        """(total, free) bytes of the file system of each directory; -1 where it does not answer."""
        usages = {}
        for path, directory in self._directories.items():
            try:
                usages[path] = directory.usage()
            except OSError:
                usages[path] = (-1, -1)
        return usages

    # ── logs ─────────────────────────────────────────────────────────────────────────

    def open_log(
        self,
        name: TopicPartition,
        topic_id: TopicId,
        settings: LogSettings,
        now: Millis,
        *,
        adopts: bool = True,
    ) -> PartitionLog:
        """The log of a partition, recovered if need be; an empty one in the emptiest directory if it is new.

        `adopts`: one that was never flushed, and does not say whose it is, is this topic's.
        """
        directory = self._homes.get(name)
        if directory is None:
            directory = self._preferred.pop(name, None) or self._emptiest()
            self._save_stale()
            self._settle(name, directory)
        try:
            opened = self._open(directory, name, topic_id, settings, now, adopts)
        except ProtocolError as error:
            if error.code is not ErrorCode.INCONSISTENT_TOPIC_ID:
                raise
            self._set_aside(directory, name, error.detail)
            opened = self._open(directory, name, topic_id, settings, now, adopts)
        for notice in opened.notices:
            log.warning(Line(
                "Partition {partition} was repaired as it was opened",
                partition=name, dir=directory.path, repair=notice,
            ))  # fmt: skip
        opened.on_cut = lambda cut: self._lower_checkpoints(directory, cut)
        opened.on_cut(opened)
        return opened

    def _emptiest(self) -> LogDirectory:
        return self._directories[min(self._counts, key=self._counts.__getitem__)]

    def _lower_checkpoints(self, directory: LogDirectory, opened: PartitionLog) -> None:
        """A log may have been cut below them; what is appended there would be taken for synced, committed or clean."""
        ends = {RECOVERY_POINTS: opened.flushed_end, WATERMARKS: opened.end, CLEANED_UPTO: opened.end}
        is_lower = False
        for checkpoint, offset in ends.items():
            saved = self._saved[directory.path][checkpoint]
            if offset < saved.get(opened.partition, 0):
                saved[opened.partition], is_lower = offset, True
                self._stale[directory.path, checkpoint] = None
        if is_lower:
            self._save_stale()

    def _open(
        self,
        directory: LogDirectory,
        name: TopicPartition,
        topic_id: TopicId,
        settings: LogSettings,
        now: Millis,
        adopts: bool,
    ) -> PartitionLog:
        saved = self._saved[directory.path]
        flushed = saved[RECOVERY_POINTS].get(name, Offset(0))
        return PartitionLog.open(
            LogFolder(self.disk, directory.folder_of(name)), TopicIdPartition(topic_id, name), settings, now=now,
            checkpoint=LogCheckpoint(flushed, saved[LOG_STARTS].get(name, Offset(0)), self.clean),
            adopts=adopts or flushed > 0,
        )  # fmt: skip

    def _set_aside(self, directory: LogDirectory, name: TopicPartition, reason: str) -> None:
        """A folder of a topic that is gone stands in the way: keep it under another name."""
        stray = f"{directory.path}/{moving_folder_name(name, self._chance.token(16).hex(), STRAY)}"
        log.warning(Line(
            "Folder of partition {partition} is of a topic that is gone, and is set aside",
            partition=name, dir=stray, reason=reason,
        ))  # fmt: skip
        self.disk.rename(directory.folder_of(name), stray)
        self._drop_checkpoints(directory, name)
        self._save_stale()

    def watermark_of(self, name: TopicPartition) -> Offset:
        """The high watermark as of the last checkpoint."""
        return self._offset(WATERMARKS, name)

    def directory_of(self, name: TopicPartition) -> str:
        return self._homes[name].path

    def id_of(self, name: TopicPartition) -> bytes:
        """The id of the directory that a partition lies in, as the metadata knows it."""
        return urlsafe_b64decode(self._homes[name].identity.directory_id + "==")

    def give_up(self, unwanted: PartitionLog, now: Millis) -> None:
        """The partition is deleted: its folder gets another name now and goes a while later."""
        path, due = unwanted.delete(now)
        heapq.heappush(self._removals, (due, path))
        self._leave(unwanted.partition)

    def finish_deletion(self, name: TopicPartition, topic_id: TopicId, now: Millis) -> None:
        """The partition was deleted: if a crash kept its folder from getting another name, that is done now."""
        directory = self._homes.get(name)
        if directory is None or self._owner_of(directory.folder_of(name)) != topic_id:
            return
        path = f"{directory.path}/{moving_folder_name(name, self._chance.token(16).hex(), DELETE)}"
        self.disk.rename(directory.folder_of(name), path)
        heapq.heappush(self._removals, (now, path))
        self._leave(name)

    def set_aside_strays(self, known: Container[tuple[str, int]]) -> None:
        """The metadata is complete: what has a folder and is not in it stays on the disk under another name."""
        for name, directory in list(self._homes.items()):
            if name not in known and is_partition(self.disk.names(directory.folder_of(name))):
                self._set_aside(directory, name, f"{directory.folder_of(name)} is in no metadata")
                self._leave(name)

    # ── from one directory to another ────────────────────────────────────────────────

    def has(self, path: str) -> bool:
        return path in self._directories

    def prefer(self, name: TopicPartition, path: str) -> None:
        """Where the log of a partition goes once there is one."""
        self._preferred[name] = self._directories[path]

    def open_future(
        self, name: TopicPartition, topic_id: TopicId, settings: LogSettings, path: str, now: Millis
    ) -> PartitionLog:
        """An empty log in the directory at `path`, to be filled until it can take the place of the one that is."""
        folder = f"{path}/{moving_folder_name(name, self._chance.token(16).hex(), FUTURE)}"
        owner = TopicIdPartition(topic_id, name)
        return PartitionLog.open(LogFolder(self.disk, folder), owner, settings, now=now)

    def drop_future(self, future: PartitionLog, now: Millis) -> None:
        """It will not take the place of anything."""
        path, _ = future.delete(now)
        heapq.heappush(self._removals, (now, path))

    def replace(self, current: PartitionLog, future: PartitionLog, path: str, now: Millis) -> PartitionLog:
        """Let a copy that has everything take the place of the log it was made from; returns it, open.

        An error before the log is given up changes nothing. One after that leaves the partition without a log that is
        open, and a copy that the next start takes for it.
        """
        name, target = current.partition, self._directories[path]
        future.close()
        whole = f"{path}/{moving_folder_name(name, WHOLE + self._chance.token(12).hex(), FUTURE)}"
        self.disk.rename(future.directory, whole)
        self.disk.sync_directory(path)
        try:
            self._note_future(current, future, target)
            self.give_up(current, now)
        except (OSError, ProtocolError):
            if self.disk.exists(current.directory):
                self.disk.rename(whole, future.directory)
            raise
        self._settle(name, target)
        self.disk.rename(whole, target.folder_of(name))
        self.disk.sync_directory(path)
        opened = PartitionLog.open(
            LogFolder(self.disk, target.folder_of(name)), TopicIdPartition(current.topic_id, name), current.settings,
            now=now, checkpoint=LogCheckpoint(future.end, current.start, clean=True), adopts=False,
        )  # fmt: skip
        opened.on_cut = lambda cut: self._lower_checkpoints(target, cut)
        return opened

    def is_in_place(self, held: PartitionLog) -> bool:
        """Whether a log has not been given up."""
        return self.disk.exists(held.directory)

    def _note_future(self, current: PartitionLog, future: PartitionLog, target: LogDirectory) -> None:
        """What the checkpoints are to say of the copy from the moment on in which it is the log. How far it is clean
        nobody knows: the log may have been compacted after it was copied."""
        name, saved = current.partition, self._saved[target.path]
        watermark = self._offset(WATERMARKS, name)
        said = {RECOVERY_POINTS: future.end, LOG_STARTS: current.start, WATERMARKS: watermark}
        for checkpoint, offset in said.items():
            saved[checkpoint][name] = offset
            self._stale[target.path, checkpoint] = None
        self._save_stale()

    def _finish_moves(self) -> None:
        """At the start: a whole copy takes the place of a log that was given up for it; all others go."""
        directories = self._directories.values()
        there = {name for directory in directories for name in directory.partitions()}
        for directory in directories:
            for folder, name, is_whole in directory.futures():
                if is_whole and name not in there:
                    log.info(Line(
                        "Move of partition {partition} to another log directory is completed after a restart",
                        partition=name, dir=directory.path,
                    ))  # fmt: skip
                    self.disk.rename(folder, directory.folder_of(name))
                    self.disk.sync_directory(directory.path)
                    continue
                if not is_whole and name in there:
                    self.unfinished[name] = directory.path
                heapq.heappush(self._removals, (Millis(0), folder))

    # ── checkpoints ──────────────────────────────────────────────────────────────────

    def save(self, checkpoint: str, offsets: Offsets, unopened: Iterable[TopicPartition] = ()) -> None:
        """Write a checkpoint of every directory in which something has changed.
        Of logs that are not open, it goes on saying what it said."""
        by_path: dict[str, Offsets] = {path: {} for path in self._directories}
        for name, offset in offsets.items():
            by_path[self._homes[name].path][name] = offset
        for name in unopened:
            said = self._saved[self._homes[name].path][checkpoint] if name in self._homes else {}
            if name in said:
                by_path[self._homes[name].path][name] = said[name]
        for path, mine in by_path.items():
            if mine != self._saved[path][checkpoint] or (path, checkpoint) in self._stale:
                self._save(path, checkpoint, mine)

    def _save(self, path: str, checkpoint: str, offsets: Offsets) -> None:
        self._directories[path].save(checkpoint, offsets)
        self._saved[path][checkpoint] = offsets
        self._stale.pop((path, checkpoint), None)

    def _save_stale(self) -> None:
        """Let no checkpoint speak of a log that is gone: one that comes under its name would be taken for it."""
        for path, checkpoint in list(self._stale):
            try:
                self._save(path, checkpoint, self._saved[path][checkpoint])
            except OSError as error:
                raise ErrorCode.KAFKA_STORAGE_ERROR.error(str(error)) from error

    def cleaned_upto(self, name: TopicPartition) -> Offset | None:
        """Up to where compaction has cleaned a log; None if it never has, or not in the directory it lies in now."""
        return self._saved[self._homes[name].path][CLEANED_UPTO].get(name)

    def note_cleaned(self, name: TopicPartition, offset: Offset) -> None:
        """Compaction has cleaned a log up to `offset`. Where that cannot be written, it counts until the next start."""
        path = self._homes[name].path
        cleaned = self._saved[path][CLEANED_UPTO]
        cleaned[name] = offset
        self._save(path, CLEANED_UPTO, cleaned)

    def leave_clean_mark(self, broker_epoch: int) -> None:
        for directory in self._directories.values():
            directory.leave_clean_mark(broker_epoch)

    # ── folders on their way out ─────────────────────────────────────────────────────

    def next_removal(self) -> Millis:
        return self._removals[0][0] if self._removals else NEVER

    def remove_due(self, now: Millis) -> None:
        """Remove one folder whose time has come; the next one is due at once."""
        if self.next_removal() <= now:
            self.disk.remove(heapq.heappop(self._removals)[1])

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _take_stock(self, directory: LogDirectory) -> None:
        notices: list[str] = []
        path = directory.path
        self._saved[path] = {each: directory.load(each, notices) for each in CHECKPOINTS}
        self._counts[path] = 0
        for name in directory.partitions():
            if name.topic != METADATA_TOPIC:
                self._settle(name, directory)
        for name in [name for said in self._saved[path].values() for name in said]:
            if self._homes.get(name) is not directory:
                self._drop_checkpoints(directory, name)
        for leftover in directory.leftovers():
            heapq.heappush(self._removals, (Millis(0), leftover))
        for notice in notices:
            log.warning(Line("Log directory {dir} was repaired as it was opened", dir=path, repair=notice))

    def _settle(self, name: TopicPartition, directory: LogDirectory) -> None:
        if name in self._homes:
            log.error(Line(
                "Partition {partition} is in two log directories, and the first is used; remove the other",
                partition=name, dir=self._homes[name].path, other_dir=directory.path,
            ))  # fmt: skip
            return
        self._homes[name] = directory
        self._counts[directory.path] += 1

    def _leave(self, name: TopicPartition) -> None:
        """The partition has no folder here any more."""
        directory = self._homes.pop(name)
        self._counts[directory.path] -= 1
        self._drop_checkpoints(directory, name)

    def _drop_checkpoints(self, directory: LogDirectory, name: TopicPartition) -> None:
        for checkpoint in CHECKPOINTS:
            if self._saved[directory.path][checkpoint].pop(name, None) is not None:
                self._stale[directory.path, checkpoint] = None

    def _owner_of(self, folder: str) -> TopicId | None:
        """The id of the topic that a folder belongs to, if it says so."""
        try:
            return partition_metadata.decode(self.disk.read_file(f"{folder}/{PARTITION_METADATA}"))
        except (FileNotFoundError, LayoutError):
            return None

    def _offset(self, checkpoint: str, name: TopicPartition) -> Offset:
        return self._saved[self._homes[name].path][checkpoint].get(name, Offset(0))

    def _new_id(self) -> str:
        return urlsafe_b64encode(self._chance.uuid()).decode().rstrip("=")


def _id_bytes(directory: LogDirectory) -> bytes:
    return urlsafe_b64decode(directory.identity.directory_id + "==")
