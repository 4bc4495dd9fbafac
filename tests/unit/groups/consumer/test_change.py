"""One change at a time: which records it is made of."""

from __future__ import annotations

from andiron.groups.consumer.change import Change
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import Member, Profile
from andiron.groups.consumer.patterns import Matches
from andiron.groups.group import GroupContext
from andiron.groups.rebalances import LEAVE
from andiron.groups.records import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    GroupRecord,
)
from andiron.groups.settings import GroupSettings
from andiron.model.chance import Chance
from andiron.model.ids import Millis
from groups.consumers import Catalogue

READS_T = Profile(topics=("t",), rebalance_timeout_ms=1_000)


class Changes:
    """A group, and changes to it that come true at once."""

    def __init__(self) -> None:
        self.topics = Catalogue(t=4, u=2)
        self.context = GroupContext(GroupSettings(), self.topics, Chance(1), lambda group: {})
        self.matches = Matches(self.topics, 60_000)
        self.group = ConsumerGroup("g")
        self.records: list[GroupRecord] = []

    def change(self) -> Change:
        return Change(self.context, self.matches, self.group, Millis(1_000))

    def apply(self, change: Change) -> list[str]:
        for record in change.records:
            self.group.replay(record.key, record.value)
        self.records = change.records
        return [
            ("" if record.value is not None else "-")
            + type(record.key).__name__.removeprefix("ConsumerGroup").removesuffix("Key")
            for record in change.records
        ]

    def says(self, id: str, profile: Profile, owned=()) -> list[str]:
        change = self.change()
        change.apply(self.group.members.get(id, Member(id)), profile, owned)
        return self.apply(change)


def test_a_change_touches_nothing_until_it_is_replayed():
    changes = Changes()
    change = changes.change()

    member = change.apply(Member("a"), READS_T, [])

    assert (member.epoch, change.epoch, change.moved) == (2, 2, True)
    assert (changes.group.epoch, changes.group.members) == (1, {})


def test_saying_the_same_again_is_no_change():
    changes = Changes()
    changes.says("a", READS_T)

    assert changes.says("a", READS_T) == []


def test_another_host_is_written_and_changes_nothing_else():
    changes = Changes()
    changes.says("a", READS_T)

    assert changes.says("a", READS_T._replace(client_host="/there")) == ["MemberMetadata"]


def test_a_member_that_reads_nothing_does_not_move_the_group():
    changes = Changes()

    assert changes.says("a", READS_T._replace(topics=())) == ["MemberMetadata", "CurrentMemberAssignment"]
    assert changes.group.members["a"].epoch == changes.group.epoch == 1


def test_only_targets_that_move_are_written():
    changes = Changes()
    changes.says("a", READS_T)

    assert changes.says("b", READS_T._replace(topics=("u",))).count("TargetAssignmentMember") == 1


def test_topics_are_looked_at_once_as_long_as_they_stay_the_same():
    changes = Changes()
    changes.says("a", READS_T)
    changes.says("a", READS_T)
    seen = changes.group.topics_hash

    changes.says("a", READS_T)
    assert changes.group.topics_hash is seen
    changes.topics.put("u", 3)
    assert changes.says("a", READS_T) == []
    assert changes.group.topics_hash is not seen
    changes.topics.put("t", 5)
    assert changes.says("a", READS_T)[0] == "Metadata"


def test_a_record_of_older_brokers_is_removed_on_the_way():
    changes = Changes()
    changes.group.replay(ConsumerGroupPartitionMetadataKey("g"), ConsumerGroupPartitionMetadataValue())

    assert "-PartitionMetadata" in changes.says("a", READS_T)
    assert not changes.group.has_partition_metadata


def test_a_member_is_replaced_with_all_that_it_had():
    changes = Changes()
    changes.says("a", READS_T._replace(instance_id="i"))
    former = changes.group.members["a"]
    change = changes.change()

    before = change.replace(former, "b")
    after = change.apply(before, former.profile, [])

    assert changes.apply(change) == [
        "-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata",
        "MemberMetadata", "TargetAssignmentMember", "CurrentMemberAssignment", "CurrentMemberAssignment",
    ]  # fmt: skip
    assert after.assigned == former.assigned
    assert changes.group.members == {"b": after}
    assert list(changes.group.targets) == ["b"]


def test_a_member_is_replaced_also_with_another_subscription():
    changes = Changes()
    changes.says("a", READS_T._replace(instance_id="i"))
    change = changes.change()
    before = change.replace(changes.group.members["a"], "b")

    after = change.apply(before, before.profile._replace(topics=("t", "u")), [])
    changes.apply(change)

    assert after.is_reconciled_to(changes.group.epoch)
    assert sum(map(len, after.assigned.values())) == 6
    assert list(changes.group.targets) == ["b"]


def test_a_member_is_reconciled_with_the_last_target_unless_it_is_stale():
    changes = Changes()
    changes.says("a", READS_T)
    change = changes.change()
    stale = changes.change()

    after = change.apply_with_last_target(Member("b"), READS_T._replace(topics=()), [])
    before = stale.apply_with_last_target(Member("b"), READS_T, [])

    assert (change.is_stale, after.epoch) == (False, 2)
    assert (stale.is_stale, before.epoch) == (True, 0)


def test_members_go_and_the_targets_are_left_to_whoever_comes_next():
    changes = Changes()
    changes.says("a", READS_T)
    changes.says("b", READS_T)
    change = changes.change()

    change.remove([changes.group.members["a"]], LEAVE)

    assert changes.apply(change)[-1] == "Metadata"
    assert (changes.group.epoch, changes.group.assignment_epoch) == (4, 3)
    assert list(changes.group.members) == ["b"]
