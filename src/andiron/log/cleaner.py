"""The cleaner: which log is compacted next, and what becomes of the result.

    next_job ──▶ CompactionJob ──(Work, in another process)──▶ CompactionResult ──▶ finish ──▶ swap, checkpoint

One round at a time: the worker is one process, and the offset map is bounded by the memory that
log.cleaner.dedupe.buffer.size gives to all of them together.

How far each log is clean is written down in the log directory's cleaner-offset-checkpoint. It is a hint:
a log without one is cleaned from its start, which costs time and loses nothing.

The law: a result counts only for the log it was made from. If that log has been cut meanwhile, given up
segments that were cleaned, or is gone altogether, the result is dropped and a later round begins anew.

Read next: cleaner_plan.py for the choice, compaction.py for the work.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from typing import NamedTuple

from andiron.log import layout
from andiron.log.batch_filter import ProducerEnd
from andiron.log.checkpoints import CLEANED_UPTO, load_offsets, save_offsets
from andiron.log.cleaner_plan import LogToClean, first_dirty_offset, pick_dirtiest, plan_cleaning
from andiron.log.compaction import CompactionJob, CompactionResult, UncleanableLog
from andiron.log.disk import Disk
from andiron.log.partition_log import PartitionLog
from andiron.log.producers import Producers
from andiron.model.ids import Millis, Offset, TopicPartition
from andiron.model.line import Line

_log = logging.getLogger(__name__)


class CleanerBudget(NamedTuple):
    """What a round may take: the broker's log.cleaner.* settings."""

    buffer_bytes: int = 128 << 20
    load_factor: float = 0.9
    bytes_per_second_max: float = math.inf


class Cleaner:
    """Compaction of all logs of a node."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._cleaned: dict[str, dict[TopicPartition, Offset]] = {}  # by log directory, as on disk
        self._damaged: dict[TopicPartition, str] = {}  # not to be tried again, and why
        self._under_way: tuple[PartitionLog, int, CompactionJob] | None = None

    @property
    def under_way(self) -> PartitionLog | None:
        """The log that a round is cleaning: retention does well to leave it alone until then."""
        return None if self._under_way is None else self._under_way[0]

    def next_job(
        self, logs: Iterable[tuple[PartitionLog, Offset]], now: Millis, means: CleanerBudget = CleanerBudget()
    ) -> CompactionJob | None:
        """The round to run now over one of `logs`, each given with its watermark; None if none is due."""
        if self._under_way is not None:
            return None
        due = [
            ((log, watermark), share)
            for log, watermark in logs
            if "compact" in log.settings.cleanup_policy and log.partition not in self._damaged
            if (share := self._share(log, watermark, now)).is_due(log.settings)
        ]
        picked = pick_dirtiest(due)
        if picked is None:
            return None
        (log, _), share = picked
        job = _job(log, share, now, means)
        self._under_way = log, log.generation, job
        return job

    def finish(
        self, result: CompactionResult | UncleanableLog | None, error: str | None, now: Millis
    ) -> PartitionLog | None:
        """The round is over, with what its Finished carries; returns the log if all of it was put to use."""
        assert self._under_way is not None, "one round, one result"
        log, generation, job = self._under_way
        self._under_way = None
        # Of a log that was cut, moved or deleted meanwhile a round may have read half of one thing and half of another.
        if log.generation == generation and self._take(log, result, error, now):
            return log
        self._sweep(job.directory)
        return None

    def cut(self, log: PartitionLog, offset: Offset) -> None:
        """The log was truncated: what was clean beyond is gone, and what comes there will be dirty."""
        cleaned = self._cleaned_of(log)
        if cleaned.get(log.partition, offset) > offset:
            self._note(log, offset)

    def forget(self, log: PartitionLog) -> None:
        """The log is gone; one that comes under its name will be another."""
        self._damaged.pop(log.partition, None)
        cleaned = self._cleaned_of(log)
        if cleaned.pop(log.partition, None) is not None:
            self._save(log)

    def _take(
        self,
        log: PartitionLog,
        result: CompactionResult | UncleanableLog | None,
        error: str | None,
        now: Millis,
    ) -> bool:
        """Put what a round has come to to use; returns whether all of it was."""
        if isinstance(result, UncleanableLog):
            _log.error(Line(
                "Partition {partition} is damaged and not compacted until a restart; see `andiron log verify`",
                partition=log.partition, error=result.reason,
            ))  # fmt: skip
            self._damaged[log.partition] = result.reason
        elif result is None:
            _log.warning(Line(
                "Compaction of partition {partition} failed; tried again",
                partition=log.partition, error=error,
            ))  # fmt: skip
        elif self._swap(log, result, now):
            self._note(log, result.cleaned_upto)
            return True
        return False

    def _share(self, log: PartitionLog, watermark: Offset, now: Millis) -> LogToClean:
        # A record that is not on the disk yet may be lost: what it supersedes must be there until then.
        return plan_cleaning(
            log.segments,
            log.settings,
            first_dirty=first_dirty_offset(log.start, log.end, self._cleaned_of(log).get(log.partition)),
            last_stable=min(log.last_stable(watermark), log.flushed_end),
            now=now,
        )

    def _swap(self, log: PartitionLog, result: CompactionResult, now: Millis) -> bool:
        """Group after group, the lowest first: that is the order in which a start completes them.

        Where retention took a segment meanwhile, its group stays as it is. The others are as good without it,
        since what supersedes a record comes after it, and retention takes from the front.
        """
        sealed = log.segments.bases[:-1]
        whole = [each for each in result.replacements if all(base in sealed for base in each.old)]
        for each in whole:
            log.swap(each.old, each.new, now)
        return len(whole) == len(result.replacements)

    def _sweep(self, directory: str) -> None:
        """Remove what a round has written that is of no use."""
        for name in self._disk.names(directory):
            if name.endswith(layout.CLEANED):
                self._disk.remove(f"{directory}/{name}")

    def _note(self, log: PartitionLog, offset: Offset) -> None:
        self._cleaned_of(log)[log.partition] = offset
        self._save(log)

    def _cleaned_of(self, log: PartitionLog) -> dict[TopicPartition, Offset]:
        """The checkpoint of the log directory that holds this log."""
        parent = _parent(log)
        if parent not in self._cleaned:
            notices: list[str] = []
            self._cleaned[parent] = load_offsets(self._disk, f"{parent}/{CLEANED_UPTO}", notices)
            for notice in notices:
                _log.warning(
                    Line("Log directory {dir} was repaired as it was opened", dir=parent, repair=notice)
                )
        return self._cleaned[parent]

    def _save(self, log: PartitionLog) -> None:
        parent = _parent(log)
        try:
            save_offsets(self._disk, f"{parent}/{CLEANED_UPTO}", self._cleaned[parent])
        except OSError as error:
            _log.warning(Line(
                "Cleaner checkpoint cannot be written; tried again",
                file=f"{parent}/{CLEANED_UPTO}", error=error,
            ))  # fmt: skip


def _job(log: PartitionLog, share: LogToClean, now: Millis, means: CleanerBudget) -> CompactionJob:
    bases = [segment.base for segment in log.segments if segment.base < share.first_uncleanable]
    return CompactionJob(
        log.partition,
        log.directory,
        log.settings,
        tuple(bases),
        share.first_dirty,
        share.first_uncleanable,
        tuple(log.aborted_between(Offset(bases[0]), share.first_uncleanable)),
        _producer_ends(log.producers),
        now,
        *means,
    )


def _producer_ends(producers: Producers) -> dict[int, ProducerEnd]:
    return {
        state.id: ProducerEnd(state.batches[-1].last_offset if state.batches else None, state.epoch)
        for state in producers
    }


def _parent(log: PartitionLog) -> str:
    return log.directory.rpartition("/")[0]
