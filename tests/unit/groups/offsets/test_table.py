"""What counts, what is pending, and what becomes of it when the transaction ends."""

from __future__ import annotations

from andiron.groups.offsets.records import NO_EXPIRY
from andiron.groups.offsets.table import Committed, tombstone
from andiron.model.ids import Millis, Offset, TopicPartition
from worlds.offsets import OffsetsWorld, topic_id


def offset_of(world: OffsetsWorld, partition: int = 0) -> int | None:
    group = world.offsets.of("g")
    committed = group.get("t", partition) if group else None
    return committed.offset if committed else None


def test_an_offset_is_kept_as_it_was_committed():
    world = OffsetsWorld()
    world.commit({"t": {2: 5}}, metadata="half way", leader_epoch=3)

    group = world.offsets.of("g")
    assert group is not None
    assert group.get("t", 2) == Committed(
        5, 3, "half way", world.now, Millis(NO_EXPIRY), topic_id(1), Offset(0)
    )
    assert group.get("t", 1) is None
    assert group.get("other", 2) is None


def test_the_later_commit_counts():
    world = OffsetsWorld()
    world.commit({"t": {0: 9}})
    world.commit({"t": {0: 4}})

    assert offset_of(world) == 4


def test_groups_know_nothing_of_each_other():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}}, "a")
    world.commit({"t": {0: 2}}, "b")

    assert list(world.offsets) == ["a", "b"]
    assert "a" in world.offsets
    assert "c" not in world.offsets
    assert world.offsets.of("c") is None


def test_a_group_without_offsets_is_not_there():
    world = OffsetsWorld()
    world.commit({"t": {0: 1, 1: 1}})
    world.append(tombstone("g", TopicPartition("t", 0)))
    assert list(world.offsets) == ["g"]

    world.append(tombstone("g", TopicPartition("t", 1)))
    assert list(world.offsets) == []


def test_removing_what_is_not_there_changes_nothing():
    world = OffsetsWorld()
    world.append(tombstone("g", TopicPartition("t", 0)))
    world.commit({"t": {0: 1}})
    world.append(tombstone("g", TopicPartition("t", 1)))
    world.append(tombstone("g", TopicPartition("u", 0)))

    assert offset_of(world) == 1


def test_what_is_pending_does_not_count_until_the_transaction_is_committed():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.commit_in_transaction({"t": {0: 5, 1: 6}})
    assert (offset_of(world, 0), offset_of(world, 1)) == (1, None)

    world.end(7, commit=True)
    assert (offset_of(world, 0), offset_of(world, 1)) == (5, 6)


def test_what_was_pending_in_an_aborted_transaction_never_counts():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.commit_in_transaction({"t": {0: 5, 1: 6}})
    world.end(7, commit=False)
    world.end(7, commit=True)

    assert (offset_of(world, 0), offset_of(world, 1)) == (1, None)


def test_of_a_transaction_the_last_offset_counts():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5}})
    world.commit_in_transaction({"t": {0: 3}})
    world.end(7, commit=True)

    assert offset_of(world) == 3


def test_a_plain_commit_after_the_pending_one_stays():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5}})
    world.commit({"t": {0: 2}})
    world.end(7, commit=True)

    assert offset_of(world) == 2


def test_producers_have_their_own_pending_offsets():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5, 1: 5}}, producer=7)
    world.commit_in_transaction({"t": {0: 6, 2: 6}}, producer=8)
    group = world.offsets.of("g")
    assert group is not None
    assert group.open == {("t", 0): {7: None, 8: None}, ("t", 1): {7: None}, ("t", 2): {8: None}}

    world.end(8, commit=False)
    assert group.open == {("t", 0): {7: None}, ("t", 1): {7: None}}
    world.end(7, commit=True)
    assert [offset_of(world, each) for each in range(3)] == [5, 5, None]


def test_of_two_transactions_the_one_that_wrote_last_counts_though_it_ended_first():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5}}, producer=7)
    world.commit_in_transaction({"t": {0: 6}}, producer=8)
    world.end(8, commit=True)
    world.end(7, commit=True)

    assert offset_of(world) == 6


def test_a_removal_takes_what_is_pending_with_it():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5, 1: 5}}, producer=7)
    world.commit_in_transaction({"t": {0: 6}}, producer=8)
    world.append(tombstone("g", TopicPartition("t", 0)))
    world.end(7, commit=True)
    world.end(8, commit=True)

    assert (offset_of(world, 0), offset_of(world, 1)) == (None, 5)


def test_a_group_of_pending_offsets_is_there_until_they_are_aborted():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5}})
    assert list(world.offsets) == ["g"]

    world.end(7, commit=False)
    assert list(world.offsets) == []


def test_a_transaction_reaches_into_several_groups():
    world = OffsetsWorld()
    world.commit_in_transaction({"t": {0: 5}}, group="a")
    world.commit_in_transaction({"t": {0: 6}}, group="b")
    world.end(7, commit=True)

    assert [world.fetched(group=group) for group in "ab"] == [{"t": {0: 5}}, {"t": {0: 6}}]


def test_the_end_of_a_transaction_without_offsets_is_nothing():
    world = OffsetsWorld()
    world.end(7, commit=True)

    assert list(world.offsets) == []


def test_everything_there_is_listed_once():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}, "u": {0: 1}})
    world.commit_in_transaction({"t": {0: 5, 1: 5}})
    group = world.offsets.of("g")
    assert group is not None

    assert list(group.partitions()) == [("t", 0), ("u", 0), ("t", 1)]
    assert list(world.offsets.topic_ids("g", "t")) == [(0, [topic_id(1)] * 2), (1, [topic_id(1)])]


def test_a_time_of_its_own_to_expire_at_goes_before_the_retention():
    plain = Committed(1, -1, "", Millis(0), Millis(NO_EXPIRY), b"", Offset(0))
    timed = plain._replace(expires_at=Millis(50))

    assert [plain.expired(Millis(now), Millis(10), 100) for now in (109, 110)] == [False, True]
    assert [timed.expired(Millis(now), Millis(10), 100) for now in (49, 50)] == [False, True]


def test_topics_that_came_and_went_leave_nothing_behind():
    world = OffsetsWorld()
    for number in range(100):
        world.topics.create(f"t{number}")
        world.commit({f"t{number}": {0: 1}})
        world.append(tombstone("g", TopicPartition(f"t{number}", 0)))

    assert [len(table) for table in vars(world.offsets).values()] == [0] * len(vars(world.offsets))


def test_all_offsets_of_a_groups_topic_have_its_id_as_one_object():
    world = OffsetsWorld()
    world.commit({"t": {0: 1, 1: 1, 2: 1}})

    group = world.reloaded().of("g")
    assert group is not None
    assert len({id(each.topic_id) for each in group.committed["t"].values()}) == 1
