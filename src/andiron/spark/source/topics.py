"""The source's view of the cluster: partitions of the chosen topics, their log start and end offsets.

    which (subscribe, subscribePattern, assign) ──▶ partitions ──▶ starts, ends, offsets at a time, bytes

The end is where a reader of this source must stop: the watermark or, for one that reads committed records,
the first transaction that is still open.

Everything here is asked anew each time; who asks often (stream.py, some fifty times a second when idle)
asks log_ends.py, which keeps a pace. What fails in passing is tried again by the client. A broker
that cannot be reached at all, at the start, is told in one line.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.client.core.metadata import Topic
from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.model.line import Line
from andiron.model.settings import SettingError
from andiron.spark.kafka_options import BOOTSTRAP, KafkaOptions
from andiron.spark.source.offsets import (
    AtOffsets,
    AtTime,
    AtTimes,
    Everywhere,
    Ids,
    Offsets,
    Place,
    shown,
    topics_of,
)
from andiron.spark.source.options import TopicChoice
from andiron.spark.source.plan import Log

log = logging.getLogger(__name__)

NO_MATCH = -1  # what a broker says of a time after the last record


class Unreachable(AndironError):
    """No broker answers; the message says where and why."""


class ResolvedTopics(NamedTuple):
    """The partitions that are there, and the topics that are wanted and are not."""

    partitions: list[TopicPartition]
    missing: list[str]

    def all(self) -> list[TopicPartition]:
        """The partitions, where none is missing."""
        if self.missing:
            raise no_such(self.missing)
        return self.partitions


def no_such(missing: Iterable[str]) -> SettingError:
    """What to raise where a topic is wanted that never was."""
    names = [f"topic {each!r}" for each in missing]
    return SettingError("subscribe, assign", f"there is no {', no '.join(names)} in the cluster")


@contextmanager
def reaching(kafka: KafkaOptions) -> Iterator[None]:
    """Say in one line that there is nobody at the address that was given."""
    try:
        yield
    except ProtocolError as error:
        if error.code is not ErrorCode.BROKER_NOT_AVAILABLE:
            raise
        raise Unreachable(
            f"no broker answers at {BOOTSTRAP}={kafka.bootstrap}: {error.detail}; is it running?"
        ) from None


class Topics:
    """The topics that one source reads."""

    def __init__(self, client: Client, which: TopicChoice, *, committed: bool) -> None:
        self.which = which
        self.committed = committed
        self._client = client
        self._admin = Admin(client)
        self._has_warned = False  # of partitions that are not there

    # ── partitions ───────────────────────────────────────────────────────────────────

    def find(self) -> ResolvedTopics:
        """The partitions to be read, as they are now."""
        if self.which.pattern is not None:
            there = [each for each in self._client.topics() if not each.internal]
            return ResolvedTopics(_partitions(each for each in there if self.which.matches(each.name)), [])
        if self.which.partitions:
            return self._find_assigned(self.which.partitions)
        there = self._refreshed(self.which.topics)
        names = {each.name for each in there}
        return ResolvedTopics(_partitions(there), [each for each in self.which.topics if each not in names])

    def _find_assigned(self, wanted: Collection[TopicPartition]) -> ResolvedTopics:
        """These partitions. One that its topic does not have is passed over, as Spark's own source does it."""
        named = topics_of(wanted)
        there = self._refreshed(named)
        names, known = {each.name for each in there}, set(_partitions(there))
        absent = [each for each in wanted if each.topic in names and each not in known]
        if absent and not self._has_warned:
            log.warning(Line(
                "Partitions are assigned that do not exist; they are read once they do",
                partition=shown(absent),
            ))  # fmt: skip
            self._has_warned = True
        return ResolvedTopics(
            [each for each in wanted if each in known], [each for each in named if each not in names]
        )

    def reach(self) -> None:
        """Wait for the cluster, as one does who knows that it was there a moment ago."""
        self._client.reach()

    def ids(self) -> Ids:
        """The id of each topic, as it was last seen: one of the same name made later has another."""
        topics = self._client.metadata.topics
        return {name: topic.id_text for name, topic in topics.items() if topic.id != NO_TOPIC_ID}

    def _refreshed(self, names: Iterable[str]) -> list[Topic]:
        wanted = list(names)
        self._client.retry(lambda: self._client.refresh(wanted))
        known, errors = self._client.metadata.topics, self._client.metadata.errors
        for name in wanted:
            code = errors.get(name)
            if name not in known and code not in (None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
                self._client.metadata.topic(name)  # raises what the broker said
        return [known[name] for name in wanted if name in known]

    # ── offsets ──────────────────────────────────────────────────────────────────────

    def starts(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """The log start offsets; none of a partition that is gone."""
        return self._at(dict.fromkeys(self._still_there(partitions), EARLIEST))

    def ends(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """The offsets at which reading stops: high watermarks, or last stable offsets for read_committed."""
        return self._at(dict.fromkeys(partitions, LATEST))

    def watermarks(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """The high watermarks, whatever transactions are open."""
        return self._at(dict.fromkeys(partitions, LATEST), committed=False)

    def logs(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, Log]:
        """What there is of these partitions, whatever transactions are open; nothing of one that is gone."""
        starts = self.starts(partitions)
        ends = self.watermarks(starts)
        return {each: Log(start, ends[each]) for each, start in starts.items()}

    def at_times(self, times: Mapping[TopicPartition, int]) -> Offsets:
        """The first record at or after a time (ms); NO_MATCH where there is none."""
        return self._at(times)

    def record_bytes(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, float]:
        """What a record takes on disk, on average over its log; nothing of an empty one."""
        wanted = list(partitions)
        by_leader: dict[int, list[TopicPartition]] = {}
        for each in wanted:
            by_leader.setdefault(self._client.metadata.leader(each), []).append(each)
        sizes: dict[TopicPartition, int] = {}
        for node_id, group in by_leader.items():
            for directory in self._admin.log_dirs(node_id, group):
                sizes |= directory.sizes
        logs = {each: log for each, log in self.logs(wanted).items() if log.end > log.start}
        return {each: sizes[each] / (log.end - log.start) for each, log in logs.items() if each in sizes}

    def _still_there(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        wanted = list(partitions)
        there = set(_partitions(self._refreshed(topics_of(wanted))))
        return [each for each in wanted if each in there]

    def _at(self, times: Mapping[TopicPartition, int], *, committed: bool | None = None) -> Offsets:
        isolated = self.committed if committed is None else committed
        found = self._admin.list_offsets(times, committed=isolated)
        return {partition: at.offset for partition, at in found.items()}

    # ── startingOffsets and endingOffsets ────────────────────────────────────────────

    def resolve(
        self, place: Place, partitions: list[TopicPartition], ends: Mapping[TopicPartition, int]
    ) -> Offsets:
        """The offset of a place in each of the partitions, whose ends are known; the place tells of all of them.

        NO_MATCH stands where a partition has no record as new as the time asked for.
        """
        match place:
            case Everywhere(offset):
                return (
                    self.starts(partitions)
                    if offset == EARLIEST
                    else {each: ends[each] for each in partitions}
                )
            case AtOffsets(offsets):
                first = self.starts([each for each in partitions if offsets[each] == EARLIEST])
                return {
                    each: first[each]
                    if each in first
                    else ends[each]
                    if offsets[each] == LATEST
                    else offsets[each]
                    for each in partitions
                }
            case AtTime(timestamp):
                return self.at_times(dict.fromkeys(partitions, timestamp))
            case AtTimes(timestamps):
                return self.at_times({each: timestamps[each] for each in partitions})

    def resolve_start(
        self,
        place: Place,
        partitions: list[TopicPartition],
        ends: Mapping[TopicPartition, int],
        late_is_latest: bool,
    ) -> Offsets:
        """Where to start, where a time after the last record is an error or, if so wanted, the end."""
        found = self.resolve(place, partitions, ends)
        for partition, offset in found.items():
            if offset == NO_MATCH:
                if not late_is_latest:
                    raise SettingError(
                        "startingTimestamp, startingOffsetsByTimestamp",
                        f"{partition} has no record as new as that; to start at its end instead, say "
                        "startingOffsetsByTimestampStrategy=latest",
                    )
                found[partition] = ends[partition]
        return found


def _partitions(topics: Iterable[Topic]) -> list[TopicPartition]:
    return [each for topic in topics for each in topic.names()]


def check_named(place: Place, partitions: list[TopicPartition]) -> None:
    """Refuse a place that is told partition by partition unless it tells all that are read, and no other."""
    match place:
        case AtOffsets(named) | AtTimes(named) if named.keys() != set(partitions):
            raise SettingError(
                "startingOffsets, endingOffsets and the like",
                "must name every partition that is read and no other (-2 is the earliest, -1 the latest); "
                f"named are {shown(list(named))}, read are {shown(partitions)}",
            )
