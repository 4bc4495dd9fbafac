"""Log end offsets for a stream: asked at a pace, and asked again before a loss of data is believed.

    read up to ──────▶ ·················· end             more to read
    read up to ──────────────────────────▶ end            nothing new
    read up to ──────────────────────────▶       end ◀─── before what was read: lost, or asked too early

Spark asks for the latest offset dozens of times a second while it idles. The cluster is asked ten times at
the most: who comes too soon waits for the moment, and is not told what was so a moment ago. Spark's
processAllAvailable relies on it that what was written before is seen. For `Trigger.AvailableNow` the ends
are fixed once, and the query is done when it gets there.

A partition that is suddenly gone, or ends before what was read of it, may be a broker that is behind the
others; it is asked again a few times before it is believed. Once believed, it is a loss: the query fails, or
goes on without that partition. If it is there again, made anew under the same name, it comes back with
the next batch as a new partition, from its beginning. So no record of the new log is passed over, and
what was done is in Spark's offset log, batch by batch. That a topic was made anew is known by its id, which
stands beside the offsets: also after a restart, and also where the new log is the longer one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.spark.source.offsets import Ids, Offsets, shown, topics_of
from andiron.spark.source.options import SourceOptions
from andiron.spark.source.topics import Topics, no_such

PACE_S = 0.1


class ReadableEnds(NamedTuple):
    """The ends of what can be read on from an offset, and a sentence for each loss."""

    ends: Offsets
    losses: list[str]


class LogEnds:
    """The log end offsets of all partitions of a source, as last asked for."""

    def __init__(
        self,
        topics: Topics,
        options: SourceOptions,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.latest: Offsets | None = None  # as last asked for
        self.is_fixed = False
        self._topics = topics
        self._options = options
        self._clock, self._sleep = clock, sleep
        self._asked_at = float("-inf")
        self._missing: list[str] = []
        self._given_up: set[str] = set()

    def now(self) -> Offsets:
        """The ends of all partitions that are to be read."""
        if self.latest is not None and self.is_fixed:
            return self.latest
        too_soon_s = self._asked_at + PACE_S - self._clock()
        if too_soon_s > 0:
            self._sleep(too_soon_s)
        self.latest = self._ask()
        return self.latest

    def fix(self) -> None:
        """Fix the ends as they are now, for Trigger.AvailableNow."""
        self.latest, self.is_fixed = self._ask(), True

    def ids(self) -> Ids:
        """The ids of the topics, as last asked for."""
        return self._topics.ids()

    def beyond(self, start: Mapping[TopicPartition, int], ids: Mapping[str, str]) -> ReadableEnds:
        """The ends, as seen by a reader that has come to `start` in the topics with these ids."""
        ends = self.now()
        anew = self._made_anew(start, ids)
        doubtful = _doubtful(start, ends) | anew
        for attempt in range(self._options.offset_attempts):
            if not any(self._options.which.includes(each) for each in doubtful - anew):
                break
            if attempt:
                self._sleep(self._options.offset_interval_ms / 1000)
            ends = self.latest = self._ask_again(start, ids, doubtful)
            anew = self._made_anew(start, ids)
            doubtful = _doubtful(start, ends) | anew
        losses = [*self._never_there(start), *self._tell(start, ends, doubtful, anew)]
        return ReadableEnds({each: end for each, end in ends.items() if each not in doubtful}, losses)

    # ── requests ─────────────────────────────────────────────────────────────────────

    def _ask(self) -> Offsets:
        for _ in range(self._options.offset_attempts - 1):
            try:
                return self._ask_once()
            except ProtocolError as error:
                if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    raise  # but not a topic that is deleted between two questions
        return self._ask_once()

    def _ask_once(self) -> Offsets:
        found = self._topics.find()
        ends = self._topics.ends(found.partitions)
        self._missing, self._asked_at = found.missing, self._clock()
        return ends

    def _ask_again(
        self,
        start: Mapping[TopicPartition, int],
        ids: Mapping[str, str],
        doubtful: Collection[TopicPartition],
    ) -> Offsets:
        """Ask for the ends once more; where they were fixed, for those of doubtful partitions alone."""
        fresh = self._ask()
        short = [each for each in doubtful if each in fresh and fresh[each] < start[each]]
        if short and self._topics.committed:
            # It was read with another isolation level then, and the log still reaches that far.
            for each, end in self._topics.watermarks(short).items():
                fresh[each] = max(fresh[each], min(start[each], end))
        if not self.is_fixed or self.latest is None:
            return fresh
        anew = self._made_anew(start, ids)
        fixed = dict(self.latest)
        for each in {*doubtful, *anew}:
            fixed.pop(each, None)
            if each in fresh:
                fixed[each] = fresh[each] if each in anew else min(fresh[each], start[each])
        return fixed

    # ── losses ───────────────────────────────────────────────────────────────────────

    def _made_anew(self, start: Mapping[TopicPartition, int], ids: Mapping[str, str]) -> set[TopicPartition]:
        """Partitions of topics that have another id than when they were read."""
        anew = {name for name, id in self.ids().items() if ids.get(name, id) != id}
        return {each for each in start if each.topic in anew}

    def _never_there(self, start: Mapping[TopicPartition, int]) -> list[str]:
        """Raise for partitions that the options name, that do not exist and were never read."""
        known = {*topics_of(start), *self._given_up}
        unknown = [each for each in self._missing if each not in known]
        if not unknown:
            return []
        if self._options.fail_on_data_loss:
            raise no_such(unknown)
        self._given_up.update(unknown)
        return [f"{', '.join(unknown)}: not there"]

    def _tell(
        self,
        start: Mapping[TopicPartition, int],
        ends: Offsets,
        doubtful: set[TopicPartition],
        anew: set[TopicPartition],
    ) -> list[str]:
        which = self._options.which
        foreign = {each for each in doubtful if not which.includes(each)}
        gone = {each for each in doubtful - foreign - anew if each not in ends}
        told = []
        if foreign:
            told.append(
                f"{shown(foreign)}: in the checkpoint, but not in {which}; a query that reads something else "
                "needs a checkpointLocation of its own"
            )
        if anew - foreign:
            told.append(f"{shown(anew - foreign)}: deleted and made anew, with what was not read of it")
        if gone:
            told.append(f"{shown(gone)}: gone, with what was not read of it")
        for each in sorted(doubtful - foreign - anew - gone):
            told.append(f"{each}: was read up to offset {start[each]}, and its log ends at {ends[each]} now")
        return told


def _doubtful(start: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> set[TopicPartition]:
    """Partitions that were read and are gone, or end before what was read."""
    return {each for each, offset in start.items() if ends.get(each, -1) < offset}
