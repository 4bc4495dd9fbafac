"""Replicas on their way from one directory of this broker to another (KIP-113).

    AlterReplicaLogDirs ─▶ an empty copy ─▶ filled, a slice a turn ─▶ brought to the disk ─▶ takes the log's place
                           in the directory  from the log, as a        while the log goes    the controller is told
                           it goes to        follower would             on growing            where it lies now

The copy follows the log beside it by the rules by which a follower follows its leader, so that whatever is cut from
the log is cut from the copy. It takes the log's place in a step in which both are the same, and all of it is on the
disk: what was safe before is safe after. log_directories.py has the names that folders have meanwhile, and what a
start makes of them.

One replica is copied at a time, no faster than replica.alter.log.dirs.io.max.bytes.per.second. A move that fails
(a full disk) leaves the replica where it is, and says so in the log.

Read next: replication/follower.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from andiron.broker.node.patience import MOVE_PAUSE_MS, MOVE_RESUME_MS
from andiron.broker.node.step import Step
from andiron.broker.node.timetable import Timetable
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replica_manager import ReplicaManager
from andiron.broker.replicas.replication_quota import ReplicationQuota
from andiron.log.partition_log import PartitionLog
from andiron.log.storage import storage
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import LeaderEpoch, Millis, Offset, TopicPartition
from andiron.model.line import Line
from andiron.model.settings import KIB, MIB
from andiron.replication.follower import FetchPartitionData, FollowerReplica, Next

SLICE_BYTES = 256 * KIB  # copied in one step
SYNC_BYTES = 64 * MIB  # after so many the copy is brought to the disk, beside the loop
REST_BYTES = 1 * MIB  # of the copy, that may be brought to the disk within a step
LONGEST_NAME = 200  # of a topic: the folder of a copy is called longer

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Move:
    """One replica on its way."""

    partition: Partition
    path: str  # of the directory it goes to
    copy: PartitionLog
    follower: FollowerReplica
    unsynced: int = 0  # bytes of the copy that were written since a flush of it began
    syncing: bool = False

    @property
    def lag(self) -> int:
        """How many records the copy is behind."""
        return max(0, self.partition.log.end - self.copy.end)


class ReplicaMoves:
    """The replicas that move from one log directory to another (KIP-113)."""

    def __init__(
        self, directories: LogDirectories, replica_manager: ReplicaManager, flush_queue: FlushQueue,
        quota: ReplicationQuota, timetable: Timetable, step: Step,
    ) -> None:  # fmt: skip
        self._directories, self._replica_manager, self._flush_queue = (
            directories,
            replica_manager,
            flush_queue,
        )
        self._quota, self._timetable, self._step = quota, timetable, step
        self._moves: dict[TopicPartition, Move] = {}
        self._turn_is_due = False

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves.values())

    def start(self, now: Millis) -> None:
        """What was under way when the node stopped begins again, when its partitions are open."""
        if self._directories.unfinished:
            self._timetable.at(Millis(now + MOVE_RESUME_MS), self._resume)

    def begin(self, partition: Partition, path: str, now: Millis) -> None:
        """Move a replica to the directory at `path`. Where it lies there already, a move to another one ends."""
        name = partition.name
        under_way = self._moves.get(name)
        if under_way is not None:
            if under_way.path == path:
                return
            self._drop(under_way, now)
        if self._directories.directory_of(name) == path:
            return
        if len(name.topic) > LONGEST_NAME:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(f"the name of {name} is too long for a copy of it")
        held = partition.log
        copy = self._directories.open_future(name, partition.topic_id, held.settings, path, now)
        self._moves[name] = Move(partition, path, copy, FollowerReplica(copy, held.start))
        log.info(Line(
            "Partition {partition} moves to another log directory",
            partition=name, dir=self._directories.directory_of(name), other_dir=path,
        ))  # fmt: skip
        self._take_turns(now)

    # ── a turn ───────────────────────────────────────────────────────────────────────

    def _take_turns(self, due: Millis) -> None:
        if not self._turn_is_due and any(not move.syncing for move in self):
            self._turn_is_due = True
            self._timetable.at(due, self._turn)

    def _turn(self, now: Millis) -> None:
        """Bring the first copy that can be a little further."""
        self._turn_is_due = False
        if self._quota.is_spent(now):
            self._take_turns(Millis(now + MOVE_PAUSE_MS))
            return
        move = next((each for each in self if not each.syncing), None)
        if move is None:
            return
        try:
            self._advance(move, now)
        except (OSError, ProtocolError) as error:
            self._fail(move, error, now)
        self._take_turns(now)

    def _advance(self, move: Move, now: Millis) -> None:
        partition = move.partition
        if partition.retired or partition.failure is not None:
            self._drop(move, now)
            return
        copied = self._copy(move, now)
        self._quota.spend(copied, now)
        move.unsynced += copied
        if not copied and move.unsynced <= REST_BYTES:
            self._finish(move, now)
        elif not copied or move.unsynced >= SYNC_BYTES:
            self._sync(move)

    def _copy(self, move: Move, now: Millis) -> int:
        """Copy the next slice; returns its bytes, 0 if the copy has all that the log has."""
        held, copy, follower = move.partition.log, move.copy, move.follower
        if copy.settings is not held.settings:
            copy.replace_settings(held.settings)
        position = follower.position()
        if copy.end > copy.start and (parted := self._parted(move)) is not None:
            follower.take(FetchPartitionData(diverging=parted), now)
            position = follower.position()
        if not held.start <= position.offset <= held.end:
            follower.go_to(held.start, held.end, now)
        slice = held.read(copy.end, SLICE_BYTES, held.end)
        if slice is None:
            self._end_alike(held, copy, now)
            return 0
        with storage(held.partition):
            records = slice.read()
        done = follower.take(
            FetchPartitionData(records=records, watermark=held.end, log_start=held.start), now
        )
        assert done is Next.FETCH, "it was asked for what is there"
        copy.producers.committed(copy.end)
        return len(records)

    def _parted(self, move: Move) -> tuple[LeaderEpoch, Offset] | None:
        """Where the copy parts from the log, which may have been cut and written to again; None if it does not."""
        held, position = move.partition.log, move.follower.position()
        epoch, end = held.epochs.end_of(position.last_epoch, held.end)
        return (epoch, end) if epoch < position.last_epoch or end < position.offset else None

    def _end_alike(self, held: PartitionLog, copy: PartitionLog, now: Millis) -> None:
        """A log may end beyond its last batch, where nothing stands any more: so must the copy, in a new segment."""
        if copy.start == copy.end < held.end:
            copy.restart_at(held.end, now)
        elif copy.end < held.end:
            copy.end = held.end
            if not copy.roll_if_due(now, at_once=True):
                raise ErrorCode.KAFKA_STORAGE_ERROR.error(f"no segment of the copy can begin at {held.end}")
        copy.advance_start(held.start)

    def _sync(self, move: Move) -> None:
        """Bring the copy to the disk, beside the loop; it goes on when that is done."""
        files, end = move.copy.unflushed_files()
        left = len(files)
        move.syncing, move.unsynced = True, 0

        def synced(error: str | None, now: Millis) -> None:
            nonlocal left
            left -= 1
            if error is not None and self._moves.get(move.partition.name) is move:
                self._fail(move, OSError(error), now)
            elif left == 0:
                move.copy.note_flushed(end)
                move.syncing = False
                self._take_turns(now)

        for file in files:
            self._flush_queue.sync(file, synced)

    # ── its end ──────────────────────────────────────────────────────────────────────

    def _finish(self, move: Move, now: Millis) -> None:
        """The copy is the same as the log: it takes its place."""
        partition, held = move.partition, move.partition.log
        move.copy.producers = held.producers  # which may know of some whose batches are gone
        move.copy.epochs = held.epochs.copy()  # and so may these
        del self._moves[partition.name]
        try:
            replacing = self._directories.replace(held, move.copy, move.path, now)
        except (OSError, ProtocolError) as error:
            if self._directories.is_in_place(held):
                raise
            log.error(Line(
                "Partition {partition} is offline: its copy cannot take its place; check the disk, then restart",
                partition=partition.name, dir=move.path, error=error,
            ))  # fmt: skip
            partition.fail(f"it could not be moved to {move.path}: {error}")
            return
        replacing.producers = (
            held.producers
        )  # a snapshot knows the last batch of each, and they are asked for five
        self._replica_manager.replace_log(partition, replacing)
        log.info(Line(
            "Partition {partition} has moved to another log directory",
            partition=partition.name, dir=move.path,
        ))  # fmt: skip
        self._step.moved(partition)

    def _fail(self, move: Move, error: Exception, now: Millis) -> None:
        log.error(Line(
            "Partition {partition} cannot move to another log directory and stays where it is",
            partition=move.partition.name, other_dir=move.path, error=error,
        ))  # fmt: skip
        self._drop(move, now)

    def _drop(self, move: Move, now: Millis) -> None:
        self._moves.pop(move.partition.name, None)
        try:
            self._directories.drop_future(move.copy, now)
        except (OSError, ProtocolError) as error:
            log.warning(Line(
                "Copy of partition {partition} cannot be removed before the next start",
                partition=move.partition.name, dir=move.copy.directory, error=error,
            ))  # fmt: skip

    def _resume(self, now: Millis) -> None:
        unfinished = self._directories.unfinished
        for name, path in list(unfinished.items()):
            partition = self._replica_manager.peek(name)
            if partition is not None:
                del unfinished[name]
                try:
                    self.begin(partition, path, now)
                except (OSError, ProtocolError) as error:
                    log.error(Line(
                        "Partition {partition} cannot go on moving to another log directory",
                        partition=name, other_dir=path, error=error,
                    ))  # fmt: skip
        if unfinished and (self._replica_manager.is_behind or not len(self._replica_manager)):
            self._timetable.at(Millis(now + MOVE_RESUME_MS), self._resume)
