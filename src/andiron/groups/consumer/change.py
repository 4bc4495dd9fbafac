"""One change to a consumer group on its way to records: a member says something, or members go.

    what a member says ──▶ profile ──▶ patterns ──▶ group epoch ──▶ targets ──▶ what the member holds now
                            each step writes its record, if it made a difference

A heartbeat that says nothing new passes through all of it without a record: two comparisons of numbers say that
neither the group nor the topics have changed since.

The group is looked at and never touched. What the change makes of it is in `records`, and comes true by replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from andiron.groups.consumer.group import ConsumerGroup, TopicsHash, names_of, pattern_uses, subscribed_names
from andiron.groups.consumer.member import JOINING, Member, Profile
from andiron.groups.consumer.patterns import Matches
from andiron.groups.consumer.reconciliation import Heartbeat, Target, reconcile
from andiron.groups.consumer.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    partition_metadata_tombstone,
    pattern_record,
    pattern_tombstone,
    target_epoch_record,
    target_record,
)
from andiron.groups.consumer.target_assignment import (
    make_targets,
    metadata_hash,
    preferred_assignor,
    subscribed_ids,
)
from andiron.groups.group import GroupContext
from andiron.groups.rebalances import JOIN, METADATA, SUBSCRIPTION
from andiron.groups.records import GroupRecord
from andiron.model.ids import Millis, wall_time
from andiron.model.re2.pattern import compile_pattern
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions


class Change:
    """A change to a consumer group, as the records that make it so."""

    def __init__(self, context: GroupContext, matches: Matches, group: ConsumerGroup, now: Millis) -> None:
        self._topics, self._settings, self._rebalances = context.topics, context.settings, context.rebalances
        self._matches, self.group, self.now = matches, group, now
        self.former: Member | None = None  # the static member whose place this one takes
        self._members: Mapping[str, Member] = group.members
        self._patterns: Mapping[str, tuple[str, ...]] = {}
        self._subscription_changed = False
        self.epoch = group.epoch
        self.records: list[GroupRecord] = []
        self.moved = False  # whether the member's epoch, state or assignment is another than before

    # ── a member says something ──────────────────────────────────────────────────────

    def replace(self, former: Member, member_id: str) -> Member:
        """A static member has come back under another id: all that it had is the new one's."""
        member = former._replace(id=member_id, epoch=JOINING, previous_epoch=JOINING)
        group_id, target = self.group.id, self.group.targets.get(former.id, {})
        self.records += member_tombstones(group_id, former.id)
        self.records.append(member_record(group_id, member))
        self.records.append(target_record(group_id, member_id, target))
        self.records.append(current_record(group_id, member))
        self.former = former
        return member

    def apply(self, before: Member, profile: Profile, owned: Iterable[TopicPartitions] | None) -> Member:
        """The member after a heartbeat with this profile and these owned partitions: reconciled with its target."""
        after = self._note(before, profile)
        return self._reconcile(after, self._target(after), owned)

    def apply_with_last_target(
        self, before: Member, profile: Profile, owned: Iterable[TopicPartitions] | None
    ) -> Member:
        """As `apply`, without a new target assignment: while the last one is out of date the member stays as it is."""
        after = self._note(before, profile)
        return after if self.is_stale else self._reconcile(after, self._last_target(after), owned)

    @property
    def is_stale(self) -> bool:
        """Whether the group epoch is ahead of the target assignment."""
        return self.group.assignment_epoch < self.epoch

    def _note(self, before: Member, profile: Profile) -> Member:
        """Write the member's profile if it has changed, and bump the group epoch if the targets depend on that."""
        group, old = self.group, before.profile
        after = before if profile is old else before._replace(profile=profile)
        is_new = before.id not in group.members and self.former is None
        as_before = not is_new and self.former is None and profile == old
        if is_new or profile != old:
            self.records.append(member_record(group.id, after))
        if profile.pattern and profile.pattern != old.pattern:
            compile_pattern(profile.pattern)
        if not as_before:
            self._members = {**group.members, after.id: after}
            if self.former is not None:
                del self._members[self.former.id]
        pattern_changed = (profile.pattern or "") != (old.pattern or "")
        self._subscription_changed = pattern_changed or profile.topics != old.topics
        resolved = self._resolve(group.uses if as_before else pattern_uses(self._members.values()))
        found = self._hash(seen_before=as_before and not resolved)
        if self._subscription_changed or resolved or found != group.metadata_hash:
            self._bump(found, JOIN if is_new else SUBSCRIPTION if self._subscription_changed else METADATA)
        return after

    def _resolve(self, uses: Mapping[str, int]) -> bool:
        """Resolve the members' patterns; whether any matches other topics than before. Unused ones are deleted."""
        group, news = self.group, False
        self._drop_unused(uses)
        patterns: dict[str, tuple[str, ...]] = {}
        for pattern in uses:
            topics = patterns[pattern] = self._matches.of(pattern, self.now)
            known = group.patterns.get(pattern)
            if known is None or known.topics != topics:
                version = self._topics.version
                self.records.append(
                    pattern_record(group.id, pattern, list(topics), version, wall_time(self.now))
                )
                news = True
        self._patterns = patterns
        return news

    def _drop_unused(self, uses: Mapping[str, int]) -> None:
        group = self.group
        self.records += [pattern_tombstone(group.id, each) for each in group.patterns if each not in uses]

    def _hash(self, *, seen_before: bool) -> int:
        """The metadata hash of the topics that the members subscribe to."""
        group, version = self.group, self._topics.version
        if seen_before and group.topics_hash is not None and group.topics_hash.version == version:
            return group.topics_hash.metadata_hash
        found = metadata_hash(subscribed_names(self._members.values(), self._patterns), self._topics)
        if seen_before:
            group.topics_hash = TopicsHash(version, found)
        return found

    def _bump(self, found: int, reason: str) -> None:
        self._rebalances.begins(self.group.id, reason)
        self.epoch += 1
        self.records.append(epoch_record(self.group.id, self.epoch, found))
        if self.group.has_partition_metadata:
            self.records.append(partition_metadata_tombstone(self.group.id))

    # ── target assignment ────────────────────────────────────────────────────────────

    def _target(self, member: Member) -> Target:
        """The member's target; if the group epoch is ahead of the target assignment, a new one is made for all."""
        if not self.is_stale:
            return self._last_target(member)
        group, members = self.group, self._members.values()
        before = group.targets
        if self.former is not None:
            before = {**before, member.id: before.get(self.former.id, {})}
        assignor = preferred_assignor(members, self._settings.group_consumer_assignors)
        targets = make_targets(members, assignor, before, self._patterns, self._topics)
        for member_id, target in targets.items():
            if group.targets.get(member_id) != target:
                self.records.append(target_record(group.id, member_id, target))
        self.records.append(target_epoch_record(group.id, self.epoch, wall_time(self.now)))
        return Target(self.epoch, targets[member.id])

    def _last_target(self, member: Member) -> Target:
        holder = member if self.former is None else self.former
        return Target(self.group.assignment_epoch, self.group.targets.get(holder.id, {}))

    def _reconcile(self, member: Member, target: Target, owned: Iterable[TopicPartitions] | None) -> Member:
        if member.is_reconciled_to(target.epoch) and not self._subscription_changed:
            return member
        subscribed = frozenset(subscribed_ids(names_of(member.profile, self._patterns), self._topics))
        heartbeat = Heartbeat(self.group.is_free, subscribed, self._subscription_changed, owned)
        settled = reconcile(member, target, heartbeat)
        if settled != member:
            self.moved = True
            self.records.append(current_record(self.group.id, settled))
        return settled

    # ── members go ───────────────────────────────────────────────────────────────────

    def remove(self, leaving: Sequence[Member], reason: str) -> None:
        """Members are gone, and what they held is free. Whoever is heard from next has the targets made anew."""
        group = self.group
        for member in leaving:
            self.records += member_tombstones(group.id, member.id)
        gone = {member.id for member in leaving}
        self._members = {id: member for id, member in group.members.items() if id not in gone}
        self._drop_unused(pattern_uses(self._members.values()))
        self._patterns = {pattern: resolved.topics for pattern, resolved in group.patterns.items()}
        self._bump(self._hash(seen_before=False), reason)
