"""A classic group: its members, its generation, and where it stands between two of them.

A generation has one protocol that all its members support, one leader among them, and one assignment, which
the leader makes. The members of a generation are settled when the joining ends; the group is written to the log
when their assignments are known (records.py), and all that happens in between is soft.

This module keeps the tables in step (who waits, who is static, how many support what) and answers what may be
asked of any group (group.py). Its states are in states.py; what moves it from one to the next, in rebalance.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.states import TRANSITIONS, ClassicState, GroupEvent
from andiron.groups.classic.subscription import subscribed_topics
from andiron.groups.group import CLASSIC, Caller, TimerKey
from andiron.groups.group_memory import GROUP_BYTES, MEMBER_BYTES
from andiron.groups.records import GroupMetadataKey, GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, wall_time
from andiron.model.invariant import invariant
from andiron.model.machine import Promise
from andiron.model.timers import Timers
from andiron.wire.consumer_protocol import PROTOCOL_TYPE

SESSION, JOIN, SYNC = "classic-session", "classic-join", "classic-sync"
GENERATION_MASK = (1 << 31) - 1  # a generation is never negative: -1 is that of a caller in none


@dataclass(slots=True)
class InitialDelay:
    """How long the first rebalance of an empty group may still be put off for others to come."""

    left_ms: int
    has_newcomers: bool = False


class ClassicGroup:
    """Members that agree among themselves who reads what."""

    kind = CLASSIC

    def __init__(self, id: str, timers: Timers[TimerKey], since: Millis | None) -> None:
        self.id = id
        self.state = ClassicState.EMPTY
        self.since = since  # when it came to its state, if that is known
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.pending: dict[str, None] = {}  # ids of dynamic members that have yet to come back with them
        self.unsynced: dict[str, None] = {}  # members that have not asked for this generation's assignment
        self.initial: InitialDelay | None = None
        self._timers = timers
        self._static: dict[str, str] = {}  # member id by instance id
        self._support: dict[str, int] = {}  # how many members have each protocol
        self._joining = 0  # members that wait for an answer to JoinGroup
        self._topics: frozenset[str] | None = None
        self._weight = GROUP_BYTES + len(id)

    # ── members ──────────────────────────────────────────────────────────────────────

    def add_pending(self, member_id: str) -> None:
        """A dynamic member has been given an id to send its JoinGroup with (MEMBER_ID_REQUIRED, KIP-394)."""
        self.pending[member_id] = None
        self._weight += MEMBER_BYTES + len(member_id)

    def _remove_pending(self, member_id: str) -> None:
        if member_id in self.pending:
            del self.pending[member_id]
            self._weight -= MEMBER_BYTES + len(member_id)

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """A member comes in; the first one leads and says what kind of group it is."""
        self.protocol_type = protocol_type if not self.members else self.protocol_type
        self.leader = self.leader or member.id
        self.members[member.id] = member
        self._remove_pending(member.id)
        self._count(member.protocols, 1)
        self._weigh(member)
        if member.instance_id is not None:
            self._static[member.instance_id] = member.id

    def remove(self, member_id: str) -> None:
        """Take a member, or one that was only given its id, out of the group; its session ends."""
        self.end_session(member_id)
        self._remove_pending(member_id)
        self.unsynced.pop(member_id, None)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        assert member.join is None and member.sync is None, "whoever goes has been told"
        self._count(member.protocols, -1)
        self._weight -= member.weighed
        if member.instance_id is not None:
            self._static.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def update(self, member: ClassicMember, protocols: dict[str, bytes]) -> None:
        """A member has joined again with other protocols."""
        self._count(member.protocols, -1)
        self._count(protocols, 1)
        member.protocols = protocols
        self._weigh(member)

    def rename(self, member: ClassicMember, new_id: str) -> None:
        """A static member has restarted: the same one under another id."""
        assert member.instance_id is not None, "others come back as somebody else"
        self.end_session(member.id)
        self.unsynced.pop(member.id, None)
        del self.members[member.id]
        if self.leader == member.id:
            self.leader = new_id
        member.id = self._static[member.instance_id] = new_id
        self.members[new_id] = member
        self._weigh(member)

    def assign(self, assignments: Mapping[str, bytes]) -> None:
        """Give each member its assignment by the leader's SyncGroup; members that it does not name get none."""
        for member in self.members.values():
            member.assignment = assignments.get(member.id, b"")
            self._weigh(member)

    def _weigh(self, member: ClassicMember) -> None:
        self._weight -= member.weighed
        member.weighed = member.weight()
        self._weight += member.weighed

    def static_member(self, instance_id: str | None) -> ClassicMember | None:
        """The member that has this instance id."""
        member_id = None if instance_id is None else self._static.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def check_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        """The member of this id; UNKNOWN_MEMBER_ID or, for a static one that was replaced, FENCED_INSTANCE_ID."""
        if instance_id is not None:
            static = self.static_member(instance_id)
            if static is None:
                raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"group {self.id} has no instance {instance_id}")
            if static.id != member_id:
                raise ErrorCode.FENCED_INSTANCE_ID.error(f"instance {instance_id} is now {static.id}")
        member = self.members.get(member_id)
        if member is None:
            raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"group {self.id} has no member {member_id!r}")
        return member

    # ── who waits ────────────────────────────────────────────────────────────────────

    def await_join(self, member: ClassicMember) -> Promise:
        """A member has asked to be part of the next generation."""
        assert member.join is None, "the earlier request has been answered"
        member.join = Promise()
        self._joining += 1
        return member.join

    def take_join(self, member: ClassicMember) -> Promise | None:
        """The promise of the member's JoinGroup response, which it waits for no longer."""
        promise, member.join = member.join, None
        self._joining -= promise is not None
        return promise

    @property
    def joining(self) -> int:
        """How many wait for the next generation."""
        return self._joining

    @property
    def metadata_bytes(self) -> int:
        """The bytes of all members' protocol metadata and assignments."""
        return self._weight - GROUP_BYTES - MEMBER_BYTES * (len(self.members) + len(self.pending))

    @property
    def all_have_joined(self) -> bool:
        """Whether all members, and those that were given an id, have sent JoinGroup."""
        return self._joining == len(self.members) and not self.pending

    # ── sessions ─────────────────────────────────────────────────────────────────────

    def start_session(self, member_id: str, now: Millis, timeout_ms: int) -> None:
        """Begin a member's session: unless it is heard from again, it is removed after the timeout."""
        self._timers.set(TimerKey(SESSION, self.id, member_id), Millis(now + timeout_ms))

    def end_session(self, member_id: str) -> None:
        self._timers.cancel(TimerKey(SESSION, self.id, member_id))

    def heard_from(self, member_id: str, now: Millis) -> None:
        member = self.members.get(member_id)
        if member is not None and self.state in (ClassicState.PREPARING_REBALANCE, ClassicState.STABLE):
            self.start_session(member_id, now, member.session_timeout_ms)

    # ── protocols ────────────────────────────────────────────────────────────────────

    def supports(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Whether a member with these protocols can join: all members must have one in common."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        everyone = len(self.members)
        return protocol_type == self.protocol_type and any(
            self._support.get(protocol, 0) == everyone for protocol in protocols
        )

    def select_protocol(self) -> str:
        """The protocol that most members like best of those that all support; on a tie, the first one named."""
        candidates = {name for name, count in self._support.items() if count == len(self.members)}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes, key=votes.__getitem__)

    def _count(self, protocols: Iterable[str], by: int) -> None:
        for name in protocols:
            count = self._support.pop(name, 0) + by
            if count:
                self._support[name] = count

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of any member: how long the group waits for JoinGroup, and for SyncGroup."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    # ── generations ──────────────────────────────────────────────────────────────────

    def move(self, event: GroupEvent, since: Millis | None) -> None:
        """Go to the state that follows; `since` when, by the clock on the wall."""
        follows = (self.state, event) in TRANSITIONS
        invariant(follows, "a classic group goes by the table of its states", self.id, self.state, event.name)
        self.state, self.since = TRANSITIONS[self.state, event], since

    def begin_generation(self, now: Millis) -> None:
        """Those who have joined are the next generation; if there are none, the group is empty."""
        self.generation = (self.generation + 1) & GENERATION_MASK
        self.unsynced = dict.fromkeys(self.members)
        self.protocol = self.select_protocol() if self.members else None
        self.note_subscriptions()
        self.move(GroupEvent.JOINED if self.members else GroupEvent.LEFT, wall_time(now))

    def elect(self) -> bool:
        """Make a member that has joined the leader, unless the leader has; False if no member has joined."""
        if self.leader is not None and self.members[self.leader].join is not None:
            return True
        joined = next((member for member in self.members.values() if member.join is not None), None)
        if joined is not None:
            self.leader = joined.id
        return joined is not None

    def note_subscriptions(self) -> None:
        """Find out which topics the members read."""
        if self.protocol_type == PROTOCOL_TYPE:
            self._topics = subscribed_topics(
                member.metadata(self.protocol) for member in self.members.values()
            )
        else:
            self._topics = None

    # ── what may be asked of any group ───────────────────────────────────────────────

    def check_commit(self, caller: Caller, *, transactional: bool, version: int) -> None:
        if caller.epoch < 0 and self.state is ClassicState.EMPTY:
            return  # nobody is in the way of one who commits by hand
        if caller.epoch >= 0 or caller.member_id or caller.instance_id is not None:
            self.check_member(caller.member_id, caller.instance_id)
            self.check_generation(caller.epoch)
        elif not transactional:
            raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"group {self.id} has members; only they may commit")
        if self.state is ClassicState.COMPLETING_REBALANCE and not transactional:
            raise ErrorCode.REBALANCE_IN_PROGRESS.error(f"group {self.id} is assigning anew")

    def check_generation(self, generation: int) -> None:
        if generation != self.generation:
            raise ErrorCode.ILLEGAL_GENERATION.error(
                f"group {self.id} is in generation {self.generation}, not {generation}"
            )

    def check_fetch(self, caller: Caller) -> None:
        """Anybody may fetch the offsets of a classic group."""

    def is_subscribed_to(self, topic: str) -> bool:
        if self._topics is None:
            return self.protocol_type == PROTOCOL_TYPE
        return topic in self._topics

    def subscribed_topics(self) -> frozenset[str]:
        return self._topics or frozenset()

    def offsets_idle_since(self, topic: str, committed_at: Millis) -> Millis | None:
        if not self.protocol_type:
            return committed_at
        if self.state is ClassicState.EMPTY:
            return committed_at if self.since is None else self.since
        known = self.state is ClassicState.STABLE and self._topics is not None
        return committed_at if known and not self.is_subscribed_to(topic) else None

    def check_delete(self) -> None:
        if self.state is ClassicState.DEAD:
            raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"there is no group {self.id}")
        if self.state != ClassicState.EMPTY:
            raise ErrorCode.NON_EMPTY_GROUP.error(f"group {self.id} is {self.state}")

    def tombstones(self) -> list[GroupRecord]:
        return [GroupRecord(GroupMetadataKey(self.id), None)]

    @property
    def is_unwritten(self) -> bool:
        """Whether the group has no members, has had no generation, and so has no record in the log."""
        return not (self.members or self.pending or self.generation)

    @property
    def bytes_held(self) -> int:
        return self._weight

    def bytes_held_for(self, member_id: str, instance_id: str | None) -> int | None:
        member = self.static_member(instance_id) or self.members.get(member_id)
        return None if member is None else member.weighed
