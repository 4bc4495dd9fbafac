"""How long do partitions stand still when a member joins, leaves, crashes?

A steady trickle flows to every partition of a topic, and ten members in five processes read it:

    settle ─▶ rest ─▶ an 11th joins ─▶ settle ─▶ it leaves ─▶ settle ─▶ kill -9 of another ─▶ settle ─▶ all leave

The pause of a partition is the longest time between two of its records being processed, by whoever owned it,
from the event until the group has settled. At rest that is the trickle's own beat. For a crash the time until
the coordinator misses the member is told apart: it is asked for the size of the group all the while.

Settled means: nobody's assignment has changed for a while, and every partition was seen a moment ago.
"""

from __future__ import annotations

import signal
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import loads
from andiron.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from andiron.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from loads import asking, diary, trickle
from servers import Raw, Server, create_topic

MEMBERS = 10
TOGETHER = 3  # members in one process; the one to be killed and the one to join have their own
LATE_S = 0.1  # a partition has paused if one of its records came this late
REST_S = 3.0
PATIENCE_S = 120.0
SESSION_LEAST_MS = 6000  # Kafka's
# All partitions grow alike, so all would write the first entries of their indexes in the same moment: in Kafka that
# is a page fault in each of 1800 mapped files, which took up to half a minute on a busy machine.
NO_INDEX = 1 << 30
PROTOCOLS = {
    "eager": {"partition.assignment.strategy": "range"},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky"},
    "new protocol": {"group.protocol": "consumer"},
}


def session_ms(heartbeat_ms: int) -> int:
    """Not a multiple of the heartbeat: a member would be missed just when the others report, or just after."""
    return SESSION_LEAST_MS + heartbeat_ms // 2


def broker_settings(heartbeat_ms: int) -> dict[str, str]:
    """The new protocol's times are the broker's to choose, the classic ones the client's: here the same."""
    times = {"session.timeout.ms": session_ms(heartbeat_ms), "heartbeat.interval.ms": heartbeat_ms}
    return {f"group.consumer.{least}{name}": str(ms) for name, ms in times.items() for least in ("", "min.")}


class DoesNotSettle(Exception):
    """A group took too long; the message says which."""


@dataclass
class Pause:
    """What an event cost, in seconds."""

    event: str
    beat_s: float
    began: float = field(default_factory=time.monotonic)
    settled: float = 0.0
    missed: float | None = None  # when the coordinator noticed, if that was watched
    first_record: float | None = None  # until a newcomer had one
    gaps: list[float] = field(default_factory=list)  # of each partition
    after_missed: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.gaps)

    @property
    def worst(self) -> float:
        return max(self.gaps)

    @property
    def paused(self) -> int:
        """Partitions that stood still for longer than the trickle's beat explains."""
        return sum(gap > self.beat_s + LATE_S for gap in self.gaps)


class Group:
    """A group, its members' processes and their diaries."""

    def __init__(self, server: Server, partitions: int, protocol: str, heartbeat_ms: int) -> None:
        self.server = server
        self.partitions = partitions
        self.protocol = protocol
        self.topic = self.name = f"{protocol.replace(' ', '-')}-{partitions}"
        self.folder = Path(server.folder) / self.name
        self.folder.mkdir()
        self.beat_s = trickle.beat_s(partitions)
        self.quiet_s = 1.0 + 3 * heartbeat_ms / 1000
        self.settings = {"group.id": self.name, **PROTOCOLS[protocol]}
        if protocol != "new protocol":
            self.settings |= {"session.timeout.ms": str(session_ms(heartbeat_ms))}
            self.settings |= {"heartbeat.interval.ms": str(heartbeat_ms)}
        self.diaries: list[diary.Reader] = []
        self.running: list[subprocess.Popen[str]] = []
        self.changed = 0.0
        self.seen: dict[int, float] = {}

    def join(self, count: int) -> subprocess.Popen[str]:
        """Start a process with some members."""
        paths = [str(self.folder / f"{len(self.diaries) + number}") for number in range(count)]
        self.diaries += map(diary.Reader, paths)
        place = {"port": self.server.port, "topic": self.topic}
        process = loads.begin("members", settings=self.settings, diaries=paths, **place)
        self.running.append(process)
        return process

    def part(self, process: subprocess.Popen[str], how: signal.Signals) -> None:
        """End a process and its members, kindly or not."""
        self.running.remove(process)
        process.send_signal(how)
        process.communicate()

    def look(self) -> None:
        """Read on in the diaries: when did assignments change, when was each partition seen?"""
        for each in self.diaries:
            for entry in each.look():
                if entry.kind == diary.SAW:
                    self.seen |= {partition: entry.when for partition, _ in entry.places()}
                elif entry.kind != diary.BEGAN:
                    self.changed = max(self.changed, entry.when)

    def settle(self, since: float) -> float:
        """Wait until the group has taken in what happened at `since`; return when that was the case."""
        self.wait(lambda: self.changed > since and time.monotonic() - self.changed > self.quiet_s)
        self.wait(lambda: len(self.seen) == self.partitions and min(self.seen.values()) > self.recently())
        return time.monotonic()

    def recently(self) -> float:
        """Since this moment each partition is seen, unless something stands still."""
        return time.monotonic() - self.beat_s - 5 * LATE_S

    def wait(self, done: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        self.look()
        while not done():
            if time.monotonic() > until:
                raise DoesNotSettle(f"{self.server.name}: the group {self.name} does not settle")
            time.sleep(0.1)
            self.look()

    def size(self, link: Raw) -> int:
        """How many members the coordinator counts."""
        if self.protocol == "new protocol":
            request = ConsumerGroupDescribeRequest(group_ids=[self.name])
            described = asking.ask(link, request, ConsumerGroupDescribeResponse, 0).groups[0].members
            return len(described)
        classic = DescribeGroupsRequest(groups=[self.name])
        return len(asking.ask(link, classic, DescribeGroupsResponse, 4).groups[0].members)

    def sightings(self) -> Iterator[tuple[int, int, float]]:
        """Each record that a member processed: its partition, offset, and when."""
        for each in self.diaries:
            for entry in each.entries:
                if entry.kind == diary.SAW:
                    yield from ((*place, entry.when) for place in entry.places())

    def close(self) -> None:
        """All leave at once."""
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.communicate()
        self.running.clear()


def play(server: Server, partitions: int, protocol: str, heartbeat_ms: int) -> list[Pause]:
    """The story of one group; what each of its events cost."""
    group = Group(server, partitions, protocol, heartbeat_ms)
    create_topic(server, group.topic, partitions=partitions, index_interval_bytes=str(NO_INDEX))
    place = {"port": server.port, "topic": group.topic}
    notes = diary.Reader(str(group.folder / "trickle"))
    source = loads.begin("trickle", partitions=partitions, notes=notes.path, **place)
    try:
        events = _events(group)
        source.terminate()
        _check(group, int(loads.end(source)["records"]))
    finally:
        source.kill()
        group.close()
    notes.look()
    _tell_gaps(group, events)
    _tell_stalls(group, events, notes)
    return events


def _events(group: Group) -> list[Pause]:
    began = time.monotonic()
    for _ in range(MEMBERS // TOGETHER):
        group.join(TOGETHER)
    victim = group.join(MEMBERS % TOGETHER)
    group.settle(began)
    rest = Pause("rest", group.beat_s)
    time.sleep(REST_S)
    rest.settled = time.monotonic()

    join = Pause("join", group.beat_s)
    newcomer = group.join(1)
    join.settled = group.settle(join.began)
    join.first_record = _first_record(group.diaries[-1])

    leave = Pause("leave", group.beat_s)
    group.part(newcomer, signal.SIGTERM)
    leave.settled = group.settle(leave.began)

    crash = Pause("crash", group.beat_s)
    group.part(victim, signal.SIGKILL)
    crash.missed = _missed(group)
    crash.settled = group.settle(crash.began)
    return [rest, join, leave, crash]


def _first_record(newcomer: diary.Reader) -> float:
    """Seconds from its subscribing to its first record."""
    times = {entry.kind: entry.when for entry in reversed(newcomer.entries)}
    return times[diary.SAW] - times[diary.BEGAN]


def _missed(group: Group) -> float:
    """When the coordinator has let go of a member."""
    with Raw(group.server.port) as link:
        while group.size(link) == MEMBERS:
            time.sleep(0.02)
    return time.monotonic()


def _check(group: Group, records: int) -> None:
    """Say so if there are records that nobody processed."""
    time.sleep(1.0)  # for what is on its way
    group.look()
    seen = {(partition, offset) for partition, offset, _ in group.sightings()}
    lost = records - len(seen)
    if lost:
        print(f"{group.server.name}, {group.name}: {lost} records were never processed")


def _tell_gaps(group: Group, events: list[Pause]) -> None:
    """For each event, each partition's longest time without a record."""
    times: dict[int, list[float]] = defaultdict(list)
    for partition, _, when in group.sightings():
        times[partition].append(when)
    for moments in times.values():
        moments.sort()
        for event in events:
            pairs = _during(event, moments)
            event.gaps.append(max((two - one for one, two in pairs), default=event.settled - event.began))
            if event.missed is not None:
                late = (two - max(one, event.missed) for one, two in pairs)
                event.after_missed.append(max(late, default=event.settled - event.missed))


def _tell_stalls(group: Group, events: list[Pause], notes: diary.Reader) -> None:
    """Say so if the trickle itself stood still: the pause is then not the group's alone."""
    moments = [entry.when for entry in notes.entries]
    for event in events:
        stall = max((two - one for one, two in _during(event, moments)), default=0.0)
        if stall > LATE_S:
            label = f"{group.server.name}, {group.name}, {event.event}"
            print(f"{label}: the trickle itself stood still for {stall * 1e3:.0f} ms")


def _during(event: Pause, moments: list[float]) -> list[tuple[float, float]]:
    """Neighbouring moments of which the second is within the event."""
    return [(one, two) for one, two in pairwise(moments) if event.began <= two <= event.settled]
