"""The plan of an offset reset: for each partition of a group, the committed offset and the new one.

    log start ·················· committed ·················· end
    ▲ earliest     to an offset, to a time      shift by ±n      ▲ latest

The plan stays within the log: a place before its start becomes the start, one behind its end the end, and a
time that no record has reached yet is the end as well. A shift counts from what is committed, so a partition
without a committed offset cannot be shifted, and then nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from andiron.client.core.group_descriptions import CommittedOffset
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition


class ResetError(AndironError):
    """A reset that cannot be planned."""


class Target(NamedTuple):
    """Where a reset moves offsets to: one of these is set."""

    offset: int | None = None
    shift: int | None = None  # from what is committed
    time: int | None = None  # ms, or EARLIEST or LATEST


class Bounds(NamedTuple):
    """A partition's log: its two ends, and the offset at the target's time (-1 where none is that new)."""

    start: int
    end: int
    at_time: int = -1


class Move(NamedTuple):
    """What a reset does to one partition; `note` says why it is not what was asked for, if it is not."""

    partition: TopicPartition
    before: int | None
    after: int
    note: str = ""


def plan(
    target: Target,
    partitions: Iterable[TopicPartition],
    committed: Mapping[TopicPartition, CommittedOffset],
    bounds: Mapping[TopicPartition, Bounds],
) -> list[Move]:
    """A move for each partition, in the order given."""
    return [_move(target, each, committed.get(each), bounds[each]) for each in partitions]


def _move(target: Target, partition: TopicPartition, committed: CommittedOffset | None, log: Bounds) -> Move:
    before = None if committed is None else committed.offset
    wanted = _wanted(target, partition, before, log)
    if wanted < log.start:
        return Move(partition, before, log.start, f"{wanted} is before the start of the log")
    if wanted > log.end:
        return Move(partition, before, log.end, f"{wanted} is behind the end of the log")
    note = "no record is that new: the end" if target.time is not None and log.at_time < 0 else ""
    return Move(partition, before, wanted, note)


def _wanted(target: Target, partition: TopicPartition, before: int | None, log: Bounds) -> int:
    if target.offset is not None:
        return target.offset
    if target.shift is not None:
        if before is None:
            raise ResetError(f"{partition} has no committed offset to shift from; move it to a place instead")
        return before + target.shift
    return log.at_time if log.at_time >= 0 else log.end
