"""The record of one step: what time it is, and what has happened in it.

    handlers, coordinators, fetchers, the quorum ── note what they did ──▶ Step ──▶ node.py, at the end of the step

A part of a node that has done something which others have to know of notes it here, and calls nobody: who is to hear
of it, and in which order, stands in one place, `Broker.end_step`. So each part can be made, read and tested with this
one object where it would otherwise have to be handed a function for everyone who might care.

    appended, replicated   a log here has grown: by its leader, or as its leader's has
    committed              its high watermark has moved, and nothing else: that is no news to followers
    metadata_grown         the metadata log has grown, or more of it is committed
    moved                  something else happened to a partition: its role, its start, its ISR
    touch                  something happened to what a request may wait for: a shard, a promise, a session, an answer
    flush                  what a partition holds is wanted on the disk
    emit                   the edge has something to do

Most steps of a busy node are produce requests for which nobody waits: then nothing is noted (`has_facts` stays False),
and a step has no end to speak of. For that the questions "does anybody wait for this?" and "does this have to get to
the disk?" are asked here and at once, by direct calls: benchmarks/bench_step.py.

Read next: waiting.py for those who wait; broker.py for the end of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.broker.replicas.partition import Partition
from andiron.log.partition_log import LogAppendInfo
from andiron.model.effects import Effect
from andiron.model.ids import Millis


class Step:
    """What a node does between two events: one object for its whole life, emptied at the end of each step."""

    __slots__ = (
        "_effects",
        "_flush_late",
        "_flush_now",
        "_touched",
        "_waiting",
        "_watched",
        "has_facts",
        "now",
    )

    def __init__(self, waiting: WaitingRoom) -> None:
        self.now = Millis(0)
        self.has_facts = False  # something that the end of the step must look at
        self._waiting, self._watched = waiting, waiting.watching
        self._touched: dict[Hashable, None] = {}
        self._flush_now: dict[Partition, None] = {}
        self._flush_late: dict[Partition, None] = {}
        self._effects: list[Effect] = []

    # ── what has happened ────────────────────────────────────────────────────────────

    def appended(self, partition: Partition, written: LogAppendInfo) -> None:
        """The leader's log has a batch more."""
        self.moved(partition)
        if partition.syncs_by_roll_only and written.base_offset != partition.log.segments.active.base:
            return  # the usual case: no flush policy, and no segment was sealed
        if written.to_disk or partition.log.flush_due(self.now):
            self.flush(partition)
        else:
            self._flush_in_time(partition)

    def replicated(self, partition: Partition) -> None:
        """A follower's log has grown, been cut, or learnt how far it is committed."""
        self.moved(partition)
        if partition.needs_flush or partition.log.flush_due(self.now):
            self.flush(partition)
        elif not partition.syncs_by_roll_only:
            self._flush_in_time(partition)

    def metadata_grown(self, partition: Partition) -> None:
        """The metadata log has grown, or more of it is committed: then it takes effect at the end of the step."""
        self.has_facts = True
        self.moved(partition)
        if partition.needs_flush:
            self.flush(partition)

    def moved(self, partition: Partition) -> None:
        """Something happened to a partition: whoever waits for it looks again."""
        producers = partition.log.producers
        if producers.unreplicated:
            producers.committed(partition.watermark)
        for watcher in partition.watchers:
            watcher.moved(partition)
            self.touch(watcher)
        self.touch(partition)

    def committed(self, partition: Partition) -> None:
        """The high watermark has moved: followers are told of that with the next records."""
        self.has_facts = True
        partition.log.producers.committed(partition.watermark)
        for watcher in partition.watchers:
            watcher.moved(partition)
            if not watcher.is_replicas:
                self.touch(watcher)
        self.touch(partition)

    def touch(self, key: Hashable) -> None:
        """Something happened to what a request may wait for: whoever watches it looks again."""
        if key in self._watched:
            self._touched[key] = None
            self.has_facts = True

    def flush(self, partition: Partition) -> None:
        """What a partition holds is wanted on the disk, as soon as can be."""
        self._flush_now[partition] = None
        partition.flush_trouble = None  # of a flush before this one
        self.has_facts = True

    def _flush_in_time(self, partition: Partition) -> None:
        """flush.ms may want it on the disk later."""
        self._flush_late[partition] = None
        self.has_facts = True

    def emit(self, effect: Effect) -> None:
        """The edge has something to do."""
        self._effects.append(effect)
        self.has_facts = True

    def later(self, wait: Wait, then: Callable[[Any], None]) -> None:
        """Go on with `then` once a wait of this node's own is over."""
        self._waiting.later(wait, then)

    # ── the end of it ────────────────────────────────────────────────────────────────

    def take_touched(self) -> list[Hashable]:
        """What is to be shown to those who wait."""
        touched = list(self._touched)
        self._touched.clear()
        return touched

    def take_flushes(self) -> tuple[list[Partition], list[Partition]]:
        """The partitions that are wanted on the disk: at once, and in time."""
        if not self._flush_now and not self._flush_late:
            return [], []
        taken = list(self._flush_now), list(self._flush_late)
        self._flush_now.clear()
        self._flush_late.clear()
        return taken

    def take_effects(self) -> list[Effect]:
        """What the edge has to do."""
        effects, self._effects = self._effects, []
        return effects
