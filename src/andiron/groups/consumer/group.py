"""A consumer group: members that heartbeat, and a broker that says who reads what. The state, and nothing but.

Three epochs count upwards, each after the one before it:

    group epoch         something has changed that the assignment depends on
    assignment epoch    the targets have been made for that
    member epoch        the member works by its target of that time

    Empty       no members
    Assigning   the group's epoch is ahead of the targets'
    Reconciling some member has not come to its target yet
    Stable      all have

All of it is the replay of records, `owners` too, which says who holds a partition: from when it is assigned until
its owner has given it up or is gone.

Read next: change.py, which decides what is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from andiron.groups.assignors.spec import Partitions
from andiron.groups.consumer.member import LEAVING, Member, Profile
from andiron.groups.consumer.records import group_tombstones
from andiron.groups.group import CONSUMER, Caller, CommitCheck
from andiron.groups.group_memory import GROUP_BYTES, PARTITION_BYTES, TEXT_BYTES
from andiron.groups.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    GroupRecord,
)
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"

FIRST_EPOCH = 1  # the group epoch of a new group; a member epoch of 0 is that of a member which joins
COMMIT_WITH_EPOCH_SINCE = 9  # the version of OffsetCommit that carries a member epoch


class ResolvedPattern(NamedTuple):
    """The topics that a subscribed pattern matches, and at which version of the metadata that was found."""

    topics: tuple[str, ...]
    version: int
    at: int

    @property
    def weight(self) -> int:
        """About how many bytes they take in memory."""
        return sum(TEXT_BYTES + len(name) for name in self.topics)


class TopicsHash(NamedTuple):
    """The metadata hash of a group's topics, kept so that it is computed anew only when topics have changed."""

    version: int  # of the topics
    metadata_hash: int


class ConsumerGroup:
    """A consumer group (KIP-848): members, target assignment and owners of partitions, replayed from the log."""

    kind = CONSUMER
    protocol_type = "consumer"

    def __init__(self, id: str) -> None:
        self.id = id
        self.epoch = self.assignment_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_timestamp = 0
        self.has_partition_metadata = False
        self.members: dict[str, Member] = {}
        self.targets: dict[str, Partitions] = {}
        self.patterns: dict[str, ResolvedPattern] = {}
        self.owners: dict[bytes, dict[int, str]] = {}
        self.topics_hash: TopicsHash | None = None
        self._static: dict[str, str] = {}  # member id by instance id
        self._topics: frozenset[str] | None = None  # the subscribed topics, computed when first asked for
        self._uses: dict[str, int] | None = None  # how many members subscribe by each pattern; likewise
        self._weight = GROUP_BYTES + len(id)

    # ── replay ───────────────────────────────────────────────────────────────────────

    def replay(self, key: Any, value: Any | None) -> None:
        """Replay a record of this group."""
        match key:
            case ConsumerGroupMetadataKey():
                self.epoch = FIRST_EPOCH if value is None else value.epoch
                self.metadata_hash = 0 if value is None else value.metadata_hash
            case ConsumerGroupMemberMetadataKey(_, member_id):
                self._replay_member(member_id, value)
            case ConsumerGroupTargetAssignmentMetadataKey():
                self.assignment_epoch = FIRST_EPOCH if value is None else value.assignment_epoch
                self.assignment_timestamp = 0 if value is None else value.assignment_timestamp
            case ConsumerGroupTargetAssignmentMemberKey(_, member_id):
                self._weight -= _target_weight(self.targets.pop(member_id, {}))
                if value is not None:
                    topics = value.topic_partitions
                    self.targets[member_id] = {
                        each.topic_id: tuple(sorted(each.partitions)) for each in topics
                    }
                    self._weight += _target_weight(self.targets[member_id])
            case ConsumerGroupCurrentMemberAssignmentKey(_, member_id):
                self._replay_current(member_id, value)
            case ConsumerGroupRegularExpressionKey(_, pattern):
                if (before := self.patterns.pop(pattern, None)) is not None:
                    self._weight -= before.weight
                if value is not None:
                    resolved = ResolvedPattern(tuple(value.topics), value.version, value.timestamp)
                    self.patterns[pattern] = resolved
                    self._weight += resolved.weight
                self._look_again()
            case ConsumerGroupPartitionMetadataKey():
                self.has_partition_metadata = value is not None

    def _replay_member(self, member_id: str, value: Any | None) -> None:
        before = self.members.get(member_id)
        instance_id = None if before is None else before.profile.instance_id
        if instance_id is not None and self._static.get(instance_id) == member_id:
            del self._static[instance_id]
        self._look_again()
        if value is None:
            if before is not None:
                self._disown(before)
                del self.members[member_id]
                self._weight -= before.weight
            return
        profile = Profile.read(value)
        self._put((before or Member(member_id))._replace(profile=profile))
        if profile.instance_id is not None:
            self._static[profile.instance_id] = member_id

    def _replay_current(self, member_id: str, value: Any | None) -> None:
        before = self.members.get(member_id)
        if before is None and value is None:
            return
        before = before or Member(member_id)
        self._disown(before)
        if value is None:
            self._put(before.at(LEAVING, before.state, {})._replace(previous_epoch=LEAVING))
            return
        after = before.read(value)
        self._put(after)
        for held in (after.assigned, after.revoking):
            for topic, epochs in held.items():
                self.owners.setdefault(topic, {}).update(dict.fromkeys(epochs, member_id))

    def _put(self, member: Member) -> None:
        if (before := self.members.get(member.id)) is not None:
            self._weight -= before.weight
        self.members[member.id] = member
        self._weight += member.weight

    def _disown(self, member: Member) -> None:
        """Take the member's partitions out of `owners`. Another one that took it over in the meantime keeps it: after
        compaction, what it was given may stand before what the former owner gave up."""
        for held in (member.assigned, member.revoking):
            for topic, epochs in held.items():
                owners = self.owners.get(topic, {})
                for partition in epochs:
                    if owners.get(partition) == member.id:
                        del owners[partition]
                if not owners:
                    self.owners.pop(topic, None)

    def _look_again(self) -> None:
        self.topics_hash = self._topics = self._uses = None

    # ── members ──────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> str:
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        epoch = self.assignment_epoch
        return STABLE if all(each.is_reconciled_to(epoch) for each in self.members.values()) else RECONCILING

    def member(self, member_id: str) -> Member:
        """The member of this id."""
        if (member := self.members.get(member_id)) is None:
            raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"group {self.id} has no member {member_id!r}")
        return member

    def static_member(self, instance_id: str | None) -> Member | None:
        """The member that has this instance id."""
        member_id = None if instance_id is None else self._static.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def check_static(self, member_id: str, instance_id: str) -> Member:
        """The static member of this instance id; FENCED_INSTANCE_ID if another member id has it now."""
        if (member := self.static_member(instance_id)) is None:
            raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"group {self.id} has no instance {instance_id!r}")
        if member.id != member_id:
            raise ErrorCode.FENCED_INSTANCE_ID.error(f"instance {instance_id!r} is now {member.id}")
        return member

    def is_free(self, topic: bytes, partition: int) -> bool:
        """Whether nobody holds a partition."""
        return partition not in self.owners.get(topic, {})

    @property
    def uses(self) -> Mapping[str, int]:
        """The patterns that members subscribe by, and how many of them."""
        if self._uses is None:
            self._uses = pattern_uses(self.members.values())
        return self._uses

    # ── what may be asked of any group ───────────────────────────────────────────────

    def check_commit(self, caller: Caller, *, transactional: bool, version: int) -> CommitCheck | None:
        if caller.epoch < 0 and not self.members:
            return None  # nobody is in the way of one who commits by hand
        if transactional and caller == Caller("", None, -1):
            return None  # TxnOffsetCommit of a producer that names no member
        member = self.member(caller.member_id)
        if not transactional and not member.is_classic and version < COMMIT_WITH_EPOCH_SINCE:
            raise ErrorCode.UNSUPPORTED_VERSION.error("members of this group commit with their epochs")
        if caller.epoch == member.epoch:
            return None
        stale = ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
        if caller.epoch > member.epoch:
            raise stale.error(f"epoch {caller.epoch} is ahead of {member.epoch}, where the member is")

        def check(topic: bytes, partition: int) -> None:
            since = member.assigned_at(topic, partition)
            if since is None:
                raise stale.error(
                    f"partition {partition} is not the member's, which is at epoch {member.epoch}"
                )
            if caller.epoch < since:
                raise stale.error(f"epoch {caller.epoch} is before {since}, when the member got {partition}")

        return check

    def check_fetch(self, caller: Caller) -> None:
        if not caller.member_id and caller.epoch < 0:
            return
        member = self.member(caller.member_id)
        if caller.epoch != member.epoch:
            stale = ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
            raise stale.error(f"the member is at epoch {member.epoch}, not {caller.epoch}")

    def heard_from(self, member_id: str, now: Millis) -> None:
        """Nothing: a commit prolongs no session here, since members of consumer groups send heartbeats all the time."""

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscribed_topics()

    def subscribed_topics(self) -> frozenset[str]:
        if self._topics is None:
            patterns = {pattern: resolved.topics for pattern, resolved in self.patterns.items()}
            self._topics = frozenset(subscribed_names(self.members.values(), patterns))
        return self._topics

    def offsets_idle_since(self, topic: str, committed_at: Millis) -> Millis | None:
        return None if self.is_subscribed_to(topic) else committed_at

    def check_delete(self) -> None:
        if self.members:
            raise ErrorCode.NON_EMPTY_GROUP.error(f"group {self.id} has {len(self.members)} members")

    def tombstones(self) -> list[GroupRecord]:
        return group_tombstones(self.id, self.members, self.patterns)

    @property
    def bytes_held(self) -> int:
        return self._weight

    def bytes_held_for(self, member_id: str, instance_id: str | None) -> int | None:
        member = self.static_member(instance_id) or self.members.get(member_id)
        return None if member is None else member.weight


def _target_weight(target: Partitions) -> int:
    return PARTITION_BYTES * sum(map(len, target.values()))


def pattern_uses(members: Iterable[Member]) -> dict[str, int]:
    """The patterns that members subscribe by, and how many of them."""
    return dict(Counter(member.profile.pattern for member in members if member.profile.pattern))


def names_of(profile: Profile, patterns: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The topics that a member subscribes to, sorted; `patterns` has the topics that each pattern matches."""
    if not profile.pattern:
        return profile.topics
    return tuple(sorted({*profile.topics, *patterns.get(profile.pattern, ())}))


def subscribed_names(members: Iterable[Member], patterns: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The topics that any of the members subscribes to, sorted."""
    subscriptions = {names_of(member.profile, patterns): None for member in members}
    return sorted({name: None for names in subscriptions for name in names})
