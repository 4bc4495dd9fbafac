"""One partition's log: append, read, truncate; log start offset, last stable offset (LSO), log end offset (LEO).

    start ········ last stable ········ watermark ········ end
    │ deleted      │ decided            │ committed        │ appended
    │ below        │ below              │ below            │ below
    ├── segment ──┼── segment ──┼────────── active ────────▶

Appending a batch, top to bottom: is it in turn (producers.py)? does it still fit (roll)? write its
offset and leader epoch into the bytes it came in; one File.append; note it in the indexes, with its
producer and its epoch. Cost is per batch, and nothing but that one write goes to the disk.

Reading finds the segment, and that the position; the answer is a slice of a file, below the caller's `upto`.

    PartitionLog     the log
    LogAppendInfo    what became of a batch that was appended: its offsets, or that it was there already

The laws:
- A failed append changes nothing, in memory or in the file: KAFKA_STORAGE_ERROR says why. That error from
  anything else leaves the log as it is, for a restart to put right.
- A log that was cut tells `on_cut`, which brings the recovery point on the disk down before anything is appended.

Read next: segment.py below, flush_state.py and recovery.py beside it, broker/replicas/partition.py above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from andiron.log import layout, partition_metadata, recovery, timestamp_lookup
from andiron.log.abort_index import AbortedTransaction
from andiron.log.checkpoints import LogCheckpoint
from andiron.log.clean_shutdown import close_alone
from andiron.log.disk import Buffer, File, FileSlice, LogFolder
from andiron.log.flush_state import FlushState, UnsyncedFiles
from andiron.log.producers import Producers
from andiron.log.retention import ExpiredSegment, plan_deletion
from andiron.log.runs import Run, split
from andiron.log.segment import RELATIVE_OFFSET_MAX
from andiron.log.settings import LogSettings
from andiron.log.storage import storage, storage_error
from andiron.log.timestamp_lookup import TimestampAndOffset
from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, Millis, Offset, TopicIdPartition, wall_time
from andiron.model.invariant import invariant
from andiron.records.batch import Batch, stamp, stamp_append_time

NO_APPEND_TIME = -1
NEW = LogCheckpoint()

Slice: TypeAlias = FileSlice | None


@dataclass(slots=True)
class LogAppendInfo:
    """What became of a batch: its offsets, whether it was there already, and what its acknowledgement waits for."""

    base_offset: Offset
    append_time: int  # the broker's clock under LogAppendTime; -1 where producers set the time
    end: Offset  # of the batch
    duplicate: bool
    to_disk: bool  # flush.messages asks for an fsync


class PartitionLog:
    """The log of one partition. Only one at a time may have its directory open."""

    __slots__ = (
        "_active", "_append_time", "_disk", "_flushed", "_segment_bytes", "directory", "end", "epochs",
        "generation", "notices", "on_cut", "partition", "producers", "segments", "settings", "start", "topic_id",
    )  # fmt: skip

    def __init__(
        self, folder: LogFolder, owner: TopicIdPartition, settings: LogSettings, loaded: recovery.LoadedLog,
        notices: list[str],
    ) -> None:  # fmt: skip
        """Use `open`."""
        self._disk, self.directory = folder
        self.topic_id, self.partition = owner
        self.segments, self.epochs, self.producers = loaded.segments, loaded.epochs, loaded.producers
        self.start, self.end = loaded.start, loaded.end
        self.generation = 0  # grows when the log is cut or deleted: a compaction under way is void then
        self.notices = notices  # what had to be done to open it
        self.on_cut: Callable[[PartitionLog], None] = lambda log: None
        self._flushed = FlushState(self._disk, self.directory, loaded.flushed_end)
        self._active = self.segments.active
        self.replace_settings(settings)

    @classmethod
    def open(
        cls, folder: LogFolder, owner: TopicIdPartition, settings: LogSettings,
        *, now: Millis, checkpoint: LogCheckpoint = NEW, adopts: bool = True,
    ) -> PartitionLog:  # fmt: skip
        """Open the log in a folder, or make an empty one that starts where its checkpoint says. After a clean stop
        nothing is scanned; otherwise everything from the recovery point on. `adopts`: partition_metadata.py."""
        notices: list[str] = []
        disk, path = folder
        with storage(owner.partition):
            if not (sizes := disk.names(path)):
                disk.make_directory(path)
            written = partition_metadata.settle(disk, path, owner.topic_id, sizes, notices, adopts=adopts)
            loaded = recovery.load(folder, settings, checkpoint, now=now, sizes=sizes, notices=notices)
        log = cls(folder, owner, settings, loaded, notices)
        log._flushed.note_files(written)
        return log

    # ── writing ──────────────────────────────────────────────────────────────────────

    def append(self, batch: Batch, leader_epoch: LeaderEpoch, now: Millis) -> LogAppendInfo:
        """Take in one batch as the leader. Its buffer holds its bytes and no others; offset and epoch go into them."""
        producer_id = batch.producer_id
        if producer_id >= 0:
            seen = self.producers.check(batch)
            if seen is not None:
                return self.appended_before(
                    Offset(seen.first_offset), seen.timestamp, Offset(seen.last_offset + 1)
                )
        base, records = self.end, batch.buf
        last = base + batch.last_offset_delta
        append_time, timestamp = NO_APPEND_TIME, batch.max_timestamp
        if self._append_time:
            append_time = timestamp = wall_time(now)
            stamp_append_time(records, 0, append_time)
        stamp(records, 0, base, leader_epoch)
        active = self._active
        try:
            if (
                timestamp > active.roll_at
                or active.size + batch.size > self._segment_bytes
                or last - active.base > RELATIVE_OFFSET_MAX
            ):
                self._roll_for(batch.size, base, last, timestamp, now)
                active = self._active
            active.append(records, last, timestamp, now)
        except OSError as error:
            raise storage_error(self.partition, error) from error
        self.end = end = Offset(last + 1)
        if leader_epoch != self.epochs.latest:
            self.epochs.assign(leader_epoch, base)
        if producer_id >= 0:
            aborted = self.producers.replay(batch, base, timestamp)
            if aborted is not None:
                active.indexes.aborts.append(aborted)
        flushed = self._flushed
        if base == flushed.end:
            flushed.since = now
        to_disk = end - flushed.end >= self.settings.flush_messages
        return LogAppendInfo(base, append_time, end, False, to_disk)

    def appended_before(self, base: Offset, append_time: int, end: Offset) -> LogAppendInfo:
        """What the append of a batch answers that is here already: it may still wait for the disk."""
        to_disk = self.end - self._flushed.end >= self.settings.flush_messages
        return LogAppendInfo(base, append_time, end, True, to_disk)

    def append_replicated(self, records: Buffer, now: Millis) -> Offset:
        """Take in batches as the leader's log has them; a part of one at the end is left out. Returns the end."""
        if self.epochs.was_cut:  # or a start finds what was cut off again, in a gap of what comes now
            with storage(self.partition):
                self._flushed.write_epochs(self.epochs)
        room = self._segment_bytes - self._active.size
        for run in split(records, self.end, self._active.base, room, self._segment_bytes):
            self._append_run(run, now)
        return self.end

    def roll_if_due(self, now: Millis, *, at_once: bool = False) -> bool:
        """Begin a new segment if the active one is old or full, the clock being the next batch's time; or `at_once`."""
        active, wall = self._active, wall_time(now)
        if not active.size or not (at_once or active.is_due(0, self.end - 1, wall, now, self._segment_bytes)):
            return False
        with storage(self.partition):
            self._roll(self.end, now)
        return True

    def replace_settings(self, settings: LogSettings) -> None:
        """The topic's configs have changed."""
        self.settings = settings
        self._append_time = settings.message_timestamp_type == "LogAppendTime"
        self._segment_bytes = settings.segment_bytes
        self._active.take_settings(settings)

    # ── reading ──────────────────────────────────────────────────────────────────────

    def read(self, offset: Offset, max_bytes: int, upto: Offset, *, at_least_one: bool = True) -> Slice:
        """Whole batches from the one that holds `offset` on, below `upto`, from one segment; None if there is nothing.

        At most `max_bytes`, but for a first batch that is larger: it comes whole, if `at_least_one` is to come.
        """
        if not self.start <= offset <= self.end:
            raise ErrorCode.OFFSET_OUT_OF_RANGE.error(
                f"{self.partition} has {self.start} to {self.end}, not {offset}"
            )
        upto = min(upto, self.end)
        if offset >= upto:
            return None
        try:
            if offset >= self._active.base:
                return self._active.read(offset, max_bytes, upto, self.end, at_least_one=at_least_one)
            number = self.segments.number_of(offset)
            while number < len(self.segments) and self.segments[number].base < upto:
                segment, end = self.segments[number], self.segments.end_of(number, self.end)
                found = segment.read(offset, max_bytes, upto, end, at_least_one=at_least_one)
                if found is not None or segment.position_of(offset) < segment.size:
                    return found
                number += 1  # compaction has taken the last records of this one
        except OSError as error:
            raise storage_error(self.partition, error) from error
        return None

    def offset_for_time(self, timestamp: Millis, upto: Offset) -> TimestampAndOffset | None:
        """The first record below `upto` that is as late as `timestamp`."""
        with storage(self.partition):
            return timestamp_lookup.first_at_or_after(self.segments, timestamp, self.start, upto)

    def offset_of_max_timestamp(self, upto: Offset) -> TimestampAndOffset | None:
        """The first record with the largest timestamp of the log, if it lies below `upto`."""
        with storage(self.partition):
            return timestamp_lookup.latest(self.segments, self.start, upto)

    def last_stable(self, watermark: Offset) -> Offset:
        """Where what read_committed readers may see ends."""
        return Offset(max(self.start, self.producers.last_stable(watermark)))

    def aborted_between(self, start: Offset, end: Offset) -> list[AbortedTransaction]:
        """The aborted transactions that touch [start, end), for a reader to skip."""
        found: list[AbortedTransaction] = []
        with storage(self.partition):
            for segment in self.segments.holding(start):
                if segment.has_aborts:
                    more, complete = segment.indexes.aborts.between(start, end)
                    found += more
                    if complete:
                        break
        return found

    @property
    def size(self) -> int:
        """Bytes of all its .log files."""
        return sum(segment.size for segment in self.segments)

    # ── its bounds ───────────────────────────────────────────────────────────────────

    def truncate(self, offset: Offset, now: Millis) -> Offset:
        """Forget everything from the batch on that holds `offset`; returns the new end."""
        if offset >= self.end:
            self.epochs.truncate_end(offset)
            return self.end
        if offset < self.segments[0].base:
            self.restart_at(offset, now)
            return self.end
        self.generation += 1
        with storage(self.partition):
            self.segments.give_up_beyond(offset, self._removal_due(now))
            self._active = self.segments.active
            self.end = Offset(self._active.truncate_to(offset))
            self._flushed.fall_to(self.end)
            self.start = min(self.start, self.end)
            self.epochs.truncate_end(self.end)
            self.segments.snapshots.keep(self.segments.bases, self.end)
            self.producers = recovery.replay_producers(self.segments, self.end, self.notices)
            invariant(
                self.start <= self.end <= offset,
                "a truncated log ends at the cut",
                self.start,
                self.end,
                offset,
            )
            try:  # last of all: a log that cannot be synced is cut all the same
                self._active.file.sync()
                if self._active.next_offset() < self.end:
                    self._roll(self.end, now)  # where compaction left nothing: the name tells the next start
                self._disk.sync_directory(self.directory)
            finally:
                self.on_cut(self)
        return self.end

    def restart_at(self, offset: Offset, now: Millis) -> None:
        """Forget everything, and begin again at `offset`."""
        self.generation += 1
        with storage(self.partition):
            self.segments.restart(offset, self.end, self.settings, now)
            self._active = self.segments.active
            self._disk.sync_directory(self.directory)
            self._flushed.fall_to(offset)
            self._flushed.end = self.start = self.end = offset
            self.producers = Producers()
            self.epochs.truncate_end(0)
            self.on_cut(self)

    def advance_start(self, offset: Offset) -> None:
        """Nothing below `offset` is there any more; whole segments below it go with the next `delete_old`."""
        if offset > self.end:
            raise ErrorCode.OFFSET_OUT_OF_RANGE.error(f"{self.partition} ends at {self.end}, before {offset}")
        if offset > self.start:
            self.start = offset
            self.epochs.truncate_start(offset)

    def delete_old(self, now: Millis, upto: Offset) -> list[ExpiredSegment]:
        """Give up the segments that retention says may go, none beyond `upto`; returns which, and why."""
        with storage(self.partition):
            plan = plan_deletion(
                self.segments, self.settings, start=self.start, end=self.end, upto=upto, now=wall_time(now)
            )
            if len(plan) == len(self.segments):
                self._roll(self.end, now)
            if plan:
                self.segments.give_up(self.segments[: len(plan)], self._removal_due(now))
                self._flushed.note_names()
                self.advance_start(Offset(self.segments[0].base))
        return plan

    def swap(self, old: Sequence[int], new: int, now: Millis) -> bool:
        """Put a compacted segment, still called .cleaned, in the place of those it was made from. All go by their
        bases; of several, the lowest first. False if the log has moved on: the new one is removed."""
        with storage(self.partition):
            self._flushed.note_names()
            return self.segments.swap(old, new, self.settings, self._removal_due(now))

    def expire_producers(self, now: Millis, expiration_ms: int) -> int:
        """Forget producers that have been silent for producer.id.expiration.ms; returns how many."""
        return self.producers.expire(now, expiration_ms)

    # ── the disk ─────────────────────────────────────────────────────────────────────

    @property
    def flushed_end(self) -> Offset:
        """Everything below is on the disk: the recovery point."""
        return self._flushed.end

    def flush_due(self, now: Millis) -> bool:
        """Is it time to flush, by flush.messages, flush.ms or because a segment was sealed?"""
        return self._flushed.is_due(self.segments, self.end, self.settings, now)

    def flush_deadline(self) -> Millis:
        """When flush.ms will ask for a flush."""
        return self._flushed.deadline(self.end, self.settings)

    def unflushed_files(self) -> tuple[list[File], Offset]:
        """What to sync so that everything below the returned end is on the disk; then say `note_flushed`."""
        with storage(self.partition):
            return self._flushed.begin(self.segments, self.epochs), self.end

    def note_flushed(self, end: Offset) -> None:
        """The files handed out last are synced."""
        self._flushed.done(end)

    def settle(self) -> UnsyncedFiles | None:
        """Write what a start looks for that trusts the log; returns what must reach the disk before `release`."""
        if not self.end:
            return None  # never written to: there is nothing that a start could miss
        with storage(self.partition):
            snapshots = self.segments.snapshots
            if self.end > max(snapshots.newest, 0):
                self._flushed.note_files([snapshots.take(self.producers, self.end)])
                snapshots.keep(self.segments.bases, self.end)
            self._flushed.note_files(self._active.write_indexes())
            if not self._flushed.is_behind(self.end, self.epochs):
                return None
            return self._flushed.settle(self.segments, self.epochs)

    def close(self) -> None:
        """Bring everything to the disk, for a start that trusts it; of many logs, together, see clean_shutdown.py."""
        close_alone(self._disk, self)

    def release(self) -> None:
        """Give the descriptors back: all is on the disk. The log may not be used any more."""
        self.note_flushed(self.end)
        with storage(self.partition):
            for segment in self.segments:
                segment.close()

    def delete(self, now: Millis) -> tuple[str, Millis]:
        """Give up the whole log: its directory gets another name, returned with when to remove it."""
        self.generation += 1
        token = f"{int.from_bytes(self.topic_id, 'big') ^ now:032x}"
        parent = self.directory.rpartition("/")[0]
        path = f"{parent}/{layout.moving_folder_name(self.partition, token, layout.DELETE)}"
        with storage(self.partition):
            self._disk.rename(self.directory, path)
            self._disk.sync_directory(parent)
        return path, self._removal_due(now)

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _roll_for(self, size: int, base: int, last: int, timestamp: int, now: Millis) -> None:
        if size > self._segment_bytes:
            raise ErrorCode.RECORD_LIST_TOO_LARGE.error(
                f"a batch of {size} bytes does not fit into a segment of {self._segment_bytes}"
            )
        if self._active.is_due(size, last, timestamp, now, self._segment_bytes):
            self._roll(base, now)

    def _roll(self, base: int, now: Millis) -> None:
        sealed = self._active
        snapshot = self.segments.roll(base, self.producers, self.settings, now)
        self._active = self.segments.active
        # Though all its records may be flushed already, its indexes are not: they have just been written.
        self._flushed.note_files([snapshot, *sealed.files()])

    def _append_run(self, run: Run, now: Millis) -> None:
        first, last, base = run.batches[0], run.batches[-1], self.end
        try:
            size, time = len(run.data), first.max_timestamp
            if self._active.is_due(size, last.last_offset, time, now, self._segment_bytes):
                self._roll(first.base_offset, now)
            self._active.append_run(run.data, run.places(), now)
        except OSError as error:
            raise storage_error(self.partition, error) from error
        invariant(
            base <= first.base_offset <= last.last_offset,
            "batches follow the log end offset",
            base,
            first,
            last,
        )
        self.end = Offset(last.next_offset)
        for batch in run.batches:
            self.epochs.assign(batch.leader_epoch, batch.base_offset)
            if batch.producer_id >= 0:
                aborted = self.producers.replay(batch, batch.base_offset, batch.max_timestamp)
                if aborted is not None:
                    self._active.indexes.aborts.append(aborted)
        if base == self._flushed.end:
            self._flushed.since = now

    def _removal_due(self, now: Millis) -> Millis:
        return Millis(now + self.settings.file_delete_delay_ms)
