"""Offsets expire by offsets.retention.minutes; empty groups and the offsets of deleted topics are removed.

Every offsets.retention.check.interval.ms all groups are looked through. The time of an offset runs while its
group is empty, or while no member reads its topic (the group says since when); an offset that a transaction may
yet replace stays. A group without members goes when its last offset does, or when it never had one.

There may be hundreds of thousands of them and a node does all its work in one thread. So a round is walked in
pieces, each with a bound on what is looked at and on what is written, and others have their turn in between. A
piece that ends inside a group is no trouble: what it has removed is gone, and the next one begins with the same
group. If a round is forgotten (another broker takes over) the next one does its work.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from andiron.groups.group import Group, GroupContext, TimerKey
from andiron.groups.offsets.table import GroupOffsets, Offsets, tombstone
from andiron.groups.records import GroupRecord
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis, TopicPartition, wall_time
from andiron.model.machine import Decision

RECORDS_MAX = 1_000  # in one piece
LOOKED_AT_MAX = 10_000
PAUSE_MS = 1  # between two pieces

ROUND = TimerKey("offsets-expiry")
TOPICS = TimerKey("offsets-topics")

_MINUTE_MS = 60_000


class Expiry:
    """Removes expired offsets and empty groups of one shard, in rounds of several pieces."""

    def __init__(self, context: GroupContext, offsets: Offsets) -> None:
        self._context, self._offsets = context, offsets
        self._retention_ms = context.settings.offsets_retention_minutes * _MINUTE_MS
        self._ahead: deque[str] = deque()  # the groups that this round has still to look at
        self._topics: dict[str, None] = {}  # deleted ones, whose offsets may still be there

    def begin(self, now: Millis) -> None:
        """Begin the rounds, once the shard is loaded."""
        self._after(ROUND, now, self._context.settings.offsets_retention_check_interval_ms)

    def topics_deleted(self, names: list[str], now: Millis) -> Decision[GroupRecord]:
        """Remove the offsets of these topics, which were deleted."""
        self._topics.update(dict.fromkeys(names))
        return self._remove_topics(now)

    def due(self, timer: TimerKey, now: Millis) -> Decision[GroupRecord]:
        """Do the piece of work whose timer has gone off: of a round, or of deleted topics."""
        return self._remove_topics(now) if timer == TOPICS else self._walk(now)

    # ── rounds ───────────────────────────────────────────────────────────────────────

    def _walk(self, now: Millis) -> Decision[GroupRecord]:
        """One piece of a round."""
        if not self._ahead:
            self._ahead.extend({**dict.fromkeys(self._context.groups), **dict.fromkeys(self._offsets)})
        records, looked_at = list[GroupRecord](), 0
        while self._ahead and looked_at < LOOKED_AT_MAX:
            found, whole, count = self._look_at(self._ahead[0], wall_time(now), RECORDS_MAX - len(records))
            records += found
            looked_at += count
            if not whole:
                break
            self._ahead.popleft()
        interval_ms = self._context.settings.offsets_retention_check_interval_ms
        self._after(ROUND, now, PAUSE_MS if self._ahead else interval_ms)
        return Decision(None, records)

    def _look_at(self, group_id: str, now: Millis, room: int) -> tuple[list[GroupRecord], bool, int]:
        """The tombstones of a group's expired offsets; whether the group is done; how many offsets were looked at."""
        group, kept = self._context.groups.get(group_id), self._offsets.of(group_id) or GroupOffsets()
        records, count, stays = list[GroupRecord](), 1, bool(kept.open)
        for topic, partitions in kept.committed.items():
            for partition, committed in partitions.items():
                count += 1
                place = TopicPartition(topic, partition)
                since = _idle_since(group, topic, committed.committed_at)
                if (
                    place in kept.open
                    or since is None
                    or not committed.expired(now, since, self._retention_ms)
                ):
                    stays = True
                elif len(records) == room:
                    return records, False, count
                else:
                    records.append(tombstone(group_id, place))
        if group is not None and not stays and _is_empty(group):
            records += group.tombstones()
        return records, True, count

    # ── deleted topics ───────────────────────────────────────────────────────────────

    def _remove_topics(self, now: Millis) -> Decision[GroupRecord]:
        """Remove offsets of deleted topics, one piece of them."""
        records: list[GroupRecord] = []
        for name in list(self._topics):
            left = self._left_by(name, RECORDS_MAX - len(records))
            records += left
            if len(records) == RECORDS_MAX:
                self._after(TOPICS, now, PAUSE_MS)
                break
            del self._topics[name]
        return Decision(None, records)

    def _left_by(self, name: str, room: int) -> list[GroupRecord]:
        """Offsets of a topic that is gone. If there is a new one of that name by now, its own stay."""
        successor = self._context.topics.named(name)
        places = (
            (group_id, TopicPartition(name, partition))
            for group_id in self._offsets
            for partition, topic_ids in self._offsets.topic_ids(group_id, name)
            if successor is None or successor.id not in topic_ids
        )
        return [tombstone(group_id, place) for group_id, place in islice(places, room)]

    def _after(self, timer: TimerKey, now: Millis, delay_ms: int) -> None:
        self._context.timers.set(timer, Millis(now + delay_ms))


def _idle_since(group: Group | None, topic: str, committed_at: Millis) -> Millis | None:
    """From when on an offset's retention runs; for a group of offsets alone, since the commit."""
    return committed_at if group is None else group.offsets_idle_since(topic, committed_at)


def _is_empty(group: Group) -> bool:
    try:
        group.check_delete()
    except ProtocolError:
        return False
    return True
