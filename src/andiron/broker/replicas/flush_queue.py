"""Group commit: fsyncs asked for by partitions, given to the edge one at a time each.

A partition that wants its bytes on the disk says so; the node sends one Flush out and
keeps working. Whatever is appended while that fsync runs is covered by the next one, so
a thousand acknowledgements can share a single fsync:

    append ─ want ─▶ Flush ┄┄┄ fsync ┄┄┄▶ Flushed ─▶ acknowledgements up to its end
         append ─ want ···· waits ······· ▶ Flush ┄┄┄ fsync ┄┄┄▶ Flushed ─▶ …

At most one Flush per partition is under way. An fsync that fails is final: the kernel may
have dropped the pages, so what was not on disk before cannot be vouched for any more,
and the partition refuses to go on.

A file that is no partition's (a snapshot of the metadata) goes the same way, once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.replicas.partition import Partition
from andiron.log.disk import File
from andiron.model.effects import Flush, Flushed
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.model.line import Line

log = logging.getLogger(__name__)

Synced = Callable[[str | None, Millis], None]  # is told what went wrong, if something did


class FlushQueue:
    """The fsyncs of a node: wanted, and under way."""

    def __init__(self) -> None:
        self._wanted: dict[Partition, None] = {}
        self._under_way: dict[int, tuple[Partition, Offset]] = {}
        self._busy: dict[Partition, int] = {}
        self._refused: list[Partition] = []
        self._files: list[tuple[File, Synced]] = []  # wanted
        self._synced: dict[int, Synced] = {}  # under way
        self._token = 0
        self._log_limiter = LogLimiter()

    def want(self, partition: Partition) -> None:
        """Bring what this partition holds now to the disk, soon."""
        self._wanted[partition] = None
        partition.flush_trouble = None

    def sync(self, file: File, synced: Synced) -> None:
        """Bring a file that is no partition's to the disk, and say so."""
        self._files.append((file, synced))

    def start(self, now: Millis) -> list[Flush]:
        """The flushes that can begin now; asked at the end of each step."""
        begun = self._start_files() if self._files else []
        if not self._wanted:
            return begun
        for partition in [p for p in self._wanted if p not in self._busy]:
            del self._wanted[partition]
            try:
                files, end = partition.log.unflushed_files()
            except ProtocolError as error:
                self._could_not_begin(partition, error, now)
                continue
            self._token += 1
            self._under_way[self._token] = partition, end
            self._busy[partition] = self._token
            begun.append(Flush(self._token, tuple(files)))
        return begun

    def _start_files(self) -> list[Flush]:
        begun, files, self._files = [], self._files, []
        for file, synced in files:
            self._token += 1
            self._synced[self._token] = synced
            begun.append(Flush(self._token, (file,)))
        return begun

    def done(self, event: Flushed, now: Millis) -> Partition | None:
        """An fsync is over: whoever waited for this partition may look again. None: it was of no partition."""
        synced = self._synced.pop(event.token, None)
        if synced is not None:
            synced(event.error, now)
            return None
        partition, end = self._under_way.pop(event.token)
        del self._busy[partition]
        if event.error is None:
            partition.note_flushed(end)
        else:
            log.error(Line(
                "Partition {partition} is offline until a restart, for an fsync failed; check the disk, then restart",
                partition=partition.name, error=event.error,
            ))  # fmt: skip
            partition.fail(f"fsync failed: {event.error}")
        return partition

    def take_refused(self) -> list[Partition]:
        """The partitions whose flush could not begin: whoever waits for it is to be told."""
        refused, self._refused = self._refused, []
        return refused

    def _could_not_begin(self, partition: Partition, error: ProtocolError, now: Millis) -> None:
        """The disk is full, say. Nothing is lost by that: the next flush that is wanted may well begin."""
        if (suppressed := self._log_limiter.again(partition.name, now)) is not None:
            log.error(Line(
                "Partition {partition} cannot be flushed; check the disk",
                partition=partition.name, error=error.detail, suppressed=suppressed,
            ))  # fmt: skip
        partition.flush_trouble = error.detail
        self._refused.append(partition)

    def forget(self, partition: Partition) -> None:
        """The partition has been deleted; what is under way may end as it likes."""
        self._wanted.pop(partition, None)
