"""The cleaner: which log is compacted next, and what becomes of the result.

    next_job ──▶ CompactionJob ──(Work, in another process)──▶ CompactionResult ──▶ finish ──▶ swap, checkpoint

One round at a time: the worker is one process, and the offset map is bounded by the memory that
log.cleaner.dedupe.buffer.size gives to all of them together.

How far each log is clean is its cleaner checkpoint, which the log directories keep with the others
(broker/replicas/log_directories.py). A log without one is cleaned from its start, which costs time and loses nothing.

The laws:
- A result counts only for the log it was made from. If that log has been cut meanwhile, given up segments
  that were cleaned, or is gone altogether, the result is dropped and a later round begins anew.
- A cleaner checkpoint never lies beyond the log end offset: whoever cuts a log lowers it. Else what is written there
  next would pass for clean. A tombstone among it would go when its time has come, and the record that it deletes
  would stay.

Read next: cleaner_plan.py for the choice, compaction.py for the work.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from typing import NamedTuple

from andiron.log import layout
from andiron.log.batch_filter import ProducerEnd
from andiron.log.cleaner_plan import LogToClean, pick_dirtiest, plan_cleaning
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


class CleanableLog(NamedTuple):
    """A log that may be compacted, and what is known of it beside."""

    log: PartitionLog
    watermark: Offset
    cleaned_upto: Offset | None  # its cleaner checkpoint


class CleanedLog(NamedTuple):
    """A log of which a round has compacted all that it set out to, and its cleaner checkpoint from now on."""

    log: PartitionLog
    cleaned_upto: Offset


class Cleaner:
    """Compaction of all logs of a node."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._damaged: dict[TopicPartition, str] = {}  # not to be tried again, and why
        self._under_way: tuple[PartitionLog, int, CompactionJob] | None = None

    @property
    def under_way(self) -> PartitionLog | None:
        """The log that a round is cleaning: retention does well to leave it alone until then."""
        return None if self._under_way is None else self._under_way[0]

    def next_job(
        self, logs: Iterable[CleanableLog], now: Millis, means: CleanerBudget = CleanerBudget()
    ) -> CompactionJob | None:
        """The round to run now over one of `logs`; None if none is due."""
        if self._under_way is not None:
            return None
        due = [
            (each.log, share)
            for each in logs
            if "compact" in each.log.settings.cleanup_policy and each.log.partition not in self._damaged
            if (share := _share(each, now)).is_due(each.log.settings)
        ]
        picked = pick_dirtiest(due)
        if picked is None:
            return None
        log, share = picked
        job = _job(log, share, now, means)
        self._under_way = log, log.generation, job
        return job

    def finish(
        self, result: CompactionResult | UncleanableLog | None, error: str | None, now: Millis
    ) -> CleanedLog | None:
        """The round is over, with what its Finished carries; returns the log if all of that was put to use."""
        assert self._under_way is not None, "one round, one result"
        log, generation, job = self._under_way
        self._under_way = None
        # Of a log that was cut, moved or deleted meanwhile a round may have read half of one thing and half of another.
        cleaned = self._take(log, result, error, now) if log.generation == generation else None
        if cleaned is None:
            self._sweep(job.directory)
        return cleaned

    def forget(self, partition: TopicPartition) -> None:
        """The log is gone; one that comes under its name will be another."""
        self._damaged.pop(partition, None)

    def _take(
        self,
        log: PartitionLog,
        result: CompactionResult | UncleanableLog | None,
        error: str | None,
        now: Millis,
    ) -> CleanedLog | None:
        """Put what a round has come to to use; returns the log if all of it was."""
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
            return CleanedLog(log, result.cleaned_upto)
        return None

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


def _share(each: CleanableLog, now: Millis) -> LogToClean:
    log = each.log
    # A record that is not on the disk yet may be lost: what it supersedes must be there until then.
    return plan_cleaning(
        log.segments,
        log.settings,
        start=log.start,
        cleaned_upto=each.cleaned_upto,
        last_stable=min(log.last_stable(each.watermark), log.flushed_end),
        now=now,
    )


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
