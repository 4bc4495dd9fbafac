"""A member of a group: owns partitions for a while, reads on in each, and commits how far it has come.

    assigned ──▶ where were we? (OffsetFetch) ──▶ read, commit, read, commit … ──▶ taken away

What it reads it makes up. A member begins where the group's last commit stands and only ever goes on, so the committed
offset of a partition grows whoever owns it, as long as nobody commits who does not (invariants/progress.py).

The one exception is the protocol's: a commit that is late, of a member that still owns the partition, is taken. So a
member whose commit got no answer commits nothing until that can no longer arrive.

Read next: classic_member.py, consumer_member.py: how it comes to own partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.sim.clients.client import Gone, Script, Topic
from andiron.sim.clients.patient import Asking, Dropped, Patient, Refused
from andiron.sim.clients.signposts import GROUP, Key
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

COMMITS_WITH_EPOCH = 9  # the version of OffsetCommit


@dataclass(frozen=True, slots=True)
class MemberHabits:
    """What kind of member it is."""

    group: str
    topic: str
    instance_id: str | None
    pace_ms: int
    session_ms: int
    rebalance_ms: int
    fragility: float
    stays: int  # rounds, before it leaves and comes again


class Member(Patient):
    """One member of a group, by whichever protocol."""

    def __init__(self, world: World, network: Network, name: str, habits: MemberHabits) -> None:
        super().__init__(world, network, name)
        self.habits = habits
        self.key: Key = GROUP, habits.group
        self.fragility = habits.fragility
        self.timeout_ms = 8_000  # a rebalance may take so long
        self.topic: Topic | None = None
        self.member_id = ""
        self.epoch = -1  # or generation
        self.positions: dict[int, int | None] = {}  # of the partitions that it owns; None: to be found out
        self.settled = False  # it has what it is to have
        self._rounds = 0
        self._commits_from = Millis(0)

    def live(self) -> Script:
        while not (self.is_closing and self.settled):
            try:
                yield from self.connected()
                if self.topic is None:
                    yield from self._find_topic()
                else:
                    yield from self.turn(self.topic)
            except Gone:
                self.was_interrupted()
            except Refused as refused:
                self.world.note(self.name, "is refused", refused.code.name)
                yield from self.was_refused(refused.code)
            except Dropped:
                self.commit_late(list(self.positions))
                self.begin_anew()
                yield from self.drop_dead(2 * self.habits.session_ms)
            yield self.chance.randint(1, self.habits.pace_ms)
        yield from self._go()

    # ── for each protocol to say ─────────────────────────────────────────────────────

    def turn(self, topic: Topic) -> Script:
        """One round of what members do."""
        raise NotImplementedError

    def was_interrupted(self) -> None:
        """Nobody knows what became of the last request."""

    def was_refused(self, code: ErrorCode) -> Script:
        """The coordinator said no."""
        raise NotImplementedError

    def leave(self) -> Script:
        """Tell the coordinator that it goes."""
        raise NotImplementedError

    # ── coming and going ─────────────────────────────────────────────────────────────

    def _find_topic(self) -> Script:
        topics = yield from self.find_all([self.habits.topic, *sorted(INTERNAL)])
        self.topic = next((topic for topic in topics if topic.name == self.habits.topic), None)

    def begin_anew(self) -> None:
        """Know nothing; own nothing."""
        self.member_id, self.epoch, self.positions, self.settled = "", -1, {}, False

    def rounds_are_over(self) -> bool:
        """Whether it has been there for long enough."""
        self._rounds += 1
        return self._rounds % self.habits.stays == 0

    def _go(self) -> Script:
        """Leave in good order, or just be silent: the others will notice."""
        try:
            yield from self.connected()
            if self.chance.random() < 0.6:
                yield from self.leave()
        except (Gone, Refused):
            pass

    # ── offsets ──────────────────────────────────────────────────────────────────────

    def own(self, partitions: list[int]) -> None:
        """These are its own from now on, and no others."""
        self.positions = {index: self.positions.get(index) for index in partitions}

    def find_places(self, topic: Topic) -> Asking:
        """Find out where to begin in what it has come to own."""
        missing = [index for index, position in self.positions.items() if position is None]
        if not missing:
            return
        wanted = OffsetFetchRequestTopics(topic.name, partition_indexes=missing)
        group = OffsetFetchRequestGroup(self.habits.group, topics=[wanted])
        request = OffsetFetchRequest(groups=[group], require_stable=True)
        response = yield from self.insist(request, 8, _fetched_code, of=self.key, again=True)
        for found in response.groups[0].topics[0].partitions:
            if found.partition_index in self.positions:
                self.positions[found.partition_index] = max(0, found.committed_offset)

    def commit(self, topic: Topic, version: int) -> Asking:
        """Read on, and say so."""
        places = self._places()
        if not places or self.world.now < self._commits_from:
            return
        read = {index: position + self.chance.randint(0, 4) for index, position in places.items()}
        self.positions |= read
        try:
            request = self._commitment(topic, read)
            yield from self.insist(request, version, _committed_code, of=self.key, again=False, tries=1)
        except (Gone, Refused):
            self._commits_from = Millis(self.world.now + self.network.late_ms)
            raise

    def commit_late(self, lost: list[int]) -> None:
        """Say how far it has come in what it is about to lose, but too late, more often than not."""
        places = {index: position for index, position in self._places().items() if index in lost}
        if self.topic and places and self.world.now >= self._commits_from and self.chance.random() < 0.5:
            at = self.signposts.coordinator_of(self.key)
            self.haunt(self._commitment(self.topic, places), COMMITS_WITH_EPOCH, at)
            # It may come to own them again by then.
            self._commits_from = Millis(self.world.now + self.network.late_ms)

    def _places(self) -> dict[int, int]:
        return {index: position for index, position in self.positions.items() if position is not None}

    def _commitment(self, topic: Topic, places: dict[int, int]) -> OffsetCommitRequest:
        partitions = [
            OffsetCommitRequestPartition(index, position, committed_metadata="")
            for index, position in places.items()
        ]
        return OffsetCommitRequest(
            self.habits.group, self.epoch, self.member_id, self.habits.instance_id,
            topics=[OffsetCommitRequestTopic(topic.name, topic.id, partitions)],
        )  # fmt: skip


def _first_of(codes: list[int]) -> int:
    return next((code for code in codes if code), 0)


def _committed_code(response: Any) -> int:
    return _first_of([one.error_code for topic in response.topics for one in topic.partitions])


def _fetched_code(response: Any) -> int:
    group = response.groups[0]
    return _first_of([group.error_code, *(one.error_code for t in group.topics for one in t.partitions)])
