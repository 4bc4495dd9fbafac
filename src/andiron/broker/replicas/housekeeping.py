"""What time brings: checkpoints, retention, compaction, late flushes, files to remove.

    every log.flush.offset.checkpoint.interval.ms   how far each log is on the disk
    every replica.high.watermark.checkpoint.interval.ms          and how far it is committed
    every log.flush.start.offset.checkpoint.interval.ms          where each log starts
    every log.retention.check.interval.ms           segments that may go; producers long silent
    every log.cleaner.backoff.ms                    the dirtiest log is compacted, one at a time
    flush.ms after an append                        the partition is synced
    file.delete.delay.ms after a deletion           the files are removed
    at once, a slice at a time                      replicas that move to another directory (replica_moves.py)

A round over all partitions takes them a few hundred at a time and lets the loop turn in
between, so that ten thousand partitions are no pause for anyone. Nothing here looks at a
partition that has nothing to do more often than these intervals say: an idle node sleeps.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import FIRST_ROUND_MS, FLUSH_AGAIN_MS
from andiron.broker.node.step import Step
from andiron.broker.node.timetable import Timetable
from andiron.broker.replicas.checkpoints import Checkpoints
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replica_manager import ReplicaManager
from andiron.broker.replicas.replica_moves import ReplicaMoves
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.broker.settings.live_settings import LiveSettings
from andiron.log.cleaner import CleanableLog, Cleaner, CleanerBudget
from andiron.model.effects import Finished, Work
from andiron.model.errors import ProtocolError
from andiron.model.ids import NEVER, Millis, wall_time
from andiron.model.line import Line

log = logging.getLogger(__name__)

AT_A_TIME = 200  # partitions
TOPICS_TOLD = 5  # in the summary of a round


class Housekeeping:
    """The timetable of a node and what is on it."""

    def __init__(
        self, settings: LiveSettings, directories: LogDirectories, replica_manager: ReplicaManager,
        checkpoints: Checkpoints, flush_queue: FlushQueue, step: Step,
    ) -> None:  # fmt: skip
        self._settings, self._directories, self._replica_manager = settings, directories, replica_manager
        self._checkpoints, self._flush_queue, self._step = checkpoints, flush_queue, step
        self._disk = directories.disk
        self.timetable = Timetable()
        self._cleaner = Cleaner(self._disk)
        self._flush_at: dict[Partition, Millis] = {}
        quota = ReplicationQuota(settings, lambda now: now.replica_alter_log_dirs_io_max_bytes_per_second)
        self.moves = ReplicaMoves(directories, replica_manager, flush_queue, quota, self.timetable, step)
        self._removal_at = NEVER  # when the next folder is removed
        self._token = 0
        self._log_limiter = LogLimiter()

    def start(self, now: Millis) -> None:
        """Put everything that recurs on the timetable."""
        settings, at = self._settings.current(), self.timetable.at
        at(Millis(now + settings.log_flush_offset_checkpoint_interval_ms), self._checkpoint)
        at(Millis(now + settings.replica_high_watermark_checkpoint_interval_ms), self._checkpoint_watermarks)
        at(Millis(now + settings.log_flush_start_offset_checkpoint_interval_ms), self._checkpoint_starts)
        at(Millis(now + FIRST_ROUND_MS), self._retain)
        at(Millis(now + settings.log_cleaner_backoff_ms), self._clean)
        self.moves.start(now)
        self.gave_up_folders()

    def next_deadline(self) -> Millis:
        return self.timetable.next_deadline()

    def run(self, now: Millis) -> None:
        """Do what is due."""
        self.timetable.run(now)
        self.gave_up_folders()

    @contextmanager
    def _noting(self, trouble: Line) -> Iterator[None]:
        """What the disk refuses now it may grant the next time: it is noted once a minute, and the house is kept on."""
        try:
            yield
        except (OSError, ProtocolError) as error:
            if (suppressed := self._log_limiter.again(trouble.message, self._step.now)) is not None:
                log.error(trouble.because(error, suppressed))

    # ── what the rest of the node tells ──────────────────────────────────────────────

    def written(self, partition: Partition) -> None:
        """Something was appended that flush.ms may want on the disk."""
        due = partition.log.flush_deadline()
        if due < NEVER and partition not in self._flush_at:
            self._flush_at[partition] = due
            self.timetable.at(due, lambda now: self._flush_late(partition, now))

    def could_not_flush(self, partition: Partition, now: Millis) -> None:
        """A flush that is needed could not begin. It is tried again: a follower fetches nothing until it is done, so
        nothing else would ask for it."""
        if partition.needs_flush and partition not in self._flush_at:
            self._flush_at[partition] = due = Millis(now + FLUSH_AGAIN_MS)
            self.timetable.at(due, lambda now: self._flush_late(partition, now))

    def gave_up_files(self, partition: Partition) -> None:
        """A log has files that are to be removed later."""
        self.timetable.at(
            partition.log.segments.next_removal(), lambda now: self._remove_files(partition, now)
        )

    def forget(self, partition: Partition) -> None:
        """A partition was deleted."""
        self._flush_queue.forget(partition)
        self._cleaner.forget(partition.name)

    def gave_up_folders(self) -> None:
        """There may be folders to be removed later."""
        due = self._directories.next_removal()
        if due < self._removal_at:
            self._removal_at = due
            self.timetable.at(due, self._remove_folders)

    def finished(self, event: Finished, now: Millis) -> None:
        """A round of compaction is over. The next follows at once if it succeeded; after log.cleaner.backoff.ms if not:
        a full disk would be read over and over for nothing."""
        cleaned = None
        with self._noting(Line("Compacted segments cannot be put in place; check the disk")):
            cleaned = self._cleaner.finish(event.result, event.error, now)
        partition = self._replica_manager.get(cleaned.log.partition) if cleaned else None
        if cleaned is not None and partition is not None:
            with self._noting(Line("Cleaner checkpoint cannot be written; check the disk")):
                self._directories.note_cleaned(partition.name, cleaned.cleaned_upto)
            self.gave_up_files(partition)
            self.timetable.at(now, self._clean_once)

    # ── checkpoints ──────────────────────────────────────────────────────────────────

    def _checkpoint(self, now: Millis) -> None:
        interval_ms = self._settings.current().log_flush_offset_checkpoint_interval_ms
        self.timetable.at(Millis(now + max(1, interval_ms)), self._checkpoint)
        with self._noting(Line("Recovery points cannot be written; check the disk")):
            self._checkpoints.save_ends()

    def _checkpoint_watermarks(self, now: Millis) -> None:
        interval_ms = self._settings.current().replica_high_watermark_checkpoint_interval_ms
        self.timetable.at(Millis(now + max(1, interval_ms)), self._checkpoint_watermarks)
        with self._noting(Line("High watermarks cannot be written; check the disk")):
            self._checkpoints.save_watermarks()

    def _checkpoint_starts(self, now: Millis) -> None:
        interval_ms = self._settings.current().log_flush_start_offset_checkpoint_interval_ms
        self.timetable.at(Millis(now + max(1, interval_ms)), self._checkpoint_starts)
        with self._noting(Line("Log start offsets cannot be written; check the disk")):
            self._checkpoints.save_starts()

    # ── retention ────────────────────────────────────────────────────────────────────

    def _retain(self, now: Millis) -> None:
        self.timetable.at(
            Millis(now + self._settings.current().log_retention_check_interval_ms), self._retain
        )
        self._go_through(iter(list(self._replica_manager)), Counter(), now)

    def _go_through(self, rest: Iterator[Partition], gone: Counter[tuple[str, str]], now: Millis) -> None:
        """Look at some partitions, then let others have the loop before the next ones; `gone` counts the segments that
        the round has deleted, by topic and rule."""
        expiration_ms = self._settings.current().producer_id_expiration_ms
        for count, partition in enumerate(rest, 1):
            if not partition.retired:
                with self._noting(
                    Line(
                        "Retention of partition {partition} failed; check the disk", partition=partition.name
                    )
                ):
                    self._retain_one(partition, gone, now)
                    partition.expire_producers(now, expiration_ms)
            if count == AT_A_TIME:
                self.timetable.at(now, lambda later: self._go_through(rest, gone, later))
                return
        if gone:
            log.info(
                Line("Retention has deleted segments", segments=sum(gone.values()), most=most_deleted(gone))
            )

    def _retain_one(self, partition: Partition, gone: Counter[tuple[str, str]], now: Millis) -> None:
        held = partition.log
        held.roll_if_due(now)
        if held is self._cleaner.under_way:
            return  # its segments are being compacted; the next round has time for it
        start = held.start
        for segment in held.delete_old(now, partition.watermark):
            gone[partition.name.topic, segment.rule] += 1
            log.debug(Line(
                "Segment of partition {partition} is deleted",
                partition=partition.name, offset=segment.base, rule=segment.rule,
            ))  # fmt: skip
        if held.start != start:
            self._step.moved(partition)  # who follows it does not hear of that by new records
        if held.flush_due(now):
            self._step.flush(partition)
        self.gave_up_files(partition)

    def _remove_files(self, partition: Partition, now: Millis) -> None:
        for path in partition.log.segments.due_removals(now):
            with self._noting(Line("File that was given up cannot be removed", file=path)):
                self._disk.remove(path)

    def _remove_folders(self, now: Millis) -> None:
        """One at a time: a folder can hold many files."""
        self._removal_at = NEVER
        with self._noting(Line("Folder that was given up cannot be removed")):
            self._directories.remove_due(now)
        self.gave_up_folders()

    # ── late flushes ─────────────────────────────────────────────────────────────────

    def _flush_late(self, partition: Partition, now: Millis) -> None:
        del self._flush_at[partition]
        due = NEVER if partition.retired else partition.log.flush_deadline()
        if due <= now or (partition.needs_flush and not partition.retired):
            self._step.flush(partition)
        elif due < NEVER:
            self.written(partition)

    # ── compaction ───────────────────────────────────────────────────────────────────

    def _clean(self, now: Millis) -> None:
        self.timetable.at(Millis(now + max(1, self._settings.current().log_cleaner_backoff_ms)), self._clean)
        self._clean_once(now)

    def _clean_once(self, now: Millis) -> None:
        settings = self._settings.current()
        if not settings.log_cleaner_enable:
            return
        means = CleanerBudget(
            settings.log_cleaner_dedupe_buffer_size,
            settings.log_cleaner_io_buffer_load_factor,
            settings.log_cleaner_io_max_bytes_per_second,
        )
        logs = [
            CleanableLog(each.log, each.watermark, self._directories.cleaned_upto(each.name))
            for each in self._replica_manager
            if each.failure is None
        ]
        job = None
        with self._noting(Line("Cleaner cannot choose a log; check the disk")):
            job = self._cleaner.next_job(logs, wall_time(now), means)
        if job is not None:
            self._token += 1
            self._step.emit(Work(self._token, job))


def most_deleted(gone: Counter[tuple[str, str]]) -> list[str]:
    """Of which topics, and by which rule, a round of retention has deleted most; however many topics there are."""
    return [f"{count} of {topic} by {rule}" for (topic, rule), count in gone.most_common(TOPICS_TOLD)]
